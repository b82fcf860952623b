/**
 * What operators do with suppressions: list, add, remove (docs/messages.md, "Consent"). Reads and writes
 * `suppressions`.
 */
import type { BlindIndex } from '../../../domain/application/ids.ts';
import { againAfterConflict } from '../../../ground/postgres/database.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { requireIndexKey } from '../../../seal/index-key.ts';
import { readOnePhone } from '../../partners/uses/operator-phone.ts';
import { readExcludedNumbers } from '../sql/registers.ts';
import { addSuppression as addStored, liftSuppression, readSuppressions } from '../sql/suppressions.ts';

/** A phone that gets no messages, and what suppresses it: a source of suppressions, or a register by its name. */
export interface SuppressedPhone {
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly source: string;
  readonly createdAt: Date;
}

/**
 * All suppressions, newest first, and then the numbers of the registers; in bounded memory. The store has no phones in
 * clear text, only their blind indexes.
 */
export async function* listSuppressions({
  database,
}: OperatorContext): AsyncGenerator<SuppressedPhone, void, undefined> {
  yield* readSuppressions(database);
  for await (const { phoneIndex, register, listedAt } of readExcludedNumbers(database))
    yield { phoneIndex, source: register, createdAt: listedAt };
}

/**
 * From now on no message goes to this phone, until an operator removes the suppression. `added` is false if the phone
 * was already suppressed. Throws `OperatorError` if `text` is not exactly one phone.
 */
export async function addSuppression(
  context: OperatorContext,
  text: string,
): Promise<{ phoneIndex: BlindIndex<'phone'>; added: boolean }> {
  const phoneIndex = await indexOf(context, text);
  return { phoneIndex, added: await againAfterConflict(() => addStored(context.database, phoneIndex)) };
}

/**
 * Lets messages go to this phone again, whatever suppressed it. Throws `OperatorError` if the phone is not suppressed.
 */
export async function removeSuppression(
  context: OperatorContext,
  text: string,
): Promise<{ phoneIndex: BlindIndex<'phone'> }> {
  const phoneIndex = await indexOf(context, text);
  if (!(await againAfterConflict(() => liftSuppression(context.database, phoneIndex))))
    throw new OperatorError(
      'no opt-out and no operator suppresses the phone. A number of a register goes with the next file that does not list it',
    );
  return { phoneIndex };
}

async function indexOf(context: OperatorContext, text: string): Promise<BlindIndex<'phone'>> {
  const phone = await readOnePhone(context, text);
  // If the indexes were made with another key, the suppression would hold for no phone, and messages would go on.
  await requireIndexKey(context.database, context.vault);
  return phoneIndexOf(context.vault, phone);
}
