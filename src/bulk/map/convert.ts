/**
 * From rows to applications as the interface takes them. Only what has one meaning is converted; the rest goes as it
 * is, for the service's own rules to judge, or is refused here where sending it would store something wrong.
 */
import type { FieldName, Rule } from '../../domain/application/fields.ts';
import { type Cell, type FileRow, isEmpty, Unusable } from '../read/table.ts';
import { type Decimal, readAmount } from './amount.ts';
import type { Mapping } from './columns.ts';
import { type ConsentWords, plainWord } from './consent.ts';

export interface Conversion {
  readonly decimal: Decimal | null;
  readonly consent: ConsentWords;
}

/** Why a cell is not sent. */
export interface CellFault {
  readonly field: FieldName;
  readonly column: number;
  readonly ambiguous: boolean;
  /** Without the value. */
  readonly text: string;
}

/** A row as it would be sent. */
export interface ConvertedRow {
  readonly row: FileRow;
  /** Under the documented names, without what is blank and without what is refused. */
  readonly application: Readonly<Record<string, unknown>>;
  /** The cells that are refused. Not sent where there are any, nor where the row has a fault of its own. */
  readonly faults: readonly CellFault[];
  /** The cells that are sent as something else than they are in the file. */
  readonly changes: readonly CellChange[];
}

export interface CellChange {
  readonly field: FieldName;
  readonly change: Change;
}
export type Change = 'decimal comma' | 'thousands separators' | 'number written as text' | 'word for consent';

const AMBIGUOUS =
  'it could be a thousand times more or less (the point or comma may part thousands or decimals): say --decimal comma or --decimal point';
const CUT_NUMBER =
  'the spreadsheet cut the number (more than 15 digits, or an exponent): make the column text';
const SHORTENED = /^\d([.,]\d+)?[eE]\+\d+$/;

const NONE: readonly never[] = [];

/** What becomes of a cell that holds something: the value that is sent, or one of the two below. */
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

/** A function that converts rows of one file. */
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
      const value = read(row.cells[column] as Cell);
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
  const read = readerOfUsable(name, rule, conversion);
  return (cell) => {
    if (typeof cell === 'string') return read(cell);
    return cell instanceof Unusable ? new UnconvertedCell(`it is ${cell.what}`) : read(cell);
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

/** Of texts that are numbers in fact. */
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
  // The service refuses these as they stand.
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
