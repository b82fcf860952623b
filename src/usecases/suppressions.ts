/** What an operator does with phones that get no messages. */
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

/** All suppressions, newest first; memory is bounded. The phones themselves are nowhere stored. */
export function listSuppressions({
  database,
}: OperatorContext): AsyncGenerator<Suppression, void, undefined> {
  return readSuppressions(database);
}

/**
 * No message goes to this phone from now on, until an operator removes the suppression. `added` is false where
 * it was suppressed already. Throws `OperatorError` where `text` is no phone with its country code.
 */
export async function addSuppression(
  { database, vault }: OperatorContext,
  text: string,
): Promise<{ phoneIndex: BlindIndex<'phone'>; added: boolean }> {
  const phoneIndex = indexOf(vault, text);
  return { phoneIndex, added: await againAfterConflict(() => addStored(database, phoneIndex)) };
}

/** Messages may go to this phone again, whoever asked for none. Throws `OperatorError` where nobody had. */
export async function removeSuppression(
  { database, vault }: OperatorContext,
  text: string,
): Promise<{ phoneIndex: BlindIndex<'phone'> }> {
  const phoneIndex = indexOf(vault, text);
  if (!(await againAfterConflict(() => liftSuppression(database, phoneIndex))))
    throw new OperatorError('the phone is not suppressed');
  return { phoneIndex };
}

/** Only a whole number is taken: a guess at the country would silence somebody else. */
function indexOf(vault: Vault, text: string): BlindIndex<'phone'> {
  // With a + or 00 the country does not matter; CO only stands for any.
  const phone = /^[ (]*(\+|00)/.test(text) ? normalisePhone(text.trim(), 'CO') : null;
  if (phone === null) {
    throw new OperatorError('the phone must begin with + and its country code, such as +57 300 123 4567');
  }
  return phoneIndexOf(vault, phone);
}
