/**
 * How operators end their own sessions. Writes `operator_sessions`, and gives back what the operator has claimed
 * (docs/operators.md, "The operator API").
 */
import { type AccountId, accountName } from '../../../domain/operator/operator-name.ts';
import type { SessionKey } from '../../../domain/operator/session.ts';
import { againAfterConflict, type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { chainKeysOf } from '../../../program/operations/chain-keys.ts';
import { addOperatorEvents } from '../../../program/operations/sql/operator-events.ts';
import type { Vault } from '../../../seal/vault.ts';
import { lockAccount } from '../sql/factors.ts';
import { leaveDesk } from '../sql/operators.ts';
import { endSession, endSessions, hasWholeSession } from '../sql/sessions.ts';

/** Ends a session. With the operator's last whole session, everything that the operator has claimed is given back. */
export function signOut(
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  operatorId: number,
  { id }: SessionKey,
): Promise<void> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      // Of two sign-outs at once the second one sees the first.
      await lockAccount(session, vault, operatorId);
      await endSession(session, id);
      if (!(await hasWholeSession(session, operatorId))) await leaveDesk(session, operatorId);
    }),
  );
}

/** Ends all sessions of an account in every browser, gives all claims back, and records it. */
export function signOutEverywhere(
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  who: AccountId,
): Promise<void> {
  const { id } = who;
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      // A sign-in under way commits first, so its session ends too.
      await lockAccount(session, vault, id);
      await endSessions(session, id);
      await leaveDesk(session, id);
      const act = { act: 'sign out everywhere' };
      await addOperatorEvents(session, chainKeysOf(vault), accountName(who), [act]);
    }),
  );
}
