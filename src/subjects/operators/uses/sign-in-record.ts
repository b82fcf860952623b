/**
 * Writes enrolments, sign-ins and refused sign-ins into the record of operators' acts (docs/audit.md). Adds rows to
 * `operator_events`.
 */
import { type AccountId, accountName } from '../../../domain/operator/operator-name.ts';
import { sourceOf } from '../../../domain/operator/sign-in-try.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { chainKeysOf } from '../../../program/operations/chain-keys.ts';
import { addOperatorEvents } from '../../../program/operations/sql/operator-events.ts';
import type { Vault } from '../../../seal/vault.ts';

/** The acts that are recorded. A try with an unknown login leaves no row, because anybody can make logins up. */
type SignInAct = 'enrol' | 'sign in' | 'sign in refused' | 'sign in again' | 'sign in again refused';

/**
 * Records a sign-in. `why` says what proved the operator, or why the proof failed, and never what was typed. `address`
 * is where the browser is: the row keeps only its network (`sourceOf`).
 */
export function recordSignIn(
  session: Transaction,
  vault: Vault,
  who: AccountId,
  act: SignInAct,
  { why, address }: { readonly why: string; readonly address: string },
): Promise<void> {
  const reason = `${why}, from ${sourceOf(address)}`;
  return addOperatorEvents(session, chainKeysOf(vault), accountName(who), [{ act, reason }]);
}

/** The `why` of the row with which a lockout begins. */
export const LOCKED_OUT = 'locked out after too many tries';
