/** What operators do with suppressions. */
import type { BlindIndex } from '../../applications/rules/ids.ts';
import { normalisePhone, type Phone } from '../../applications/rules/phone.ts';
import { countryOfPhone } from '../../applications/rules/phone-country.ts';
import { type OperatorContext, OperatorError } from '../../operations/operator-context.ts';
import { readPartnerCountries } from '../../partners/sql/partners.ts';
import { againAfterConflict } from '../../postgres/conflicts.ts';
import { phoneIndexOf } from '../../seal/blind-indexes.ts';
import {
  addSuppression as addStored,
  liftSuppression,
  readSuppressions,
  type Suppression,
} from '../sql/suppressions.ts';

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
 * phone was suppressed already. Throws `OperatorError` if `text` is not one phone.
 */
export async function addSuppression(
  context: OperatorContext,
  text: string,
): Promise<{ phoneIndex: BlindIndex<'phone'>; added: boolean }> {
  const phoneIndex = await indexOf(context, text);
  return { phoneIndex, added: await againAfterConflict(() => addStored(context.database, phoneIndex)) };
}

/**
 * Lets messages go to this phone again, whatever suppressed it. Throws `OperatorError` if the phone is not
 * suppressed.
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

/**
 * The blind index of a phone that is written with its country code, or as dialled in a country that has partners.
 * Throws `OperatorError` where the text is neither, or fits phones of several countries: a guess could suppress another
 * person's phone.
 */
async function indexOf(context: OperatorContext, text: string): Promise<BlindIndex<'phone'>> {
  const phones = await readingsOf(context, text.trim());
  const indexes = new Set(phones.map((phone) => phoneIndexOf(context.vault, phone)));
  const [index] = indexes;
  if (index === undefined) {
    throw new OperatorError(
      'the phone must begin with + and its country code, such as +57 300 123 4567, or be dialled so in a country that has partners',
    );
  }
  if (indexes.size > 1) {
    const countries = phones.map(countryOfPhone).join(', ');
    throw new OperatorError(
      `the phone can be one of several countries (${countries}): write the phone with + and its country code`,
    );
  }
  return index;
}

async function readingsOf({ database }: OperatorContext, text: string): Promise<Phone[]> {
  if (/^[ (]*(\+|00)/.test(text)) {
    // With a + or 00 the country does not matter; CO stands for any country.
    const phone = normalisePhone(text, 'CO');
    return phone === null ? [] : [phone];
  }
  const countries = await readPartnerCountries(database);
  const readings = countries
    .map((country) => normalisePhone(text, country))
    .filter((phone) => phone !== null);
  // A number that is not valid in a country is read as an international one, here perhaps of a country without
  // partners.
  const known = readings.filter((phone) => countries.some((country) => country === countryOfPhone(phone)));
  return [...new Set(known)];
}
