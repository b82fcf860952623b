/** Turns phone numbers as partners send them into E.164, and into the form in which they are compared (D11). */
import { COUNTRY_CURRENCY, type Country } from '../../ground/base/country-data.ts';
import type { Currency } from '../../ground/base/currency-data.ts';
import {
  MAX_DIGITS,
  MIN_DIGITS,
  type NumberingPlan,
  planOfCountry,
  planOfNumber,
  readNumber,
} from './numbering-plan.ts';

// A phone as a person types or pastes it. Partners send phones by D11 alone: what is cleaned here is refused there.

/** `ext. 12`, `anexo 12`, `x12`, `;ext=12`, `#12`: the words of the countries that the service knows. */
const EXTENSION =
  /[\s,;(]{0,8}(?:ext(?:ensi[oó]n|ens[aã]o)?|anexo|interno|int|ramal|x|#)[.:=\s]{0,8}\d{1,6}\s{0,8}\)?$/iu;

/**
 * The text in the characters that D11 reads: full-width digits, dashes and spaces of each kind are those of ASCII.
 * Marks of direction that come with a copied contact are gone, and so are `tel:` and an extension: no phone is stored
 * with one.
 */
export function typedPhone(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .trim()
    .replace(/^tel:\s*/i, '')
    .replace(EXTENSION, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .replace(/\s+/gu, ' ')
    .trim();
}

declare const PHONE: unique symbol;

/** A phone number in E.164 form, such as `+573001234567`. */
export type Phone = string & { readonly [PHONE]: true };

const E164 = new RegExp(`^\\+[1-9]\\d{${MIN_DIGITS - 1},${MAX_DIGITS - 1}}$`);
const CODE_0 = '0'.charCodeAt(0);
const CODE_9 = '9'.charCodeAt(0);
const CODE_PLUS = '+'.charCodeAt(0);
/** Spaces (the no-break one too), dots, hyphens and parentheses. */
const PUNCTUATION = ' \u00a0.-()';

/** True where a text is in E.164 form. */
export function isPhone(text: string): text is Phone {
  return E164.test(text);
}

/** Takes a text that should be in E.164 form. Throws a `TypeError` where the text is not. */
export function toPhone(text: string): Phone {
  if (!isPhone(text)) throw new TypeError('a phone is not in E.164 form');
  return text;
}

/**
 * The phone that an E.164 text of the store or of the channel stands for: as the plan reads it, or as it is where no
 * plan does. Such a number is somebody's, so it is never refused. Null for any other text.
 */
export function knownPhone(text: string): Phone | null {
  return readInternational(text) ?? (isPhone(text) ? text : null);
}

/** For readers of phones that no application comes with. */
const NO_CURRENCY = () => null;

/**
 * `text` as an E.164 number (`+573001234567`), or null where D11 refuses it.
 *
 * `text` is trimmed and not empty. It may hold ASCII digits, spaces, dots, hyphens, parentheses and one `+` before the
 * first digit. With `+` or a leading `00` the number is read by the plan of its country code. Other numbers are read as
 * numbers of the partner's own country where they are valid there, else as international ones. Countries with one
 * calling code (+1, +7, +44 ...) dial each other without the code, so they count as one country here.
 * `namedCurrency` tells the valid currency that the application names; it is asked only where a number has no country
 * code.
 */
export function normalisePhone(
  text: string,
  partnerCountry: Country,
  namedCurrency: () => Currency | null = NO_CURRENCY,
): Phone | null {
  // Most numbers are in E.164 form already. The same text is returned, because a joined copy costs more to read later.
  if (text.charCodeAt(0) === CODE_PLUS && planOfNumber(text)?.plain.test(text)) return text as Phone;
  let digits = '';
  let plus = false;
  let runStart = -1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= CODE_0 && code <= CODE_9) {
      if (runStart < 0) runStart = i;
      continue;
    }
    if (runStart >= 0) {
      digits += text.slice(runStart, i);
      runStart = -1;
    }
    if (code === CODE_PLUS) {
      if (plus || digits !== '') return null;
      plus = true;
    } else if (!PUNCTUATION.includes(text[i]!)) {
      return null;
    }
  }
  if (runStart >= 0) digits += text.slice(runStart);

  if (plus) return readInternational(`+${digits}`);
  if (digits.charCodeAt(0) === CODE_0 && digits.charCodeAt(1) === CODE_0)
    return readInternational(`+${digits.slice(2)}`);
  if (digits.length < MIN_DIGITS || digits.length > MAX_DIGITS) return null;
  return readWithoutCode(digits, partnerCountry, namedCurrency);
}

/** Under an unassigned country code any number stands. */
function readInternational(e164: string): Phone | null {
  const plan = planOfNumber(e164);
  if (plan?.plain.test(e164)) return e164 as Phone;
  if (!isPhone(e164)) return null;
  return plan === null ? e164 : readByPlan(e164, plan, 'possible');
}

/**
 * Where the application names the currency of other countries and the digits are a number there too, nobody guesses
 * whose phone it is. A currency that several countries have (USD, EUR) stands for each of them.
 */
function readWithoutCode(
  digits: string,
  partnerCountry: Country,
  namedCurrency: () => Currency | null,
): Phone | null {
  const own = readNational(digits, partnerCountry);
  if (own === null) return readForeign(`+${digits}`);
  const currency = namedCurrency();
  if (currency === null || currency === COUNTRY_CURRENCY[partnerCountry]) return own;
  const others = COUNTRIES_OF.get(currency)?.map((country) => readNational(digits, country)) ?? [];
  return others.every((other) => other === null || other === own) ? own : null;
}

const COUNTRIES_OF: ReadonlyMap<Currency, readonly Country[]> = Map.groupBy(
  Object.keys(COUNTRY_CURRENCY) as Country[],
  (country) => COUNTRY_CURRENCY[country],
);

/** The E.164 form of digits where they are a valid number as dialled in the country, else null. */
function readNational(digits: string, country: Country): Phone | null {
  const plan = planOfCountry(country);
  if (plan === null) return null;
  const national = readNumber(digits, plan, 'valid');
  return national === null ? null : fitting(`+${plan.callingCode}${national}`);
}

/** A valid international number, else null. */
function readForeign(e164: string): Phone | null {
  const plan = planOfNumber(e164);
  return plan !== null && isPhone(e164) ? readByPlan(e164, plan, 'valid') : null;
}

function readByPlan(e164: Phone, plan: NumberingPlan, least: 'valid' | 'possible'): Phone | null {
  const start = 1 + plan.callingCode.length;
  const national = readNumber(e164.slice(start), plan, least);
  if (national !== null) return fitting(`+${plan.callingCode}${national}`);
  // Of a line with two forms a plan has one. The other one is as good, and stays as it was sent.
  const other = foldPhone(e164);
  return other !== e164 && readNumber(other.slice(start), plan, least) !== null ? e164 : null;
}

/**
 * Null for a number longer than E.164 allows. A few plans (Germany, Japan ...) have such numbers, and they would not
 * normalise to themselves.
 */
function fitting(e164: string): Phone | null {
  return isPhone(e164) ? e164 : null;
}

const CODE_6 = '6'.charCodeAt(0);
const MX_AR_DOUBLE_LENGTH = '+521'.length + 10;
const BR_SHORT_LENGTH = '+55'.length + 2 + 8;
const BR_AREA_END = '+55'.length + 2;

/**
 * The form in which two numbers are compared (D11): the known double forms of one line become equal. Mexico loses the
 * 1 and Argentina the 9 between country code and ten digits. A Brazilian mobile of eight digits (beginning with 6 to
 * 9) gains the ninth. Any other number stays as it is. Folding twice changes nothing.
 */
export function foldPhone(e164: string): string {
  if (e164.length === MX_AR_DOUBLE_LENGTH) {
    if (e164.startsWith('+521')) return `+52${e164.slice(4)}`;
    if (e164.startsWith('+549')) return `+54${e164.slice(4)}`;
  } else if (
    e164.length === BR_SHORT_LENGTH &&
    e164.startsWith('+55') &&
    e164.charCodeAt(BR_AREA_END) >= CODE_6
  ) {
    return `${e164.slice(0, BR_AREA_END)}9${e164.slice(BR_AREA_END)}`;
  }
  return e164;
}
