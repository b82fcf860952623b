/**
 * How an operator who is signed in proves both factors again, for acts that need a sign-in of the last five minutes
 * (docs/operators.md, "The operator API"). Tries are limited by operator and by session, and recorded.
 */

import type { SessionKey, Whose } from '../../../domain/operator/session.ts';
import { originOf } from '../../../domain/operator/session-origin.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { storedLogin } from '../rules/login.ts';
import { accountByLogin, lockAccount } from '../sql/factors.ts';
import { countWrongProof, renewSession } from '../sql/sessions.ts';
import { isPassword } from './password-hash.ts';
import { proofOf } from './second-factor.ts';
import { recordLockout, type SignIn } from './sign-in.ts';
import { recordSignIn } from './sign-in-record.ts';
import { clearCodes, countCode } from './throttle.ts';
import { newSession } from './tokens.ts';

interface Proof {
  readonly whose: Whose;
  readonly login: string;
  readonly key: SessionKey;
  readonly password: string;
  readonly code: string;
  readonly address: string;
  readonly browser: string | null;
}

/**
 * Checks password and code within a whole session. If both are right, a new session takes the place of this one. Five
 * wrong proofs end the session, because a stranger may have found the browser open.
 */
export async function proveAgain(
  store: { database: Database; vault: Vault },
  { whose, login, key, password, code, address, browser }: Proof,
): Promise<SignIn> {
  const { database, vault } = store;
  const account = await accountByLogin(database, vault, storedLogin(whose, login));
  if (account === null) return { kind: 'refused' };
  const { id } = account;
  // The limit is not by login or address: strangers may share these behind a proxy, and could then stop every payment.
  const lockedOut = await countCode(store, id);
  if (lockedOut !== null) {
    if (lockedOut.begins) await recordLockout(store, account, address);
    return { kind: 'throttled', ...lockedOut };
  }
  const isRight = await isPassword(password, account.password);
  const result = await inTransaction(database, async (session): Promise<SignIn> => {
    const locked = await lockAccount(session, vault, id);
    const known = isRight && locked?.password === account.password ? locked : null;
    // A code that comes with a wrong password is not checked, because the check would use it up.
    const proof = known && (await proofOf(session, vault, known, code));
    if (known === null || proof === null) {
      await countWrongProof(session, key.id);
      const why = known === null ? 'wrong password' : 'wrong code';
      await recordSignIn(session, vault, account, 'sign in again refused', { why, address });
      return { kind: 'refused' };
    }
    const { cookie, key: next } = newSession();
    const origin = originOf({ address, browser });
    if (!(await renewSession(session, vault, known, [key.id, next], origin))) return { kind: 'refused' };
    await recordSignIn(session, vault, account, 'sign in again', { why: proof, address });
    return { kind: 'done', cookie };
  });
  if (result.kind === 'done') await clearCodes(store, id);
  return result;
}
