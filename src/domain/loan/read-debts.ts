/**
 * Reads the debts that an applicant writes in the chat, one a line: "Banco Azul 1.500.000" (D52; docs/conversation.md,
 * "The debts"). Pure. Nothing is guessed: a line that could mean two things is asked back by its number.
 */
import type { Country } from '../../ground/base/country-data.ts';
import { languageOfCountry } from '../../ground/base/language.ts';
import { isCurrency } from '../money/currency.ts';
import { type Decimal, power, readDecimal, unitsAt } from '../money/decimal.ts';
import { minorDigits, moneyText } from '../money/money.ts';
import { type Debt, debtFault, listFault, MOST_DEBTS, sumOf } from './debt.ts';

/** Why a line is asked back: it cannot be read, it names another currency, or the list has the debt already. */
export type LineFault = 'unclear' | 'currency' | 'twice';

/** What was read: a list, or the lines that the person has to write again (from 1 on), or too many lines. */
export type ReadDebts =
  | { readonly kind: 'list'; readonly debts: readonly Debt[] }
  | { readonly kind: 'again'; readonly fault: LineFault; readonly lines: readonly number[] }
  | { readonly kind: 'too_many' };

const LONGEST = 4_000;
const MULTIPLIERS = {
  thousand: 'mil|k|thousand',
  million: 'mill[oó]n(?:es)?|milh[aãoõ]es|milh[aã]o|millions?|mi',
} as const;
const NUMBER = String.raw`\d{1,3}(?:[.,'’ ]\d{3})+(?:[.,]\d{1,2})?(?![.,]?\d)|\d+(?:[.,]\d+)*`;
const SIGN = String.raw`US\$|R\$|S\/\.?|\$|€|\b[A-Z]{3}\b\s*\$?`;
const UNIT = `${MULTIPLIERS.million}|${MULTIPLIERS.thousand}`;
const WORD_OF_CURRENCY =
  'd[oó]lares(?: americanos)?|dollars?|euros?|reais|soles|pesos(?: colombianos| mexicanos| chilenos| argentinos)?';
