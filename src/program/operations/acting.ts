/**
 * Records what operators do and what personal data they read, in the transaction of the act; and has the rule of an
 * actor's name (D34, D48). Writes `operator_events` and its head by `sql/operator-events.ts`.
 * docs/audit.md has the rule of records, docs/operators.md ("One application") that of names.
 */
import { readableText } from '../../ground/base/plain-text.ts';
import { againAfterConflict, inOneTransaction, inTransaction } from '../../ground/postgres/database.ts';
import { chainKeysOf } from './chain-keys.ts';
import type { OperatorContext } from './operator-context.ts';
import { type Act, addOperatorEvents } from './sql/operator-events.ts';

/**
 * Does an act and records it in the same transaction, so that neither exists without the other. `work` must write no
 * output, because it may be undone and repeated after a conflict. `actOf` gets its result; null: the act was done and
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

// The second part: who acts, as the history of an application keeps it (D34, D48).

const MAX_LENGTH = 100;

/** The rule of `readActor`, for error texts. */
export const ACTOR_RULE = `must be one line of 1 to ${MAX_LENGTH} characters without invisible ones, and no "operator" or "account" with a number`;

/** The trimmed name of an operator at the command line; null if the text breaks the rule. */
export function readActor(text: string): string | null {
  const name = readableText(text, MAX_LENGTH);
  return name === null || accountOf(name) !== null ? null : name;
}

/** How the histories name an operator with an account, and a person at a partner. */
const ACCOUNT = /^(?:operator|account) (\d{1,9})$/;

/** The id of the account that an actor of a history names; null: the actor is not an account. */
export function accountOf(actor: string): number | null {
  const id = ACCOUNT.exec(actor)?.[1];
  return id === undefined ? null : Number(id);
}
