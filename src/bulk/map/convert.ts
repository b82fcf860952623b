/**
 * Converts rows to applications as the interface takes them. Only cells with one meaning are converted. Other cells are
 * sent as they are, for the service's rules to judge, or are refused here where the service would store a wrong value.
 */
import type { FieldName, Rule } from '../../domain/application/fields.ts';
import { type Cell, type FileRow, isEmpty, Unusable } from '../read/table.ts';
import { type Decimal, readAmount } from './amount.ts';
import type { Mapping } from './columns.ts';
import { type ConsentWords, plainWord } from './consent.ts';
import { foldWord, type ValueWords } from './values.ts';

export interface Conversion {
  readonly decimal: Decimal | null;
  readonly consent: ConsentWords;
  readonly values: ValueWords;
}

/** The reason why a cell is refused. */
export interface CellFault {
  readonly field: FieldName;
  readonly column: number;
  readonly ambiguous: boolean;
  /** Never quotes the value. */
  readonly text: string;
}

/** A row with the application that it becomes. */
export interface ConvertedRow {
  readonly row: FileRow;
  /** Values by the documented names, without blank and refused cells. */
  readonly application: Readonly<Record<string, unknown>>;
  /** The refused cells. A row with one is not sent, nor is a row with a fault of its own. */
  readonly faults: readonly CellFault[];
  /** The converted cells. */
  readonly changes: readonly CellChange[];
}

export interface CellChange {
  readonly field: FieldName;
  readonly change: Change;
}
export type Change =
  | 'decimal comma'
  | 'thousands separators'
  | 'number written as text'
  | 'word for consent'
  | 'word of --map';

const AMBIGUOUS =
  'the amount is ambiguous (the point or comma may separate thousands or decimals): add --decimal comma or --decimal point';
const CUT_NUMBER =
  'the spreadsheet cut the number (more than 15 digits, or an exponent): format the column as text';
const SHORTENED = /^\d([.,]\d+)?[eE]\+\d+$/;

const NONE: readonly never[] = [];

/** Reads a cell with a value. Gives the value to send, an `UnconvertedCell` or a `Changed`. */
type ReadCell = (cell: Cell) => unknown;

class UnconvertedCell {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

class Changed {
  readonly value: unknown;
  readonly change: Change;
  constructor(value: unknown, change: Change) {
    this.value = value;
    this.change = change;
  }
}

/** A function that converts the rows of one file. */
export function converter({ fields }: Mapping, conversion: Conversion): (row: FileRow) => ConvertedRow {
  const readers = fields.map(({ field, columns }) => {
    return { field: field.name, columns, read: readerOf(field.name, field.rule, conversion) };
  });
  return (row) => {
    const application: Record<string, unknown> = {};
    if (row.fault !== null) return { row, application, faults: NONE, changes: NONE };
    let faults: CellFault[] | undefined;
    let changes: CellChange[] | undefined;
    for (const { field, columns, read } of readers) {
      const column = columns.find((one) => !isEmpty(row.cells[one]));
      if (column === undefined) continue;
      const value = read(row.cells[column] ?? null);
      if (value instanceof UnconvertedCell) {
        faults ??= [];
        faults.push({ field, column, ambiguous: value.text === AMBIGUOUS, text: value.text });
      } else if (value instanceof Changed) {
        changes ??= [];
        changes.push({ field, change: value.change });
        application[field] = value.value;
      } else {
        application[field] = value;
      }
    }
    return { row, application, faults: faults ?? NONE, changes: changes ?? NONE };
  };
}

function readerOf(name: FieldName, rule: Rule, conversion: Conversion): ReadCell {
  const read = withWords(readerOfUsable(name, rule, conversion), conversion.values.get(name));
  return (cell) => {
    if (typeof cell === 'string') return read(cell);
    return cell instanceof Unusable ? new UnconvertedCell(`it is ${cell.what}`) : read(cell);
  };
}

/** Reads the words that the person gave a value before all others. */
function withWords(read: ReadCell, words: ReadonlyMap<string, unknown> | undefined): ReadCell {
  if (words === undefined) return read;
  return (cell) => {
    const meant = typeof cell === 'object' ? undefined : words.get(foldWord(String(cell)));
    return meant === undefined ? read(cell) : new Changed(meant, 'word of --map');
  };
}

function readerOfUsable(name: FieldName, rule: Rule, { decimal, consent }: Conversion): ReadCell {
  if (rule.kind === 'amount') return (cell) => amountOf(cell, decimal);
  if (rule.kind === 'consent') return (cell) => consentOf(cell, consent);
  return rule.kind === 'phone' || name === 'id_number' ? digitsOf : textOf;
}

function textOf(cell: Cell): unknown {
  if (typeof cell !== 'number') return cell;
  if (!Number.isSafeInteger(cell) || Math.abs(cell) >= 1e15) return new UnconvertedCell(CUT_NUMBER);
  return new Changed(String(cell), 'number written as text');
}

/** Reads a text whose characters are digits in fact. */
function digitsOf(cell: Cell): unknown {
  return typeof cell === 'string' && SHORTENED.test(cell.trim())
    ? new UnconvertedCell(CUT_NUMBER)
    : textOf(cell);
}

function amountOf(cell: Cell, decimal: Decimal | null): unknown {
  if (typeof cell !== 'string') return cell;
  const amount = readAmount(cell.trim(), decimal);
  if (amount.kind === 'ambiguous') return new UnconvertedCell(AMBIGUOUS);
  if (amount.kind === 'other') return cell;
  const value = Number(amount.text);
  // The service itself refuses such a text.
  if (!Number.isFinite(value) || value === 0) return cell;
  return amount.change === null ? value : new Changed(value, amount.change);
}

function consentOf(cell: Cell, consent: ConsentWords): unknown {
  if (typeof cell !== 'string' && typeof cell !== 'number') return cell;
  const word = plainWord(String(cell));
  const meant = consent.get(word);
  if (meant === undefined) return cell;
  return word === 'true' || word === 'false' ? meant : new Changed(meant, 'word for consent');
}
