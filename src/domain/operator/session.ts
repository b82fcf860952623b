/** What a signed-in browser has: its session, and the two parts of its cookie. */
import type { Role } from './authority.ts';

/** A session that goes on, with its operator as the account is now. */
export interface BrowserSession {
  readonly operatorId: number;
  readonly login: string;
  readonly role: Role;
  /** False: only the first factor is proved, and the session may do nothing but give the code. */
  readonly isWhole: boolean;
  /** Both factors were proved in the last five minutes. */
  readonly isFresh: boolean;
  /** Since the earlier one of both proofs. */
  readonly provedSecondsAgo: number;
}

/** The cookie's two parts. The store keeps the digest of the secret. */
export interface SessionKey {
  readonly id: Buffer;
  readonly secretDigest: Buffer;
}
