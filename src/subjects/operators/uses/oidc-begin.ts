/**
 * Sends a browser to the identity provider: for a sign-in, to bind the account of a link, or to sign in again
 * (docs/operators.md, "Sign-in by OpenID Connect"). Writes `operator_pending_sign_ins`.
 */
import type { SessionKey } from '../../../domain/operator/session.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { lockAccount, lockAccountByLink } from '../sql/factors.ts';
import { beginPending, type Purpose } from '../sql/pending-sign-ins.ts';
import { countWrongProof } from '../sql/sessions.ts';
import { knownAccounts } from './device-cookie.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { proofOf } from './second-factor.ts';
import { recordLockout } from './sign-in.ts';
import { recordSignIn } from './sign-in-record.ts';
import { clearCodes, countCode, countStart } from './throttle.ts';
import { digestOf, newToken } from './tokens.ts';

/** What a sign-in at the identity provider needs; `callback` is the address to which the provider sends the browser. */
export interface Oidc {
  readonly database: Database;
  readonly vault: Vault;
  readonly provider: IdentityProvider;
  readonly callback: () => string;
}

/** What became of a start. */
export type Begun =
  /** The address at the provider, and the secret for the browser's cookie. */
  | { readonly kind: 'done'; readonly url: string; readonly secret: string }
  /** The link or the code is wrong. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

const SESSION_S = 43_200;

/** How old a sign-in at the provider may be, in seconds. */
export function maxAgeOf({ kind }: Purpose): number {
  return kind === 'again' ? 0 : SESSION_S;
}

/** Begins a sign-in. Throws `ProviderError`. */
export async function beginSignIn(
  oidc: Oidc,
  { address, deviceCookie }: { address: string; deviceCookie: string | null },
): Promise<Begun> {
  const [known] = await knownAccounts(oidc, deviceCookie);
  return begin(oidc, { address, operatorId: known?.id ?? null }, { kind: 'sign in' });
}

/** Begins the enrolment of the account behind a link. Throws `ProviderError`. */
export async function beginBinding(oidc: Oidc, address: string, token: string): Promise<Begun> {
  const linkDigest = digestOf(token);
  const account = await inTransaction(oidc.database, (session) =>
    lockAccountByLink(session, oidc.vault, linkDigest),
  );
  if (account === null) return { kind: 'refused' };
  return begin(oidc, { address, operatorId: account.id }, { kind: 'enrol', linkDigest });
}

/** Begins a sign-in again within a session; `code` is one of the app, if the account has one. */
export async function beginAgain(
  oidc: Oidc,
  address: string,
  { operatorId, key, code }: { operatorId: number; key: SessionKey; code: string | undefined },
): Promise<Begun> {
  if (code !== undefined) {
    const lockedOut = await countCode(oidc, operatorId);
    if (lockedOut?.begins) await recordLockout(oidc, { id: operatorId, partnerId: null }, address);
    if (lockedOut !== null) return { kind: 'throttled', ...lockedOut };
    if (!(await isCode(oidc, { operatorId, key, code, address }))) return { kind: 'refused' };
    await clearCodes(oidc, operatorId);
  }
  return begin(
    oidc,
    { address, operatorId },
    { kind: 'again', sessionId: key.id, hasCode: code !== undefined },
  );
}

function isCode(
  { database, vault }: Oidc,
  { operatorId, key, code, address }: { operatorId: number; key: SessionKey; code: string; address: string },
): Promise<boolean> {
  return inTransaction(database, async (session) => {
    const account = await lockAccount(session, vault, operatorId);
    if (account !== null && (await proofOf(session, vault, account, code)) !== null) return true;
    await countWrongProof(session, key.id);
    const who = { id: operatorId, partnerId: null };
    await recordSignIn(session, vault, who, 'sign in again refused', { why: 'wrong code', address });
    return false;
  });
}

async function begin(oidc: Oidc, from: Parameters<typeof countStart>[1], purpose: Purpose): Promise<Begun> {
  const { database, vault, provider, callback } = oidc;
  const lockedOut = await countStart(oidc, from);
  if (lockedOut !== null) return { kind: 'throttled', ...lockedOut };
  const { token: secret, digest } = newToken();
  const url = await provider.addressFor({ secret, callback: callback() }, maxAgeOf(purpose));
  await beginPending(database, vault, digest, purpose);
  return { kind: 'done', url, secret };
}
