/**
 * Checks the second factor: a code of the authenticator app, or a recovery code. Each code counts once
 * (docs/operators.md, "The operator API"). Writes the account in `operators`.
 */
import type { Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { stepOfCode } from '../rules/totp.ts';
import { type Account, openTotp, takeRecoveryCode, takeStep } from '../sql/factors.ts';
import { recoveryDigest } from './tokens.ts';

/** What proved the second factor of a locked account, and is now used up; null: the code is wrong. */
export async function proofOf(
  session: Transaction,
  vault: Vault,
  account: Account,
  code: string,
): Promise<'one-time code' | 'recovery code' | null> {
  const { id, totp, totpStep, nowMs } = account;
  const recovery = recoveryDigest(code);
  if (recovery !== null)
    return (await takeRecoveryCode(session, vault, account, recovery)) ? 'recovery code' : null;
  const step = totp === null ? null : stepOfCode(openTotp(vault, id, totp), code, nowMs, totpStep);
  if (step === null) return null;
  await takeStep(session, vault, account, step);
  return 'one-time code';
}
