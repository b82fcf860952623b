/** The rows of sign-ins in the record of operators' acts. */
import { chainKeysOf } from '../../operations/chain-keys.ts';
import { addOperatorEvents } from '../../operations/sql/operator-events.ts';
import type { Transaction } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { operatorName } from '../rules/operator-name.ts';

/** What is recorded. Unknown logins leave no row, because anybody can make them up. */
type SignInAct = 'enrol' | 'sign in' | 'sign in refused' | 'sign in again' | 'sign in again refused';

/** `reason` is what proved the operator, or why nothing did; never what was typed. */
export function recordSignIn(
  session: Transaction,
  vault: Vault,
  operatorId: number,
  act: SignInAct,
  reason: string,
): Promise<void> {
  return addOperatorEvents(session, chainKeysOf(vault), operatorName(operatorId), [{ act, reason }]);
}
