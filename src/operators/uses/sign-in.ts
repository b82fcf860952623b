/**
 * How an operator signs in: the password, then a code. Tries are bounded, and those of known operators are recorded.
 */
import { createHmac } from 'node:crypto';
import { chainKeysOf } from '../../operations/chain-keys.ts';
import { addOperatorEvents } from '../../operations/sql/operator-events.ts';
import { type Database, inTransaction, type Transaction } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { normalLogin } from '../rules/login.ts';
import { operatorName } from '../rules/operator-name.ts';
import { stepOfCode } from '../rules/totp.ts';
import {
  type Account,
  accountByLogin,
  lockAccount,
  openTotp,
  takeRecoveryCode,
  takeStep,
} from '../sql/factors.ts';
import { countWrongCode, endSession, type SessionKey, startSession } from '../sql/sessions.ts';
import { clearTries, countTry } from '../sql/tries.ts';
import { isPassword } from './password-hash.ts';
import { newSession, recoveryDigest } from './tokens.ts';

interface Store {
  readonly database: Database;
  readonly vault: Vault;
}

/** What became of a try. */
export type SignIn =
  /** The cookie of a new session; the one before is over. */
  | { readonly kind: 'done'; readonly cookie: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number };

const NAME_BYTES = 16;
/** The most tries in 15 minutes: of a login from an address, of a login, from an address, of an operator's codes. */
const MOST = { pair: 10, login: 50, address: 50, codes: 10 } as const;

/** The first step. The new session may do nothing but give the code. Throws `BusyError`. */
export async function givePassword(
  { database, vault }: Store,
  { login: text, password, address }: { login: string; password: string; address: string },
): Promise<SignIn> {
  const login = normalLogin(text);
  const pair = nameOf(vault, 'pair', `${login} ${address}`);
  const retryAfterSeconds = await countTry(database, [
    { name: pair, most: MOST.pair },
    { name: nameOf(vault, 'login', login), most: MOST.login },
    { name: nameOf(vault, 'address', address), most: MOST.address },
  ]);
  if (retryAfterSeconds !== null) return { kind: 'throttled', retryAfterSeconds };
  const account = await accountByLogin(database, login);
  const isRight = await isPassword(password, account?.isEnrolled === true ? account.password : null);
  if (account === null || !isRight) {
    if (account !== null)
      await inTransaction(database, (session) =>
        record(session, vault, account, 'sign in refused', 'wrong password'),
      );
    return { kind: 'refused' };
  }
  const { cookie, key } = newSession();
  await startSession(database, key, { operatorId: account.id, isWhole: false });
  await clearTries(database, [pair]);
  return { kind: 'done', cookie };
}

/** The second step, in the session of the first one: a code of the app, or a recovery code. */
export async function giveCode(
  { database, vault }: Store,
  { operatorId, key, code }: { operatorId: number; key: SessionKey; code: string },
): Promise<SignIn> {
  const codes = nameOf(vault, 'codes', String(operatorId));
  const retryAfterSeconds = await countTry(database, [{ name: codes, most: MOST.codes }]);
  if (retryAfterSeconds !== null) return { kind: 'throttled', retryAfterSeconds };
  const result = await inTransaction(database, async (session): Promise<SignIn> => {
    const account = await lockAccount(session, operatorId);
    if (account === null) return { kind: 'refused' };
    const proof = await proofOf(session, vault, account, code);
    if (proof === null) {
      await countWrongCode(session, key.id);
      await record(session, vault, account, 'sign in refused', 'wrong code');
      return { kind: 'refused' };
    }
    const { cookie, key: next } = newSession();
    await endSession(session, key.id);
    await startSession(session, next, { operatorId, isWhole: true });
    await record(session, vault, account, 'sign in', proof);
    return { kind: 'done', cookie };
  });
  if (result.kind === 'done') await clearTries(database, [codes]);
  return result;
}

/** What proved the second factor, and counts no more; null: nothing did. */
async function proofOf(
  session: Transaction,
  vault: Vault,
  { id, totp, totpStep, nowMs }: Account,
  code: string,
): Promise<string | null> {
  const recovery = recoveryDigest(code);
  if (recovery !== null) return (await takeRecoveryCode(session, id, recovery)) ? 'recovery code' : null;
  const step = totp === null ? null : stepOfCode(openTotp(vault, id, totp), code.trim(), nowMs, totpStep);
  return step !== null && (await takeStep(session, id, step)) ? 'one-time code' : null;
}

/** Adds to the record of operators' acts; unknown logins leave no row there, because anybody can make them up. */
function record(
  session: Transaction,
  vault: Vault,
  { id }: Account,
  act: string,
  reason: string,
): Promise<void> {
  return addOperatorEvents(session, chainKeysOf(vault), operatorName(id), [{ act, reason }]);
}

/** A keyed hash of what is tried: the store keeps no address, and no login that nobody has. */
function nameOf(vault: Vault, kind: string, text: string): Buffer {
  return createHmac('sha256', vault.derivedKey('ventanilla sign-in tries'))
    .update(`${kind}:${text}`)
    .digest()
    .subarray(0, NAME_BYTES);
}
