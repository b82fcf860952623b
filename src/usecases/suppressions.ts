/** What operators do with suppressions. */
import type { BlindIndex } from '../domain/application/ids.ts';
import { normalisePhone } from '../domain/application/phone.ts';
import { phoneIndexOf } from '../storage/blind-indexes.ts';
import { againAfterConflict } from '../storage/conflicts.ts';
import {
  addSuppression as addStored,
  liftSuppression,
  readSuppressions,
  type Suppression,
} from '../storage/suppressions.ts';
import type { Vault } from '../storage/vault.ts';
import { type OperatorContext, OperatorError } from './operator-context.ts';

export type { Suppression };

/**
 * All suppressions, newest first; memory is bounded. The store holds no phones in clear text, only their blind
 * indexes.
 */
export function listSuppressions({
  database,
}: OperatorContext): AsyncGenerator<Suppression, void, undefined> {
  return readSuppressions(database);
}

/**
 * Sends no message to this phone from now on, until an operator removes the suppression. `added` is false if the
 * phone was suppressed already. Throws `OperatorError` if `text` is not a phone with its country code.
 */
export async function addSuppression(
  { database, vault }: OperatorContext,
  text: string,
): Promise<{ phoneIndex: BlindIndex<'phone'>; added: boolean }> {
  const phoneIndex = indexOf(vault, text);
  return { phoneIndex, added: await againAfterConflict(() => addStored(database, phoneIndex)) };
}

/**
 * Lets messages go to this phone again, whatever suppressed it. Throws `OperatorError` if the phone is not
 * suppressed.
 */
export async function removeSuppression(
  { database, vault }: OperatorContext,
  text: string,
): Promise<{ phoneIndex: BlindIndex<'phone'> }> {
  const phoneIndex = indexOf(vault, text);
  if (!(await againAfterConflict(() => liftSuppression(database, phoneIndex))))
    throw new OperatorError('the phone is not suppressed');
  return { phoneIndex };
}

/** Accepts only a number with its country code: a guess at the country would suppress another person's phone. */
function indexOf(vault: Vault, text: string): BlindIndex<'phone'> {
  // With a + or 00 the country does not matter; CO stands for any country.
  const phone = /^[ (]*(\+|00)/.test(text) ? normalisePhone(text.trim(), 'CO') : null;
  if (phone === null) {
    throw new OperatorError('the phone must begin with + and its country code, such as +57 300 123 4567');
  }
  return phoneIndexOf(vault, phone);
}
