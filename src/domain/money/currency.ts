/** Finds the currency of an application's amounts (contract, "Application input"; D12). Pure. */
import {
  AREA_CODES,
  CALLING_CODE_CURRENCY,
  COUNTRY_CURRENCY,
  type Country,
  CURACAO_SECOND_DIGIT,
  CURRENCIES,
  type Currency,
  KAZAKH_SECOND_DIGITS,
  threeDigits,
} from '../../ground/base/country-data.ts';
import type { Phone } from '../phone/phone.ts';

const ACTIVE: ReadonlySet<string> = new Set(Object.keys(CURRENCIES));

/** True if `code` is an active ISO 4217 code of a circulating currency, in upper case (D12). */
export function isCurrency(code: string): code is Currency {
  return ACTIVE.has(code);
}

// Indexed by three digits, so that one look-up serves codes of two digits (57 fills 570 to 579) and of three.
const BY_CALLING_CODE: (Currency | null)[] = new Array(1000).fill(null);
for (const [code, currency] of Object.entries(CALLING_CODE_CURRENCY)) {
  const first = Number(code.padEnd(3, '0'));
  BY_CALLING_CODE.fill(currency, first, first + 10 ** (3 - code.length));
}
BY_CALLING_CODE.fill('USD', 100, 200);
BY_CALLING_CODE.fill('RUB', 700, 800);
for (const digit of KAZAKH_SECOND_DIGITS)
  BY_CALLING_CODE.fill('KZT', Number(`7${digit}0`), Number(`7${digit}9`) + 1);

const BY_AREA_CODE: Currency[] = new Array(1000).fill('USD');
for (const [currency, areaCodes] of AREA_CODES) {
  for (const areaCode of areaCodes.split(' ')) BY_AREA_CODE[Number(areaCode)] = currency;
}

/**
 * The currency of an E.164 number's country (`+573001234567`). Null if the country code is unassigned or belongs to no
 * country. For +1 the area code decides (unknown: USD), for +7 the range; 599 9 is Curaçao (D12).
 */
export function currencyOfPhone(e164: string): Currency | null {
  const code = threeDigits(e164, 1);
  if (code >= 100 && code < 200) return BY_AREA_CODE[threeDigits(e164, 2)] ?? 'USD';
  if (code === 599 && e164[4] === CURACAO_SECOND_DIGIT) return 'XCG';
  return BY_CALLING_CODE[code] ?? null;
}

const THREE_LETTERS = /^[A-Za-z]{3}$/;

/**
 * The currency that a JSON value names (D12): an active code after trimming and upper-casing. Null for any other value.
 */
export function namedCurrency(value: unknown): Currency | null {
  if (typeof value !== 'string') return null;
  if (isCurrency(value)) return value;
  const trimmed = value.trim();
  // Checked before upper-casing, because some letters of other scripts become ASCII in upper case (ſ becomes S).
  const code = THREE_LETTERS.test(trimmed) ? trimmed.toUpperCase() : '';
  return isCurrency(code) ? code : null;
}

/**
 * The currency of an application (D12), for any JSON value: the one that the value names; else that of the phone's
 * country; else that of the partner's country. Never throws.
 */
export function normaliseCurrency(value: unknown, phone: Phone | null, partnerCountry: Country): Currency {
  const named = namedCurrency(value);
  if (named !== null) return named;
  return (phone === null ? null : currencyOfPhone(phone)) ?? COUNTRY_CURRENCY[partnerCountry];
}
