/** Records what operators do and what personal data they read (docs/audit.md). */
import { againAfterConflict } from '../../ground/postgres/conflicts.ts';
import { inOneTransaction, inTransaction } from '../../ground/postgres/database.ts';
import { chainKeysOf } from './chain-keys.ts';
import type { OperatorContext } from './operator-context.ts';
import { type Act, addOperatorEvents } from './sql/operator-events.ts';

/**
 * Does an act and records it in the same transaction, so that neither exists without the other. `work` writes no
 * output, because it may be undone and done again after a conflict. `actOf` gets its result; null: it was done and
 * recorded before.
 */
export function acting<T>(
  context: OperatorContext,
  work: (context: OperatorContext) => Promise<T>,
  actOf: (result: T) => Act | null,
): Promise<T> {
  const { vault, actor } = context;
  return againAfterConflict(() =>
    inOneTransaction(context.database, async (database, session) => {
      const result = await work({ ...context, database });
      const act = actOf(result);
      if (act !== null) await addOperatorEvents(session, chainKeysOf(vault), actor, [act]);
      return result;
    }),
  );
}

/**
 * Records acts in a transaction of their own: readings of personal data before the data is shown, and an act of several
 * transactions before the first one.
 */
export function noting(
  { database, vault, actor }: OperatorContext,
  ...acts: readonly [Act, ...Act[]]
): Promise<void> {
  return againAfterConflict(() =>
    inTransaction(database, (session) => addOperatorEvents(session, chainKeysOf(vault), actor, acts)),
  );
}
