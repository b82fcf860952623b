/**
 * How an operator sets the password and the second factor, with the link of `operator add` or `operator reset-factors`
 * (docs/operators.md). Takes a link in `operators`, and records the enrolment.
 */
import type { Whose } from '../../../domain/operator/session.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { randomBytes, type Vault } from '../../../seal/vault.ts';
import { isKnownPassword } from '../rules/known-password.ts';
import { faultOfPassword, faultText } from '../rules/password.ts';
import { SECRET_BYTES, stepOfCode, totpUri } from '../rules/totp.ts';
import { type Account, enrol, lockAccountByLink, openTotp, setFactors, setTotp } from '../sql/factors.ts';
import { hashPassword } from './password-hash.ts';
import { recordSignIn } from './sign-in-record.ts';
import { countLink, countLook, takeLookBack } from './throttle.ts';
import { digestOf, newRecoveryCodes, recoveryDigest } from './tokens.ts';

interface Store {
  /** Whose links count. */
  readonly whose: Whose;
  readonly database: Database;
  readonly vault: Vault;
}

/** What became of a step. */
export type Step<T> =
  | { readonly kind: 'done'; readonly account: Account; readonly value: T }
  | { readonly kind: 'wrong'; readonly fault: string }
  | NotBegun;

/** Why nothing begins with a link. */
export type NotBegun =
  /** The link is wrong, over or used. */
  { readonly kind: 'no_link' } | { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

/**
 * Whose link it is, so that the page can say whose password is chosen. Only somebody who has the token learns the
 * login.
 */
export async function lookAtLink(
  store: Store,
  { token, address }: { token: string; address: string },
): Promise<{ readonly kind: 'usable'; readonly login: string } | NotBegun> {
  const lockedOut = await countLook(store, address);
  if (lockedOut !== null) return { kind: 'throttled', ...lockedOut };
  const account = await inTransaction(store.database, (session) =>
    lockAccountByLink(session, store.vault, digestOf(token), store.whose),
  );
  if (account === null) return { kind: 'no_link' };
  await takeLookBack(store, address);
  return { kind: 'usable', login: account.login };
}

/**
 * Sets the password of the account behind the link, and makes the secret of its codes. The value is the address for the
 * authenticator app, which is shown only this once.
 */
export async function beginEnrolment(
  store: Store,
  { token, password }: { token: string; password: string },
): Promise<Step<string>> {
  const { database, vault } = store;
  const link = digestOf(token);
  const account = await inTransaction(database, (session) =>
    lockAccountByLink(session, vault, link, store.whose),
  );
  if (account === null) return { kind: 'no_link' };
  const fault = faultOfPassword(password, account.login, isKnownPassword);
  if (fault !== null) return { kind: 'wrong', fault: faultText(fault, account.login) };
  // While a hash is made, strangers cannot sign in and known operators wait, so the hashes of a link are limited.
  const lockedOut = await countLink(store, link);
  if (lockedOut !== null) return { kind: 'throttled', ...lockedOut };
  const hash = await hashPassword(password);
  const totp = randomBytes(SECRET_BYTES);
  return inTransaction(database, async (session): Promise<Step<string>> => {
    // The link may have been used, or have ended, while the hash was made.
    const locked = await lockAccountByLink(session, vault, link, store.whose);
    if (locked === null) return { kind: 'no_link' };
    await setFactors(session, vault, locked, { password: hash, totp });
    return { kind: 'done', account, value: totpUri(totp, account.login) };
  });
}

/**
 * Makes the secret of the codes of an account that a sign-in at the identity provider has bound. The value is the same
 * as that of `beginEnrolment`.
 */
export function addApp({ database, vault, whose }: Store, token: string): Promise<Step<string>> {
  const totp = randomBytes(SECRET_BYTES);
  return inTransaction(database, async (session): Promise<Step<string>> => {
    const account = await lockAccountByLink(session, vault, digestOf(token), whose);
    if (account === null) return { kind: 'no_link' };
    if (account.identity === null) return { kind: 'wrong', fault: 'choose the password first' };
    await setTotp(session, vault, account, totp);
    return { kind: 'done', account, value: totpUri(totp, account.login) };
  });
}

/** Ends the enrolment with a code of the authenticator app. The value is the recovery codes, shown only this once. */
export function endEnrolment(
  { database, vault, whose }: Store,
  { token, code, address }: { token: string; code: string; address: string },
): Promise<Step<readonly string[]>> {
  return inTransaction(database, async (session): Promise<Step<readonly string[]>> => {
    const account = await lockAccountByLink(session, vault, digestOf(token), whose);
    if (account === null) return { kind: 'no_link' };
    const { id, password, totp, nowMs } = account;
    if (totp === null) return { kind: 'wrong', fault: 'choose the password first' };
    const step = stepOfCode(openTotp(vault, id, totp), code, nowMs, 0);
    if (step === null) {
      return {
        kind: 'wrong',
        fault: 'the code is wrong: type the newest code, and check the clock of the phone',
      };
    }
    const codes = newRecoveryCodes();
    const recoveryCodes = codes.map((text) => recoveryDigest(text)!);
    await enrol(session, vault, account, { totpStep: step, recoveryCodes });
    const first = password === null ? 'identity provider' : 'password';
    await recordSignIn(session, vault, account, 'enrol', {
      why: `${first} and one-time code`,
      address,
    });
    return { kind: 'done', account, value: codes };
  });
}
