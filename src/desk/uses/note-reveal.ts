/** Records that an operator reads personal data, and holds the bound of an hour. */
import { chainKeysOf } from '../../operations/chain-keys.ts';
import type { OperatorContext } from '../../operations/operator-context.ts';
import { type Act, addOperatorEvents, revealedTooOften } from '../../operations/sql/operator-events.ts';
import { againAfterConflict } from '../../postgres/conflicts.ts';
import { inTransaction } from '../../postgres/database.ts';
import { MOST_REVEALS_AN_HOUR } from '../rules/bounds.ts';
import { Refusal } from './refusal.ts';

/**
 * Commits the record of a reading, before anything is opened. Throws a `Refusal` where the operator has revealed too
 * many applications and files within an hour, which records nothing. The head of the record is locked from the first
 * statement on, so that readings at the same moment count too.
 */
export function noteReveal({ database, vault, actor }: OperatorContext, act: Act): Promise<void> {
  return againAfterConflict(() =>
    inTransaction(database, async (session) => {
      await addOperatorEvents(session, chainKeysOf(vault), actor, [act]);
      const retryAfterSeconds = await revealedTooOften(session, actor, MOST_REVEALS_AN_HOUR);
      if (retryAfterSeconds === null) return;
      const wait = `too many applications and files revealed within an hour: wait ${retryAfterSeconds} seconds`;
      throw new Refusal(429, wait, { retryAfterSeconds });
    }),
  );
}
