/**
 * Calendar months, and how statements write them in Spanish, Portuguese and English. Pure. D44 and docs/income.md
 * ("What counts") say which months count.
 */
import { foldCharacters } from './fold.ts';

/** A calendar month: `2026-05`. */
export type Month = string;

/** The first letters of the months in Spanish, Portuguese and English; the whole names begin with them. */
const NAMES: readonly (readonly string[])[] = [
  ['ene', 'jan'],
  ['feb', 'fev'],
  ['mar'],
  ['abr', 'apr'],
  ['may', 'mai'],
  ['jun'],
  ['jul'],
  ['ago', 'aug'],
  ['sep', 'set'],
  ['oct', 'out'],
  ['nov'],
  ['dic', 'dez', 'dec'],
];
const NUMBER_OF = new Map(NAMES.flatMap((names, index) => names.map((name) => [name, index + 1] as const)));
const WHOLE = new Set(
  [
    'enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre',
    'janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro',
    'january february march april may june july august september october november december sept',
  ].flatMap((names) => names.split(' ')),
);

const BY_NAME = /^([a-z]{3,10})\.?(?:(?: de)?[ /.-]*(?:de )?(\d{4})|[/'-](\d{2}))(?![\d./-]?\d)/;
const BY_NUMBER = /^(?:(\d{4})[-/](0?[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/](\d{4}))(?![\d/-])/;

/** A month at the beginning of a line, and how many characters of the line name it; null if there is none. */
export function monthAt(line: string): { readonly month: Month; readonly length: number } | null {
  const text = foldCharacters(line).join('');
  const indent = text.length - text.trimStart().length;
  const named = BY_NAME.exec(text.slice(indent));
  if (named !== null) {
    const [whole, name = '', year, shortYear = ''] = named;
    const number = numberOf(name);
    if (number !== undefined) {
      return { month: monthOf(year ?? shortYear, number), length: indent + whole.length };
    }
  }
  const numbered = BY_NUMBER.exec(text.slice(indent));
  if (numbered === null) return null;
  const [whole, year, month, laterMonth, laterYear] = numbered;
  return {
    month: monthOf(year ?? laterYear ?? '', Number(month ?? laterMonth)),
    length: indent + whole.length,
  };
}

function numberOf(name: string): number | undefined {
  return name.length === 3 || WHOLE.has(name) ? NUMBER_OF.get(name.slice(0, 3)) : undefined;
}

function monthOf(year: string, month: number): Month {
  return `${year.length === 2 ? `20${year}` : year}-${String(month).padStart(2, '0')}`;
}

const DAY = /(?:^|\D)(?:(\d{4})-(\d{2})-(\d{2})|(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}))(?!\d)/;
const DAY_BY_NAME = /(?:^|\D)(\d{1,2})(?: de)? ([a-z]{3,10})\.?(?: de)? (\d{4})(?!\d)/;

/** The month of the first day that a text names, by number (day before month) or by name; null without one. */
export function monthOfDay(text: string): Month | null {
  const folded = foldCharacters(text).join('');
  const [, isoYear, isoMonth, , , month, year] = DAY.exec(folded) ?? [];
  const number = Number(isoMonth ?? month);
  if (number >= 1 && number <= 12) return monthOf(isoYear ?? year ?? '', number);
  const [, , name = '', namedYear = ''] = DAY_BY_NAME.exec(folded) ?? [];
  const named = numberOf(name);
  return named === undefined ? null : monthOf(namedYear, named);
}

/** The first day that a text names, written as for `monthOfDay`, as YYYY-MM-DD; null without one. */
export function dayIn(text: string): string | null {
  const folded = foldCharacters(text).join('');
  const [, isoYear, isoMonth, isoDay, firstDay, firstMonth, firstYear] = DAY.exec(folded) ?? [];
  const [, namedDay, name = '', namedYear] = DAY_BY_NAME.exec(folded) ?? [];
  const year = isoYear ?? firstYear ?? namedYear;
  const month = Number(isoMonth ?? firstMonth ?? numberOf(name));
  const day = Number(isoDay ?? firstDay ?? namedDay);
  if (year === undefined || !(month >= 1 && month <= 12)) return null;
  const isDay = day >= 1 && new Date(Date.UTC(Number(year), month - 1, day)).getUTCDate() === day;
  return isDay ? `${monthOf(year, month)}-${String(day).padStart(2, '0')}` : null;
}

/** The number of a month since the year 0, so that months can be counted. */
export function monthNumber(month: Month): number {
  return Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1;
}

/** Whether a text is a month as this program writes them. */
export function isMonth(text: string): boolean {
  return /^20\d{2}-(0[1-9]|1[0-2])$/.test(text);
}
