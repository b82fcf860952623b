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
import {
  addSuppression as addStored,
  liftSuppression,
  readSuppressions,
  type Suppression,
} from '../sql/suppressions.ts';

/**
 * All suppressions, newest first, in bounded memory. The store has no phones in clear text, only their blind indexes.
 */
export function listSuppressions({
  database,
}: OperatorContext): AsyncGenerator<Suppression, void, undefined> {
  return readSuppressions(database);
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
    throw new OperatorError('the phone is not suppressed');
  return { phoneIndex };
}

async function indexOf(context: OperatorContext, text: string): Promise<BlindIndex<'phone'>> {
  const phone = await readOnePhone(context, text);
  // If the indexes were made with another key, the suppression would hold for no phone, and messages would go on.
  await requireIndexKey(context.database, context.vault);
  return phoneIndexOf(context.vault, phone);
}
