/** The rows of sign-ins in the record of operators' acts. */
import { operatorName } from '../../../domain/operator/operator-name.ts';
import { sourceOf } from '../../../domain/operator/sign-in-try.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import { chainKeysOf } from '../../../program/operations/chain-keys.ts';
import { addOperatorEvents } from '../../../program/operations/sql/operator-events.ts';
import type { Vault } from '../../../seal/vault.ts';

/** What is recorded. Unknown logins leave no row, because anybody can make them up. */
type SignInAct = 'enrol' | 'sign in' | 'sign in refused' | 'sign in again' | 'sign in again refused';

/**
 * `why` is what proved the operator, or why nothing did; never what was typed. `address` is where the browser is: the
 * row has its network (`sourceOf`).
 */
export function recordSignIn(
  session: Transaction,
  vault: Vault,
  operatorId: number,
  act: SignInAct,
  { why, address }: { readonly why: string; readonly address: string },
): Promise<void> {
  const reason = `${why}, from ${sourceOf(address)}`;
  return addOperatorEvents(session, chainKeysOf(vault), operatorName(operatorId), [{ act, reason }]);
}

/** Too many tries: `why` of the row that a lockout begins with. */
export const LOCKED_OUT = 'locked out after too many tries';
