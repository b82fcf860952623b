/**
 * Takes the browser's answer from the identity provider: it gives a session, or binds an account (docs/operators.md,
 * "Sign-in by OpenID Connect"). Takes rows of `operator_pending_sign_ins`, writes sessions, and records each sign-in.
 */
import { timingSafeEqual } from 'node:crypto';
import type { SessionKey } from '../../../domain/operator/session.ts';
import { originOf } from '../../../domain/operator/session-origin.ts';
import { inTransaction, type Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type Account, enrol, lockAccountByLink } from '../sql/factors.ts';
import { bindIdentity, lockAccountByIdentity } from '../sql/identities.ts';
import { type PendingSignIn, takePending } from '../sql/pending-sign-ins.ts';
import { endSession, renewSession, startSession } from '../sql/sessions.ts';
import { cookieWith, knownAccounts } from './device-cookie.ts';
import { type Proved, ProviderError, stateOf } from './identity-provider.ts';
import { maxAgeOf, type Oidc } from './oidc-begin.ts';
import { recordSignIn } from './sign-in-record.ts';
import { takeStartBack } from './throttle.ts';
import { digestOf, newSession, newToken } from './tokens.ts';

/** What the browser brings. */
export interface Brought {
  /** The secret of the cookie; null: there is none. */
  readonly secret: string | null;
  readonly answer: URLSearchParams;
  /** The session of the browser; null: it has no session that goes on. */
  readonly session: { readonly operatorId: number; readonly isWhole: boolean } | null;
  readonly sessionKey: SessionKey | null;
  readonly deviceCookie: string | null;
  readonly address: string;
  readonly browser: string | null;
}

/** What became of the sign-in. */
export type Ended =
  /** A new session. If there is no `deviceCookie`, the session may only give the code of the app. */
  | { readonly kind: 'done'; readonly cookie: string; readonly deviceCookie?: string }
  /** Both factors are proved again: a new session takes the place of the one before. */
  | { readonly kind: 'again'; readonly cookie: string }
  /** The account is bound, and needs an authenticator app. Its link now has this token. */
  | { readonly kind: 'bound'; readonly token: string }
  | { readonly kind: Refused };

/** Why the sign-in was refused. */
export type Refused =
  /** It began in another browser, more than ten minutes ago, or was answered before. */
  | 'over'
  /** No account is bound to the identity. */
  | 'unknown'
  /** The link of the enrolment is over. */
  | 'no_link'
  /** Another account is bound to the identity. */
  | 'taken'
  /** The provider asked for no second factor, and the account has no app. */
  | 'no_second_factor'
  /** Another person signed in, or the provider asked nobody to sign in anew. */
  | 'not_again';

/** How much the clocks of the provider and of the database may differ. */
const CLOCKS_DIFFER_S = 60;

/**
 * Ends a sign-in with the answer that the browser brought from the provider. Throws `ProviderError`, also if the
 * person's sign-in at the provider is older than was asked for.
 */
export async function endSignIn(oidc: Oidc, brought: Brought): Promise<Ended> {
  const { secret, answer } = brought;
  // An answer with the state of another browser must not end the sign-in that is under way here.
  if (secret === null || !isSame(answer.getAll('state'), stateOf(secret))) return { kind: 'over' };
  const pending = await takePending(oidc.database, oidc.vault, digestOf(secret));
  if (pending === null) return { kind: 'over' };
  const proved = await oidc.provider.redeem({ secret, callback: oidc.callback() }, answer, pending.nowMs);
  const { purpose } = pending;
  // `again` checks the age itself, and records a refusal.
  const isOld = purpose.kind !== 'again' && !isWithin(maxAgeOf(purpose), { pending, proved });
  if (isOld || proved.signedInAt > pending.nowMs / 1000 + CLOCKS_DIFFER_S)
    throw new ProviderError('invalid', 'auth_time');
  const ended = await inTransaction(oidc.database, (transaction) => {
    switch (purpose.kind) {
      case 'sign in':
        return signIn(oidc, transaction, { pending, proved, brought });
      case 'enrol':
        return bind(oidc, transaction, { pending, proved, brought, linkDigest: purpose.linkDigest });
      case 'again':
        return again(oidc, transaction, { pending, proved, brought, ...purpose });
    }
  });
  const isStrangers =
    purpose.kind === 'sign in' && (await knownAccounts(oidc, brought.deviceCookie)).length === 0;
  if (isStrangers && ended.kind === 'done') await takeStartBack(oidc, brought.address);
  return ended;
}

function isSame(given: readonly string[], expected: string): boolean {
  const [bytes, wanted] = [Buffer.from(given.join(' ')), Buffer.from(expected)];
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
}

interface Answered {
  readonly pending: PendingSignIn;
  readonly proved: Proved;
}

