/**
 * How an operator signs in: first the password, then a code (docs/operators.md, "The operator API"). Writes
 * `operator_sessions`. Tries are limited (`uses/throttle.ts`), and those of existing operators are recorded.
 */

import type { AccountId } from '../../../domain/operator/operator-name.ts';
import type { SessionKey, Whose } from '../../../domain/operator/session.ts';
import { originOf } from '../../../domain/operator/session-origin.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { normalLogin, readLogin, storedLogin } from '../rules/login.ts';
import { accountByLogin, lockAccount } from '../sql/factors.ts';
import { completeSession, countWrongProof, endSession, startSession } from '../sql/sessions.ts';
import { cookieWith, knownAccounts } from './device-cookie.ts';
import { isPassword, refuseWhileBusy, unlessBusy } from './password-hash.ts';
import { proofOf } from './second-factor.ts';
import { LOCKED_OUT, recordSignIn } from './sign-in-record.ts';
import { clearCodes, countCode, countPassword } from './throttle.ts';
import { newSession } from './tokens.ts';

interface Store {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** What became of a try. */
export type SignIn =
  /**
   * The cookie of a new session; the session before is over. After both factors the browser also gets a device cookie.
   */
  | { readonly kind: 'done'; readonly cookie: string; readonly deviceCookie?: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number; readonly begins?: boolean };

interface GivenPassword {
  /** Whose login it is: the other's accounts with the same login do not count. */
  readonly whose: Whose;
  readonly login: string;
  readonly password: string;
  readonly address: string;
  readonly browser: string | null;
  readonly deviceCookie: string | null;
  /** The session that the browser has; null: it has no session that goes on. */
  readonly before: SessionKey | null;
}

/**
 * The least time that a refusal takes. Only tries with existing logins are recorded, and the time of recording must not
 * show it.
 */
const REFUSED_AFTER_MS = 500;

/**
 * The first step: checks the password. The new session may only give the code. The time of a refusal does not tell
 * whether the login exists. Throws `BusyError`.
 */
export async function givePassword(store: Store, given: GivenPassword): Promise<SignIn> {
  const { clock } = store;
  const begunAtMs = clock.monotonicMs();
  const result = await checkPassword(store, given);
  // The beginning of a lockout takes the same time, because only that of an existing login is recorded.
  if (result.kind === 'refused' || (result.kind === 'throttled' && result.begins === true))
    await clock.sleep(Math.max(0, begunAtMs + REFUSED_AFTER_MS - clock.monotonicMs()));
  return result;
}

async function checkPassword(
  store: Store,
  { whose, login: text, password, address, browser, deviceCookie, before }: GivenPassword,
): Promise<SignIn> {
  const { database, vault } = store;
  const login = storedLogin(whose, normalLogin(text));
  const isKnown = (await knownAccounts(store, deviceCookie)).some(
    (account) => storedLogin(account.partnerId === null ? 'operator' : 'partner', account.login) === login,
  );
  if (!isKnown) refuseWhileBusy();
  const { lockedOut, clear, takeBack } = await countPassword(store, { login, address, isKnown });
  if (lockedOut !== null && !lockedOut.begins) return { kind: 'throttled', ...lockedOut };
  // A text that can be no login is not sent to the store, which takes no NUL.
  const account = await accountByLogin(database, vault, readLogin(text) === null ? '' : login);
  if (lockedOut !== null) {
    if (account !== null) await recordLockout(store, account, address);
    return { kind: 'throttled', ...lockedOut };
  }
  const hash = account?.enrolledAt ? account.password : null;
  const check = () => isPassword(password, hash);
  const isRight = await (takeBack === null ? check() : unlessBusy(check, takeBack));
  if (account === null) return { kind: 'refused' };
  const result = await inTransaction(database, async (session): Promise<SignIn> => {
    // The factors may have been taken away while the hash was made.
    const locked = isRight ? await lockAccount(session, vault, account.id) : null;
    if (locked === null || locked.password !== hash) {
      await recordSignIn(session, vault, account, 'sign in refused', { why: 'wrong password', address });
      return { kind: 'refused' };
    }
    if (before !== null) await endSession(session, before.id);
    const { cookie, key } = newSession();
    await startSession(session, vault, key, {
      account: locked,
      isWhole: false,
      origin: originOf({ address, browser }),
    });
    return { kind: 'done', cookie };
  });
  if (result.kind === 'done') await clear();
  return result;
}

interface GivenCode {
  readonly who: AccountId;
  readonly key: SessionKey;
  readonly code: string;
  readonly address: string;
  readonly browser: string | null;
  readonly deviceCookie: string | null;
}

/** The second step, in the session of the first one: checks a code of the app, or a recovery code. */
export async function giveCode(
  store: Store,
  { who, key, code, address, browser, deviceCookie }: GivenCode,
): Promise<SignIn> {
  const { database, vault } = store;
  const lockedOut = await countCode(store, who.id);
  if (lockedOut !== null) {
    if (lockedOut.begins) await recordLockout(store, who, address);
    return { kind: 'throttled', ...lockedOut };
  }
  const result = await inTransaction(database, async (session): Promise<SignIn> => {
    const account = await lockAccount(session, vault, who.id);
    if (account === null) return { kind: 'refused' };
    const proof = await proofOf(session, vault, account, code);
    if (proof === null) {
      await countWrongProof(session, key.id);
      await recordSignIn(session, vault, who, 'sign in refused', { why: 'wrong code', address });
      return { kind: 'refused' };
    }
    const { cookie, key: next } = newSession();
    // The session may have ended meanwhile. Then no session takes its place.
    const origin = originOf({ address, browser });
    if (!(await completeSession(session, vault, account, [key.id, next], origin))) return { kind: 'refused' };
    await recordSignIn(session, vault, who, 'sign in', { why: proof, address });
    return { kind: 'done', cookie, deviceCookie: cookieWith(vault, deviceCookie, account) };
  });
  if (result.kind === 'done') await clearCodes(store, who.id);
  return result;
}

/** Records that somebody is locked out from now on, for up to 15 minutes. */
export function recordLockout(
  { database, vault }: Pick<Store, 'database' | 'vault'>,
  who: AccountId,
  address: string,
): Promise<void> {
  return inTransaction(database, (session) =>
    recordSignIn(session, vault, who, 'sign in refused', { why: LOCKED_OUT, address }),
  );
}