const AMOUNT = new RegExp(
  String.raw`(?<sign>${SIGN})?\s*(?<![\p{L}\d])(?<number>${NUMBER})(?:\s*(?<unit>${UNIT})(?![\p{L}]))?` +
    String.raw`(?:\s+(?:y\s+|e\s+|and\s+)?(?<rest>\d{1,3})\s*(?:${MULTIPLIERS.thousand})(?![\p{L}]))?` +
    String.raw`(?:\s*(?:de\s+)?(?<word>${WORD_OF_CURRENCY}|[A-Z]{3})(?![\p{L}]))?`,
  'giu',
);
const BULLET = /^\s*(?:[-*•–—·]+\s*|\d{1,2}\s*[.)]\s+|\d{1,2}\s*[-–]\s+)/u;
const REFERENCE =
  /(?:#|(?<![\p{L}\d])(?:n[°º]|(?:nro|n[uú]m|ref)(?:erencia|[eé]ncia|ero)?\b\.?|reference\b|cuenta\b|conta\b|account\b|terminad[ao] en|ending in))\s*:?\s*(?<reference>[*xX]*[\dA-Za-z-]*\d[\dA-Za-z-]*)/iu;
/** Words before a creditor in a sentence such as "debo 800 mil a Nu". */
const OWING =
  /^(?:(?:le |les )?(?:debo|devo)|i owe|(?:la |el |mi )?deuda(?: de| con| en)?:?)(?![\p{L}])\s*/iu;
const TO = /^(?:al?|a la|en|con|to|at|with|n[ao]|ao|para)(?![\p{L}])\s*/iu;
const DENIAL = /^(?:no|n[aã]o|not)(?![\p{L}])/iu;
const EDGES = /^[\s:;,.=()[\]–—-]+|[\s:;,=()[\]–—-]+$/gu;
const SUM = /^(?:el |o |the )?(?:total|suma|soma|sum)$/iu;

/** In these currencies a thousand buys next to nothing, so "1.500" may be a short form of 1,500,000. */
const OF_SMALL_UNITS: readonly string[] = ['ARS', 'CLP', 'COP', 'CRC', 'PYG'];
const LEAST_OF_SMALL_UNITS = 10_000n;

/** Whether a text may be a list of debts: it has a line with letters and an amount of at least three digits. */
export function isListOfDebts(text: string): boolean {
  return text.length <= LONGEST && linesOf(text).some(({ words }) => hasAmount(words));
}

function hasAmount(words: string): boolean {
  return [...words.matchAll(AMOUNT)].some(({ groups }) => {
    const { number = '', unit } = groups ?? {};
    const isAmount = number.replace(/\D/g, '').length >= 3 || unit !== undefined;
    return isAmount && /\p{L}/u.test(words.replace(number, ' '));
  });
}

/** The debts of a text. `today` is the day of their balances (YYYY-MM-DD), `country` tells how numbers are written. */
export function readDebts(
  text: string,
  {
    currency,
    country,
    today,
  }: { readonly currency: string; readonly country: Country; readonly today: string },
): ReadDebts {
  const lines = text.length > LONGEST ? [] : linesOf(text);
  if (lines.length > MOST_DEBTS + 2) return { kind: 'too_many' };
  const debts: Debt[] = [];
  const faults = new Map<LineFault, number[]>();
  const decimal = decimalOf(country);
  for (const [index, { number, words }] of lines.entries()) {
    // A heading such as "mis deudas son:".
    if (index === 0 && words.endsWith(':') && !/\d/.test(words)) continue;
    const debt = debtOf(words, { currency, decimal, today });
    if (typeof debt === 'object' && SUM.test(debt.creditor) && isSum(debt, debts, currency)) continue;
    const fault = typeof debt === 'string' ? debt : faultOf(debt, debts, { currency, today });
    if (fault === null) debts.push(debt as Debt);
    else faults.set(fault, [...(faults.get(fault) ?? []), number]);
  }
  const told = debts.length + [...faults.values()].flat().length;
  if (told > MOST_DEBTS) return { kind: 'too_many' };
  for (const fault of ['unclear', 'currency', 'twice'] as const) {
    const found = faults.get(fault);
    if (found !== undefined) return { kind: 'again', fault, lines: found };
  }
  return debts.length === 0 ? { kind: 'again', fault: 'unclear', lines: [1] } : { kind: 'list', debts };
}

function faultOf(
  debt: Debt,
  before: readonly Debt[],
  { currency, today }: { readonly currency: string; readonly today: string },
): LineFault | null {
  if (debtFault(debt, currency, today) !== null || SUM.test(debt.creditor)) return 'unclear';
  // A list that is too long is told as such.
  const isFull = before.length >= MOST_DEBTS;
  return !isFull && listFault(before, [debt], currency) !== null ? 'twice' : null;
}

/** A line under the others that adds them up. */
function isSum({ balance }: Debt, before: readonly Debt[], currency: string): boolean {
  return before.length > 0 && sumOf([{ balance }], currency) === sumOf(before, currency);
}

/** The lines with text, and the number of each among them. A list in one line has a comma or a semicolon between. */
function linesOf(text: string): { readonly number: number; readonly words: string }[] {
  const plain = text.normalize('NFKC');
  const lines = plain.split(/[\n;]/);
  const written = lines.map((line) => line.replace(BULLET, '').trim()).filter((line) => line !== '');
  const [only = ''] = written;
  const parts = written.length === 1 ? only.split(/,\s+(?=\p{L})/u) : [];
  const all = parts.length > 1 && parts.every(hasAmount) ? parts : written;
  return all.map((words, index) => ({ number: index + 1, words: words.trim() }));
}

function debtOf(
  line: string,
  {
    currency,
    decimal,
    today,
  }: { readonly currency: string; readonly decimal: string; readonly today: string },
): Debt | LineFault {
  const reference = REFERENCE.exec(line)?.groups?.reference ?? null;
  const words = reference === null ? line : line.replace(REFERENCE, ' ');
  const amounts = [...words.matchAll(AMOUNT)];
  const [amount] = amounts;
  if (amount === undefined || amounts.length > 1) return 'unclear';
  const { sign = '', number = '', unit = '', rest, word = '' } = amount.groups ?? {};
  const isCode = /^[A-Z]{3}$/.test(word) && isCurrency(word);
  const before = words.slice(0, amount.index);
  const after = `${word !== '' && !isCode && /^[A-Z]{3}$/i.test(word) ? word : ''}${words.slice(amount.index + amount[0].length)}`;
  const named = [namedBySign(sign), namedByWord(isCode || word.length > 3 ? word : '')];
  if (named.some((codes) => codes !== null && !codes.includes(currency))) return 'currency';
  const balance = balanceOf({ number, unit, rest }, { currency, decimal });
  const creditor = creditorOf(`${before}${leftOfSign(sign)}`, after);
  if (balance === null || creditor === null) return 'unclear';
  return { creditor, reference, balance, asOf: today, overdueSince: null };
}

/** The text before or after the amount; null: there is none, or both. */
function creditorOf(before: string, after: string): string | null {
  const head = before.replace(EDGES, '').replace(OWING, '').replace(EDGES, '');
  const tail = after.replace(EDGES, '').replace(TO, '').replace(EDGES, '');
  if ((head === '') === (tail === '') || DENIAL.test(head)) return null;
  return (head === '' ? tail : head).replaceAll(/\s+/g, ' ');
}

/** A word of three letters before the amount that is no currency belongs to the creditor. */
function leftOfSign(sign: string): string {
  const code = /^[A-Za-z]{3}/.exec(sign)?.[0] ?? '';
  return code !== '' && !isCurrency(code) ? code : '';
}

/** The currencies that a sign before an amount can mean; null: any. */
function namedBySign(sign: string): readonly string[] | null {
  const plain = sign.replaceAll(/[\s.]/g, '');
  if (plain === '€') return ['EUR'];
  if (/^US\$$/i.test(plain)) return ['USD'];
  if (/^R\$$/i.test(plain)) return ['BRL'];
  if (/^S\/$/i.test(plain)) return ['PEN'];
  const code = /^[A-Za-z]{3}/.exec(plain)?.[0] ?? '';
  return isCurrency(code) ? [code] : null;
}

const PESOS: readonly string[] = ['ARS', 'CLP', 'COP', 'CUP', 'DOP', 'MXN', 'PHP', 'UYU'];
const OF_PESOS = { colombianos: 'COP', mexicanos: 'MXN', chilenos: 'CLP', argentinos: 'ARS' } as const;

/** The currencies that a word behind an amount can mean; null: any. */
function namedByWord(word: string): readonly string[] | null {
  const plain = word.toLowerCase();
  if (/^(?:d[oó]lares|dollar)/.test(plain)) return ['USD'];
  if (plain.startsWith('euro')) return ['EUR'];
  if (plain === 'reais') return ['BRL'];
  if (plain === 'soles') return ['PEN'];
  if (plain.startsWith('pesos')) {
    const [, country] = plain.split(' ');
    return country === undefined ? PESOS : [OF_PESOS[country as keyof typeof OF_PESOS]];
  }
  return isCurrency(word) ? [word] : null;
}

/** The character that begins the decimals in a country. */
function decimalOf(country: Country): string {
  const format = new Intl.NumberFormat(`${languageOfCountry(country)}-${country}`);
  return format.formatToParts(1.5).find(({ type }) => type === 'decimal')?.value ?? '.';
}

/** The balance as an exact decimal of the currency, rounded as amounts are; null: it could be two numbers. */
function balanceOf(
  {
    number,
    unit,
    rest,
  }: { readonly number: string; readonly unit: string; readonly rest: string | undefined },
  { currency, decimal }: { readonly currency: string; readonly decimal: string },
): string | null {
  const isMillion = new RegExp(`^(?:${MULTIPLIERS.million})$`, 'iu').test(unit);
  if (rest !== undefined && !isMillion) return null;
  const value = numberOf(number, unit === '' ? decimal : null);
  if (value === null) return null;
  const factor = unit === '' ? 1n : isMillion ? 1_000_000n : 1_000n;
  const whole: Decimal = {
    units: value.units * factor + BigInt(rest ?? 0) * 1_000n * power(value.scale),
    scale: value.scale,
  };
  const digits = minorDigits(currency);
  const minor = unitsAt(whole, digits);
  const isTooSmall = OF_SMALL_UNITS.includes(currency) && minor < LEAST_OF_SMALL_UNITS * power(digits);
  return isTooSmall || minor === 0n ? null : moneyText(minor, currency);
}

/** The value of a number; null: it could be two. `decimal` null: a word such as "mil" follows. */
function numberOf(number: string, decimal: string | null): Decimal | null {
  // Millions with an apostrophe, as Colombia writes them: 2'500.000.
  const joined = number.replace(/^(\d{1,3})['’](\d{3}([.,])\d{3})/, '$1$3$2').replaceAll(/['’ ]/g, '');
  const plain = (text: string) => readDecimal(text);
  if (/^\d+$/.test(joined)) return plain(joined);
  if (/^\d{1,3}(?:\.\d{3})+,\d{1,2}$|^\d{1,3}(?:\.\d{3}){2,}$/.test(joined))
    return decimal === null ? null : plain(joined.replaceAll('.', '').replace(',', '.'));
  if (/^\d{1,3}(?:,\d{3})+\.\d{1,2}$|^\d{1,3}(?:,\d{3}){2,}$/.test(joined))
    return decimal === null ? null : plain(joined.replaceAll(',', ''));
  if (/^\d+[.,]\d{1,2}$/.test(joined)) return plain(joined.replace(',', '.'));
  const [, whole, sign, group] = /^([1-9]\d{0,2})([.,])(\d{3})$/.exec(joined) ?? [];
  return whole !== undefined && decimal !== null && sign !== decimal ? plain(`${whole}${group}`) : null;
}
