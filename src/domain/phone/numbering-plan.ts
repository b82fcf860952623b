/**
 * Numbering plans of countries, from libphonenumber's metadata (D11). They read digits as the library's parser does,
 * and a test compares the two. The parser takes 5 to 40 microseconds a number, more than all other work on an
 * application.
 */
import type { CountryCode } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import { type Country, threeDigits } from '../../ground/base/country-data.ts';

/** The number of digits of a phone with country code (D11). */
export const MIN_DIGITS = 7;
export const MAX_DIGITS = 15;

/** The plan of a country, or of a calling code of no country. Digits are ASCII. */
export interface NumberingPlan {
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
  /** Where a country has this, it alone tells which numbers of a shared calling code are the country's. */
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
 * The plan of a country, made on first use, because a service has partners in few countries. Null where the library
 * does not know the country.
 */
export function planOfCountry(country: Country): NumberingPlan | null {
  return Object.hasOwn(metadata.countries, country) ? planOf(country) : null;
}

/**
 * The plan of a number with `+` and country code: that of the largest country with the code. Null where the code is
 * unassigned, and for a text that does not begin as such a number does.
 */
export function planOfNumber(e164: string): NumberingPlan | null {
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
  // A prefix that matches the empty text goes as well as none.
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
 * `possible` one of a length that the country has is taken too. Null where there is neither, and for a number that
 * would be read as another one itself: some digits of nobody have many trunk digits.
 */
export function readNumber(digits: string, plan: NumberingPlan, least: 'valid' | 'possible'): string | null {
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

/** The plan of the country that has the number; of numbers of nobody, the given one. */
function ownPlan(national: string, plan: NumberingPlan): NumberingPlan {
  if (plan.sharing.length === 1) return plan;
  return plan.sharing.find(({ leading, valid }) => (leading ?? valid).test(national)) ?? plan;
}

/** The library's rule: a prefix goes where what is left has the shape of a number, and is not too short for one. */
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

/** What people write and the library does not read. */
function otherReading(digits: string, plan: NumberingPlan): string | null {
  // The 9 of Argentina's mobile phones before the trunk digits: 9 11 15 2345 6789 and 9 011 2345 6789.
  if (plan.callingCode === ARGENTINA && digits.startsWith('9')) {
    const rest = withoutPrefix(digits.slice(1), plan);
    return rest.startsWith('9') ? rest : `9${rest}`;
  }
  // A trunk digit that looks like the code of a carrier: 0 300 123 4567 in Colombia, where 03 is one.
  return plan.trunk !== '' && digits.startsWith(plan.trunk) ? digits.slice(plan.trunk.length) : null;
}
