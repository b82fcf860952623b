/**
 * Turns phone numbers as partners send them into E.164, and into the form in which they are compared (D11). Also cleans
 * phones that a person types, and finds the country of a phone. Pure; the numbering plans are libphonenumber's
 * metadata.
 */
import parsePhoneNumber, { type CountryCode } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import {
  COUNTRY_CURRENCY,
  type Country,
  type Currency,
  isCountry,
  threeDigits,
} from '../../ground/base/country-data.ts';

// Numbering plans of countries, from libphonenumber's metadata (D11). They read digits as the library's parser does,
// and a test compares the two. The parser takes 5 to 40 microseconds a number, more than all other work on an
// application.

/** The number of digits of a phone with country code (D11). */
export const MIN_DIGITS = 7;
export const MAX_DIGITS = 15;

/** The plan of a country, or of a calling code of no country. Digits are ASCII. */
interface NumberingPlan {
  readonly callingCode: string;
  /**
   * Matches E.164 numbers of the calling code that have no trunk digits and a length of each of its countries: they
   * need no reading. Others may be such numbers too.
   */
  readonly plain: RegExp;
  /** Trunk digits and what else may stand before a national number; null: nothing may. */
  readonly prefix: RegExp | null;
  /** What stands in place of a prefix with a group; null: nothing. */
  readonly replacement: string | null;
  /** The trunk digit alone, without codes of carriers; empty: the plan has none. */
  readonly trunk: string;
  /** The shape of every number of the country. */
  readonly shape: RegExp;
  /** Matches exactly the valid numbers of the country. */
  readonly valid: RegExp;
  readonly lengths: ReadonlySet<number>;
  /** If a country has this, it alone tells which numbers of a shared calling code are the country's. */
  readonly leading: RegExp | null;
  /** The plans of all countries with the calling code, the largest country first. */
  readonly sharing: readonly NumberingPlan[];
}

// Indexes in the library's metadata arrays (its METADATA.md, format 4).
const CALLING_CODE = 0;
const SHAPE = 2;
const LENGTHS = 3;
const TRUNK = 5;
const PREFIX = 7;
const REPLACEMENT = 8;
const LEADING = 10;
const TYPES = 11;

type Metadata = readonly unknown[];
type NumberType = readonly [pattern: string, lengths?: readonly number[]] | 0;

/** Mexico dialled these until 2019, and people still write them. The library has forgotten them. */
const PREFIX_OF_MEXICO = '0(?:[12]|4[45])';
const MEXICO = '52';
const ARGENTINA = '54';

const PLANS = new Map<string, NumberingPlan>();
// Indexed by the first three digits of a number, so that codes of one, two and three digits need one look-up.
const BY_DIGITS: (NumberingPlan | null | undefined)[] = new Array(1000);

/**
 * The plan of a country, made on first use, because a service has partners in few countries. Null if the library does
 * not know the country.
 */
function planOfCountry(country: Country): NumberingPlan | null {
  return Object.hasOwn(metadata.countries, country) ? planOf(country) : null;
}

/**
 * The plan of a number with `+` and country code: that of the largest country with the code. Null if the code is
 * unassigned, and for a text that does not begin as such a number does.
 */
function planOfNumber(e164: string): NumberingPlan | null {
  const first = threeDigits(e164, 1);
  if (!(first >= 100 && first <= 999)) return null;
  let plan = BY_DIGITS[first];
  if (plan === undefined) {
    plan = planOfDigits(String(first));
    BY_DIGITS[first] = plan;
  }
  return plan;
}

function planOfDigits(first: string): NumberingPlan | null {
  for (let length = 1; length <= first.length; length++) {
    const code = first.slice(0, length);
    const country = metadata.country_calling_codes[code]?.[0];
    if (country !== undefined) return planOf(country);
    if (Object.hasOwn(metadata.nonGeographic, code)) return planOf(code);
  }
  return null;
}

/** `name` is a country of the library, or a calling code of no country. */
function planOf(name: string): NumberingPlan {
  const known = PLANS.get(name);
  if (known !== undefined) return known;
  const code = String(metadataOf(name)[CALLING_CODE]);
  const countries: readonly string[] = metadata.country_calling_codes[code] ?? [name];
  const sharing: NumberingPlan[] = [];
  for (const country of countries) {
    const plan = makePlan(country, code, countries, sharing);
    sharing.push(plan);
    PLANS.set(country, plan);
  }
  return PLANS.get(name)!;
}

function metadataOf(name: string): Metadata {
  return (metadata.countries[name as CountryCode] ??
    (metadata.nonGeographic as Readonly<Record<string, unknown>>)[name]) as unknown as Metadata;
}