async function signIn(
  { vault }: Oidc,
  session: Transaction,
  { pending, proved, brought }: Answered & { brought: Brought },
): Promise<Ended> {
  const { address } = brought;
  const account = await lockAccountByIdentity(session, vault, proved.identity);
  if (account === null) return { kind: 'unknown' };
  const { totp } = account;
  if (!proved.hasSecondFactor && totp === null) {
    await recordSignIn(session, vault, account, 'sign in refused', { why: 'no second factor', address });
    return { kind: 'no_second_factor' };
  }
  if (brought.session !== null && brought.sessionKey !== null)
    await endSession(session, brought.sessionKey.id);
  const isWhole = proved.hasSecondFactor;
  const cookie = await begin(session, vault, { account, isWhole, brought, age: ageOf(proved, pending) });
  if (isWhole) await recordSignIn(session, vault, account, 'sign in', { why: 'identity provider', address });
  if (!isWhole) return { kind: 'done', cookie };
  return { kind: 'done', cookie, deviceCookie: cookieWith(vault, brought.deviceCookie, account) };
}

async function bind(
  { vault }: Oidc,
  session: Transaction,
  { pending, proved, brought, linkDigest }: Answered & { brought: Brought; linkDigest: Buffer },
): Promise<Ended> {
  const { address } = brought;
  const account = await lockAccountByLink(session, vault, linkDigest);
  if (account === null) return { kind: 'no_link' };
  const { token, digest } = newToken();
  const bound = await bindIdentity(session, vault, account, proved.identity, digest);
  if (bound === null) return { kind: 'taken' };
  await recordSignIn(session, vault, account, 'enrol', { why: 'identity provider', address });
  if (!proved.hasSecondFactor) return { kind: 'bound', token };
  const enrolled = await enrol(session, vault, bound, { totpStep: 0 });
  const cookie = await begin(session, vault, {
    ...{ account: enrolled, isWhole: true, brought },
    age: ageOf(proved, pending),
  });
  await recordSignIn(session, vault, account, 'sign in', { why: 'identity provider', address });
  return { kind: 'done', cookie, deviceCookie: cookieWith(vault, brought.deviceCookie, enrolled) };
}

async function again(
  { vault }: Oidc,
  session: Transaction,
  {
    pending,
    proved,
    brought,
    sessionId,
    hasCode,
  }: Answered & {
    brought: Brought;
    sessionId: Buffer;
    hasCode: boolean;
  },
): Promise<Ended> {
  const { session: own, sessionKey, address } = brought;
  if (own === null || !own.isWhole || sessionKey?.id.equals(sessionId) !== true) return { kind: 'not_again' };
  const account = await lockAccountByIdentity(session, vault, proved.identity);
  // A provider that did not ask the person to sign in anew tells a time before this sign-in began.
  if (account?.id !== own.operatorId || !isWithin(maxAgeOf(pending.purpose), { pending, proved })) {
    const who = { id: own.operatorId, partnerId: null };
    await recordSignIn(session, vault, who, 'sign in again refused', {
      why: 'identity provider',
      address,
    });
    return { kind: 'not_again' };
  }
  if (!proved.hasSecondFactor && !hasCode) {
    await recordSignIn(session, vault, account, 'sign in again refused', {
      why: 'no second factor',
      address,
    });
    return { kind: 'no_second_factor' };
  }
  const { cookie, key } = newSession();
  const age = ageOf(proved, pending);
  const provedSecondsAgo = hasCode ? Math.max(age, pending.seconds) : age;
  if (!(await renewSession(session, vault, account, [sessionId, key], originOf(brought), provedSecondsAgo)))
    return { kind: 'not_again' };
  await recordSignIn(session, vault, account, 'sign in again', { why: 'identity provider', address });
  return { kind: 'again', cookie };
}

/**
 * Whether the person's sign-in at the provider was at most `maxAgeSeconds` old when this sign-in began. The clocks may
 * differ by a minute.
 */
function isWithin(maxAgeSeconds: number, { pending, proved }: Answered): boolean {
  return ageOf(proved, pending) <= maxAgeSeconds + pending.seconds + CLOCKS_DIFFER_S;
}

/** The seconds since the person signed in at the provider. */
function ageOf({ signedInAt }: Proved, { nowMs }: PendingSignIn): number {
  return Math.max(0, nowMs / 1000 - signedInAt);
}

async function begin(
  session: Transaction,
  vault: Vault,
  { account, isWhole, brought, age }: { account: Account; isWhole: boolean; brought: Brought; age: number },
): Promise<string> {
  const { cookie, key } = newSession();
  const origin = originOf(brought);
  await startSession(session, vault, key, { account, isWhole, provedSecondsAgo: age, origin });
  return cookie;
}
