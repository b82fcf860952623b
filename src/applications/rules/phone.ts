/** Turns phone numbers as partners send them into E.164 (D11). `fold-phone` makes the form for comparison. */

import parsePhoneNumber, { type CountryCode, isSupportedCountry } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import type { Country } from '../../base/country-data.ts';

/** The number of digits with country code (D11). */
export const MIN_DIGITS = 7;
export const MAX_DIGITS = 15;

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
 * `text` as an E.164 number (`+573001234567`), or null where D11 refuses it.
 *
 * `text` is trimmed and not empty. It may hold ASCII digits, spaces, dots, hyphens, parentheses and one `+` before the
 * first digit. With `+` or a leading `00` the number is international and stays as it is: country codes are not
 * checked. Other numbers are read as numbers of the partner's own country where they are valid there, else as
 * international. Countries with one calling code (+1, +7, +44 ...) dial each other without the code, so they count as
 * one country here.
 */
export function normalisePhone(text: string, partnerCountry: Country): Phone | null {
  // Most numbers are in E.164 form already. The same text is returned, because a joined copy costs more to read later.
  if (isPhone(text)) return text;
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

  if (plus) return international(digits);
  if (digits.charCodeAt(0) === CODE_0 && digits.charCodeAt(1) === CODE_0)
    return international(digits.slice(2));
  if (digits.length < MIN_DIGITS || digits.length > MAX_DIGITS) return null;
  return readNational(digits, partnerCountry) ?? international(digits);
}

function international(digits: string): Phone | null {
  const phone = `+${digits}`;
  return isPhone(phone) ? phone : null;
}

/**
 * A country's number patterns from libphonenumber, for numbers that need no parse. The library's parse takes 5 to 40
 * microseconds a number, more than all other work on an application.
 */
interface Plan {
  readonly callingCode: string;
  /** A prefix that the library may remove or rewrite: an international or a national (trunk) prefix. */
  readonly prefixed: RegExp;
  /**
   * `prefixed` without the prefixes that look like the calling code, because their removal gives `+digits` too.
   */
  readonly prefixedBeyondCode: RegExp;
  /**
   * The shape of every national number of the calling code. Other digits are valid in none of its countries.
   */
  readonly possible: RegExp;
  /** Matches exactly the country's valid numbers. */
  readonly valid: RegExp;
  /**
   * The countries of the calling code in the library's order. Where a country has `leading`, only `leading` decides.
   */
  readonly sharing: readonly { readonly leading: RegExp | null; readonly valid: RegExp }[];
}

// Indexes in the library's metadata arrays (its METADATA.md, format 4). A test compares the plans with the parser.
const CALLING_CODE = 0;
const DIAL_OUT_PREFIX = 1;
const NATIONAL_PATTERN = 2;
const TRUNK_PREFIX = 5;
const TRUNK_PREFIX_PATTERN = 7;
const LEADING_DIGITS = 10;
const TYPES = 11;

type CountryMetadata = readonly (string | 0)[];
type NumberType = [pattern: string, lengths?: number[]] | 0;

function metadataOf(country: CountryCode): CountryMetadata {
  return metadata.countries[country] as unknown as CountryMetadata;
}

function validPattern(country: CountryMetadata): RegExp {
  const types = (country[TYPES] || []) as unknown as NumberType[];
  const alternatives = types.flatMap((type) => {
    if (type === 0 || !type[0]) return [];
    const lengths = type[1]?.map((length) => `\\d{${length}}$`).join('|') ?? '';
    return [`(?=${lengths})(?:${type[0]})`];
  });
  return new RegExp(`^(?=(?:${country[NATIONAL_PATTERN]})$)(?:${alternatives.join('|')})$`);
}

function makePlan(country: CountryCode): Plan {
  const callingCode = String(metadataOf(country)[CALLING_CODE]);
  const sharing = (metadata.country_calling_codes[callingCode] ?? [country]).map(metadataOf);
  const prefixes = sharing
    .flatMap((other) => [other[DIAL_OUT_PREFIX], other[TRUNK_PREFIX_PATTERN] || other[TRUNK_PREFIX]])
    .filter(Boolean)
    .join('|');
  return {
    callingCode,
    // A prefix pattern may match the empty text, which removes nothing. So a match must have a length.
    prefixed: new RegExp(`^(?:${prefixes})(?<!^)`),
    prefixedBeyondCode: new RegExp(`^(?:${prefixes})(?<!^(?:${callingCode})?)`),
    possible: new RegExp(`^(?:${sharing.map((other) => other[NATIONAL_PATTERN]).join('|')})$`),
    valid: validPattern(metadataOf(country)),
    sharing: sharing.map((other) => ({
      leading:
        sharing.length > 1 && other[LEADING_DIGITS] ? new RegExp(`^(?:${other[LEADING_DIGITS]})`) : null,
      valid: validPattern(other),
    })),
  };
}

const PLANS = new Map<Country, Plan | null>();

/**
 * The plan of a country, made on first use, because a service has partners in few countries. Null where the library
 * does not know the country.
 */
function planOf(country: Country): Plan | null {
  let plan = PLANS.get(country);
  if (plan === undefined) {
    plan = isSupportedCountry(country) ? makePlan(country) : null;
    PLANS.set(country, plan);
  }
  return plan;
}

function isValid(digits: string, plan: Plan): boolean {
  for (const { leading, valid } of plan.sharing) {
    if (leading?.test(digits)) return valid.test(digits);
    if (leading === null && valid.test(digits)) return true;
  }
  return plan.valid.test(digits);
}

/**
 * The E.164 form of `digits` where they are a valid number of the country, else null. Null also where that form is
 * `+digits`, because the caller uses `+digits` for null.
 */
function readNational(digits: string, country: Country): Phone | null {
  const plan = planOf(country);
  if (plan === null) return null;
  const { callingCode } = plan;
  if (digits.startsWith(callingCode)) {
    const asIs = plan.possible.test(digits) || plan.prefixedBeyondCode.test(digits);
    if (!asIs && !plan.prefixed.test(digits.slice(callingCode.length))) return null;
  } else if (!plan.prefixed.test(digits)) {
    return isValid(digits, plan) ? fitting(`+${callingCode}${digits}`) : null;
  }
  return readByLibrary(digits, country as CountryCode, callingCode);
}

/**
 * The slow and simple form of the rule: the result of libphonenumber for `digits` dialled in `country`, where the
 * number is valid and has the country's calling code. A test proves that `readNational` returns the same (up to
 * `+digits`).
 */
export function readByLibrary(digits: string, country: CountryCode, callingCode: string): Phone | null {
  const parsed = parsePhoneNumber(digits, { defaultCountry: country, extract: false });
  if (parsed === undefined || parsed.countryCallingCode !== callingCode || !parsed.isValid()) return null;
  return fitting(parsed.number);
}

/**
 * Null for a number longer than E.164 allows. A few plans (Germany, Japan ...) have such numbers, and they would not
 * normalise to themselves.
 */
function fitting(e164: string): Phone | null {
  return isPhone(e164) ? e164 : null;
}