function makePlan(
  name: string,
  callingCode: string,
  countries: readonly string[],
  sharing: readonly NumberingPlan[],
): NumberingPlan {
  const data = metadataOf(name);
  const text = (index: number) => (data[index] || '') as string;
  const prefix = callingCode === MEXICO ? PREFIX_OF_MEXICO : text(PREFIX) || text(TRUNK);
  return {
    callingCode,
    plain: plainPattern(callingCode, prefix, countries),
    prefix: prefix === '' ? null : new RegExp(`^(?:${prefix})`),
    replacement: text(REPLACEMENT) || null,
    trunk: text(TRUNK),
    shape: new RegExp(`^(?:${text(SHAPE)})$`),
    valid: validPattern(data),
    lengths: new Set(lengthsOf(name)),
    leading: countries.length > 1 && text(LEADING) !== '' ? new RegExp(`^(?:${text(LEADING)})`) : null,
    sharing,
  };
}

function plainPattern(code: string, prefix: string, countries: readonly string[]): RegExp {
  const lengths = lengthsOf(countries[0]!)
    .filter((length) => code.length + length >= MIN_DIGITS && code.length + length <= MAX_DIGITS)
    .filter((length) => countries.every((country) => lengthsOf(country).includes(length)));
  // The pattern of a prefix may also match the empty text. Such a match is no prefix.
  const isPrefix = new RegExp(`^(?:${prefix})$`).test('') ? `(?:${prefix})(?<!^\\+${code})` : prefix;
  const noPrefix = prefix === '' ? '' : `(?!${isPrefix})`;
  const double = code === MEXICO ? '1?' : '';
  return new RegExp(`^\\+${code}${noPrefix}${double}${digitsPattern(lengths)}$`);
}

/** As many digits as one of the lengths, which rise: `\d{8}(?:\d{2})?` for 8 and 10. */
function digitsPattern(lengths: readonly number[], before = 0): string {
  const [length, ...more] = lengths;
  if (length === undefined) return before === 0 ? '(?!)' : '';
  const longer = digitsPattern(more, length);
  return `\\d{${length - before}}${longer === '' ? '' : `(?:${longer})?`}`;
}

function lengthsOf(name: string): readonly number[] {
  return metadataOf(name)[LENGTHS] as readonly number[];
}

function validPattern(data: Metadata): RegExp {
  const types = (data[TYPES] || []) as readonly NumberType[];
  const alternatives = types.flatMap((type) => {
    if (type === 0 || !type[0]) return [];
    const lengths = type[1]?.map((length) => `\\d{${length}}$`).join('|') ?? '';
    return [`(?=${lengths})(?:${type[0]})`];
  });
  const shape = `(?:${data[SHAPE]})$`;
  return new RegExp(alternatives.length === 0 ? `^${shape}` : `^(?=${shape})(?:${alternatives.join('|')})$`);
}

/**
 * The national number that these digits are, with or without trunk digits. A valid one comes first; with `least`
 * `possible` one of a length that the country has is taken too. Null if there is neither, and for a number that would
 * be read as another one itself: some unassigned numbers begin with many trunk digits.
 */
function readNumber(digits: string, plan: NumberingPlan, least: 'valid' | 'possible'): string | null {
  const read = readOnce(digits, plan, least);
  return read === null || read === digits || readOnce(read, plan, least) === read ? read : null;
}

function readOnce(digits: string, plan: NumberingPlan, least: 'valid' | 'possible'): string | null {
  const national = withoutPrefix(digits, plan);
  // Digits that look like trunk digits may belong to the number: Belarus has 810 123 4567, and dials 8.
  for (const reading of [national, digits, otherReading(digits, plan)]) {
    if (reading !== null && ownPlan(reading, plan).valid.test(reading)) return reading;
  }
  return least === 'possible' && ownPlan(national, plan).lengths.has(national.length) ? national : null;
}

/** The plan of the country that has the number; for a number that no country has, the given plan. */
function ownPlan(national: string, plan: NumberingPlan): NumberingPlan {
  if (plan.sharing.length === 1) return plan;
  return plan.sharing.find(({ leading, valid }) => (leading ?? valid).test(national)) ?? plan;
}

/** The library's rule: a prefix is dropped if the rest has the shape of a number and is not too short for one. */
function withoutPrefix(digits: string, plan: NumberingPlan): string {
  const match = plan.prefix?.exec(digits);
  if (!match) return digits;
  const hasGroup = match.length > 1 && match.at(-1) !== undefined;
  const rest =
    plan.replacement !== null && hasGroup
      ? digits.replace(plan.prefix!, plan.replacement)
      : digits.slice(match[0].length);
  if (plan.shape.test(digits) && !plan.shape.test(rest)) return digits;
  const { lengths } = ownPlan(rest, plan);
  return lengths.has(rest.length) || rest.length > Math.max(...lengths) ? rest : digits;
}

