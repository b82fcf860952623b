/**
 * The sessions of operators, as these and admins see and end them (docs/operators.md, "The operator API"). Records each
 * end.
 */
import { operatorName } from '../../../domain/operator/operator-name.ts';
import { againAfterConflict, type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { chainKeysOf } from '../../../program/operations/chain-keys.ts';
import { addOperatorEvents } from '../../../program/operations/sql/operator-events.ts';
import type { Vault } from '../../../seal/vault.ts';
import { lockAccount } from '../sql/factors.ts';
import { leaveDesk } from '../sql/operators.ts';
import {
  endNamedSession,
  hasWholeSession,
  readLivingSessions,
  type ShownSession,
  sessionName,
} from '../sql/sessions.ts';

export { type ShownSession, sessionName };

/** The sessions that are not over, by the operator's id; the newest first. */
export async function listSessions(database: Database): Promise<Map<number, ShownSession[]>> {
  return Map.groupBy(await readLivingSessions(database, null), ({ operatorId }) => operatorId);
}

/** Those of one operator, the newest first. */
export function listOwnSessions(database: Database, operatorId: number): Promise<ShownSession[]> {
  return readLivingSessions(database, operatorId);
}

/**
 * Ends the session with this name. The last one of an operator gives back what the operator has claimed. False: there
 * is no such session, and nothing is recorded.
 */
export function endOneSession(
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  byId: number,
  { operatorId, name }: { readonly operatorId: number; readonly name: string },
): Promise<boolean> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      // A sign-in under way commits first, so that its session counts.
      await lockAccount(session, vault, operatorId);
      if (!(await endNamedSession(session, operatorId, name))) return false;
      if (!(await hasWholeSession(session, operatorId))) await leaveDesk(session, operatorId);
      const act = { act: 'operator end-session', target: operatorName(operatorId) };
      await addOperatorEvents(session, chainKeysOf(vault), operatorName(byId), [act]);
      return true;
    }),
  );
}
