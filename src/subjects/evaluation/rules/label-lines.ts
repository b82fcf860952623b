/**
 * Reads the lines of a file of labels: what became of loans (docs/policy.md, "Labels"). CSV with the columns `id`,
 * `date` and `bad`, or JSON lines with these members. Pure.
 */
import { isCalendarDay } from '../../../ground/base/clock.ts';
import { counted } from '../../../ground/base/counted.ts';
import { ToldError } from '../../../ground/base/told-error.ts';

/** What became of the loan of an application. */
export interface Label {
  readonly id: number;
  /** The day on which this was known, `YYYY-MM-DD`. */
  readonly day: string;
  readonly isBad: boolean;
}

/** A label, or what is wrong with the line. */
export type LabelLine = Label | { readonly fault: string };

export type ReadLabel = (line: string) => LabelLine;

const COLUMNS = ['id', 'date', 'bad'] as const;

/**
 * The reader of the lines after the first one, which has the names of the columns; of JSON lines the reader of all.
 * Whether the first line is one of them is `isLabel`. `today` is the last day that a label may have. Throws `ToldError`
 * where the first line is neither.
 */
export function labelReader(first: string, today: string): { read: ReadLabel; isLabel: boolean } {
  if (first.trimStart().startsWith('{'))
    return { isLabel: true, read: (line) => checked(jsonValues(line), today) };
  const separator = [',', ';', '\t'].find((one) => first.includes(one)) ?? ',';
  const names = cellsOf(first, separator).map((name) => name.toLowerCase());
  const places = COLUMNS.map((column) => names.indexOf(column));
  const missing = COLUMNS.filter((_, index) => places[index] === -1);
  if (missing.length > 0)
    throw new ToldError(
      `the first line must have the columns id, date and bad: ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
    );
  return {
    isLabel: false,
    read: (line) => {
      const cells = cellsOf(line, separator);
      if (cells.length !== names.length)
        return { fault: `it has ${counted(cells.length, 'column')}, and the first line has ${names.length}` };
      return checked(
        places.map((place) => cells[place]),
        today,
      );
    },
  };
}

/** The cells of a line. None of the three columns needs quotes, so no cell holds a separator. */
function cellsOf(line: string, separator: string): string[] {
  return line.split(separator).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
}

/** null: the line is no object. */
function jsonValues(line: string): unknown[] | null {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return COLUMNS.map((name) =>
      Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : '',
    );
  } catch {
    return null;
  }
}

const ID = /^[1-9]\d{0,15}$/;
const FIRST_DAY = '2000-01-01';
const BAD: Readonly<Record<string, boolean>> = { 0: false, 1: true, false: false, true: true };

function checked(values: readonly unknown[] | null, today: string): LabelLine {
  if (values === null) return { fault: 'it is no JSON object' };
  const [id = '', day = '', bad = ''] = values.map((value) =>
    ['string', 'number', 'boolean'].includes(typeof value) ? `${value}` : '',
  );
  if (!ID.test(id) || !Number.isSafeInteger(Number(id)))
    return { fault: 'id must be the id of an application: a whole number from 1 on' };
  if (!isCalendarDay(day)) return { fault: 'date must be a day: YYYY-MM-DD' };
  if (day < FIRST_DAY || day > today)
    return { fault: `date must be from ${FIRST_DAY} on, and not in the future` };
  if (!Object.hasOwn(BAD, bad)) return { fault: 'bad must be 0 or 1' };
  return { id: Number(id), day, isBad: BAD[bad]! };
}

/**
 * The label that counts of two of one application: that of the newer day; of one day the one that says bad, because a
 * loan that went bad did so. So the order of files and lines does not matter.
 */
export function laterLabel(one: Label, other: Label): Label {
  if (one.day !== other.day) return one.day > other.day ? one : other;
  return one.isBad ? one : other;
}