/** Forms that people write and the library does not read. */
function otherReading(digits: string, plan: NumberingPlan): string | null {
  // The 9 of Argentina's mobile phones before the trunk digits: 9 11 15 2345 6789 and 9 011 2345 6789.
  if (plan.callingCode === ARGENTINA && digits.startsWith('9')) {
    const rest = withoutPrefix(digits.slice(1), plan);
    return rest.startsWith('9') ? rest : `9${rest}`;
  }
  // A trunk digit that looks like the code of a carrier: 0 300 123 4567 in Colombia, where 03 is one.
  return plan.trunk !== '' && digits.startsWith(plan.trunk) ? digits.slice(plan.trunk.length) : null;
}

// A phone as a person types or pastes it. Partners send phones by D11 alone: what is cleaned here is refused there.

/** `ext. 12`, `anexo 12`, `x12`, `;ext=12`, `#12`: the words of the countries that the service knows. */
const EXTENSION =
  /[\s,;(]{0,8}(?:ext(?:ensi[oó]n|ens[aã]o)?|anexo|interno|int|ramal|x|#)[.:=\s]{0,8}\d{1,6}\s{0,8}\)?$/iu;

/**
 * The text in the characters that D11 reads: full-width digits and all kinds of dashes and spaces become those of
 * ASCII. Marks of direction from a copied contact are dropped, and so are `tel:` and an extension, because no phone is
 * stored with one.
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

/** True if a text is in E.164 form. */
export function isPhone(text: string): text is Phone {
  return E164.test(text);
}

/** Takes a text that should be in E.164 form. Throws a `TypeError` if the text is not. */
export function toPhone(text: string): Phone {
  if (!isPhone(text)) throw new TypeError('a phone is not in E.164 form');
  return text;
}

/**
 * The phone of an E.164 text from the store or the channel: as the plan reads it, or unchanged if no plan can read it.
 * Such a number belongs to somebody, so it is never refused. Null for any other text.
 */
export function knownPhone(text: string): Phone | null {
  return readInternational(text) ?? (isPhone(text) ? text : null);
}

/** For phones that come without an application. */
const NO_CURRENCY = () => null;

/**
 * `text` as an E.164 number (`+573001234567`), or null if D11 refuses it.
 *
 * `text` is trimmed and not empty. It may hold ASCII digits, spaces, dots, hyphens, parentheses and one `+` before the
 * first digit. With `+` or a leading `00` the number is read by the plan of its country code. Other numbers are read as
 * numbers of the partner's own country if they are valid there, else as international ones. Countries with one calling
 * code (+1, +7, +44 ...) dial each other without the code, so they count as one country here. `namedCurrency` tells the
 * valid currency that the application names; it is called only if a number has no country code.
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
 * If the application names the currency of other countries and the digits are a number there too, nobody guesses whose
 * phone it is. A currency that several countries have (USD, EUR) stands for each of them.
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

/** The E.164 form of digits if they are a valid number as dialled in the country, else null. */
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
  // If a line has two forms, a plan knows one of them. The other form is as good, and stays as it was sent.
  const other = foldPhone(e164);
  return other !== e164 && readNumber(other.slice(start), plan, least) !== null ? e164 : null;
}

/**
 * Null for a number longer than E.164 allows. A few plans (Germany, Japan ...) have such numbers, and normalising them
 * twice would change them.
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

// Finds the country of a phone by its calling code.

const LONGEST_CALLING_CODE = 3;
/** Ascension and Tristan da Cunha have their own numbering plans, but ISO counts them as part of Saint Helena. */
const PART_OF_SAINT_HELENA = ['AC', 'TA'];

/**
 * The country of an E.164 number (`+573001234567`). If several countries share the calling code (+1, +7, +44 ...),
 * libphonenumber decides by the number. A number that is valid in none of them counts for the largest. Null if the code
 * is unassigned or belongs to no country of ISO 3166-1 (free phone, satellite, Kosovo).
 */
export function countryOfPhone(e164: string): Country | null {
  const sharing = countriesOfCode(e164);
  const known = sharing.length > 1 ? parsePhoneNumber(e164)?.country : undefined;
  const region = known ?? sharing[0] ?? '';
  const country = PART_OF_SAINT_HELENA.includes(region) ? 'SH' : region;
  return isCountry(country) ? country : null;
}

/** The countries of a number's calling code, the largest first; none for a code of no country. */
function countriesOfCode(e164: string): readonly string[] {
  for (let length = 1; length <= LONGEST_CALLING_CODE; length++) {
    const countries = metadata.country_calling_codes[e164.slice(1, 1 + length)];
    if (countries !== undefined) return countries;
  }
  return [];
}
