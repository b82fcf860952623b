/** The session of a signed-in browser, and the two parts of its cookie (docs/operators.md). Types alone. */
import type { PartnerId } from '../partner/credential.ts';
import type { PartnerRole, Role } from './authority.ts';

/** Whose accounts: those of operators, who sign in at the console, or of people at partners, who do at the portal. */
export type Whose = 'operator' | 'partner';

/** A live session, with the present account of who is signed in. */
export interface BrowserSession {
  readonly operatorId: number;
  readonly login: string;
  readonly role: Role | PartnerRole;
  /** null: the account is an operator's. */
  readonly partnerId: PartnerId | null;
  /** False: only the first factor is proved, and the session may do nothing but give the code. */
  readonly isWhole: boolean;
  /** Both factors were proved in the last five minutes. */
  readonly isFresh: boolean;
  /** The seconds since the earlier of the two proofs. */
  readonly provedSecondsAgo: number;
}

/** The cookie's two parts. The store keeps the digest of the secret. */
export interface SessionKey {
  readonly id: Buffer;
  readonly secretDigest: Buffer;
}
