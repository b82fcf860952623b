/**
 * Reads a phone as an operator writes it (D11). What acts on a phone needs one that can mean only one phone: a guess
 * could be another person's phone. Reads the countries of `partners`.
 */
import { countryOfPhone, normalisePhone, type Phone, typedPhone } from '../../../domain/phone/phone.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { readPartnerCountries } from '../sql/partners.ts';

/**
 * The phone that is written with its country code, or as dialled in a country that has partners. Throws `OperatorError`
 * if the text is neither, or fits phones of several countries: a guess could be another person's phone.
 */
export async function readOnePhone(
  context: Pick<OperatorContext, 'database' | 'vault'>,
  text: string,
): Promise<Phone> {
  const phones = await readingsOf(context, typedPhone(text));
  const [phone] = phones;
  if (phone === undefined) {
    throw new OperatorError(
      'no country has such a phone: write it with + and its country code, such as +57 300 123 4567, or as it is dialled in a country that has partners',
    );
  }
  if (new Set(phones.map((one) => phoneIndexOf(context.vault, one))).size > 1) {
    const countries = phones.map(countryOfPhone).join(', ');
    throw new OperatorError(
      `the phone can be one of several countries (${countries}): write the phone with + and its country code`,
    );
  }
  return phone;
}

/** All phones that the text can mean, to look for each of them. `text` is a `typedPhone`. */
export async function readingsOf(
  { database }: Pick<OperatorContext, 'database'>,
  text: string,
): Promise<Phone[]> {
  if (/^[ (]*(\+|00)/.test(text)) {
    // With a + or 00 the country does not matter; CO stands for any country.
    const phone = normalisePhone(text, 'CO');
    return phone === null ? [] : [phone];
  }
  const countries = await readPartnerCountries(database);
  const readings = countries
    .map((country) => normalisePhone(text, country))
    .filter((phone) => phone !== null);
  // A number that is not valid in a country is read as an international one, which may be of a country without
  // partners.
  const known = readings.filter((phone) => countries.some((country) => country === countryOfPhone(phone)));
  return [...new Set(known)];
}
