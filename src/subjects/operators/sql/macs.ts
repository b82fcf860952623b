/**
 * The MACs of all rows of operators together: the reindex makes them again, and the upkeep looks for forged rows.
 * `seal/row-macs.ts` has the rule. Reads and writes `operators`, `operator_sessions` and `pending_sign_ins`, each by
 * the file of its rows.
 */
import type { Session } from '../../../ground/postgres/database.ts';
import { renewedMacs, type Telling, tellForged } from '../../../seal/row-macs.ts';
import { ACCOUNTS } from './account.ts';
import { PENDING_SIGN_INS } from './pending-sign-ins.ts';
import { SESSIONS } from './sessions.ts';

/** Whether there is an account. Its MAC depends on the index key. */
export async function hasAccounts(session: Session): Promise<boolean> {
  return (await session.query('SELECT FROM operators LIMIT 1')).rows.length > 0;
}

export const RENEWED = [
  renewedMacs('MACs of the accounts of operators', ACCOUNTS),
  renewedMacs('MACs of the sessions of operators', SESSIONS),
  renewedMacs('MACs of sign-ins under way', PENDING_SIGN_INS),
];

/** Logs forged rows: `tellForged`. */
export function tellForgedOperators(context: Telling): Promise<void> {
  return tellForged(context, [ACCOUNTS, SESSIONS, PENDING_SIGN_INS]);
}
