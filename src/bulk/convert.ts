/**
 * From rows to applications as the interface takes them. Only what has one meaning is converted; the rest goes as it
 * is, for the service's own rules to judge, or is refused here where sending it would store something wrong.
 */
import type { FieldName, Rule } from '../domain/fields.ts';
import { type Decimal, readAmount } from './amount.ts';
import type { MappedField, Mapping } from './columns.ts';
import { type ConsentWords, simple } from './consent.ts';
import { type Cell, isEmpty, type Row, Unusable } from './table.ts';

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
export interface Item {
  readonly row: Row;
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
type OnChange = (field: FieldName, change: Change) => void;

const AMBIGUOUS =
  'it could be a thousand times more or less (the point or comma may part thousands or decimals): say --decimal comma or --decimal point';
const CUT_NUMBER =
  'the spreadsheet cut the number (more than 15 digits, or an exponent): make the column text';
const SHORTENED = /^\d([.,]\d+)?[eE]\+\d+$/;

const NONE: readonly never[] = [];

/** A function that converts rows of one file. */
export function converter({ fields }: Mapping, conversion: Conversion): (row: Row) => Item {
  return (row) => {
    const application: Record<string, unknown> = {};
    if (row.fault !== null) return { row, application, faults: NONE, changes: NONE };
    let faults: CellFault[] | undefined;
    let changes: CellChange[] | undefined;
    const onChange: OnChange = (field, change) => {
      changes ??= [];
      changes.push({ field, change });
    };
    for (const mapped of fields) {
      const column = columnInUse(row, mapped);
      if (column === undefined) continue;
      const { name, rule } = mapped.field;
      const value = convert(row.cells[column] as Cell, name, rule, conversion, onChange);
      if (value instanceof Refusal) {
        faults ??= [];
        faults.push({ field: name, column, ambiguous: value.text === AMBIGUOUS, text: value.text });
      } else {
        application[name] = value;
      }
    }
    return { row, application, faults: faults ?? NONE, changes: changes ?? NONE };
  };
}

class Refusal {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function columnInUse({ cells }: Row, { columns }: MappedField): number | undefined {
  for (const column of columns) if (!isEmpty(cells[column])) return column;
  return undefined;
}

function convert(
  value: Cell,
  name: FieldName,
  rule: Rule,
  conversion: Conversion,
  onChange: OnChange,
): unknown {
  if (value instanceof Unusable) return new Refusal(`it is ${value.what}`);
  if (rule.kind === 'amount')
    return typeof value === 'string' ? amountOf(value, name, conversion, onChange) : value;
  if (rule.kind === 'consent') return consentOf(value, name, conversion, onChange);
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || Math.abs(value) >= 1e15) return new Refusal(CUT_NUMBER);
    onChange(name, 'number written as text');
    return String(value);
  }
  const numeric = rule.kind === 'phone' || name === 'id_number';
  if (numeric && typeof value === 'string' && SHORTENED.test(value.trim())) return new Refusal(CUT_NUMBER);
  return value;
}

function amountOf(cell: string, name: FieldName, { decimal }: Conversion, onChange: OnChange): unknown {
  const amount = readAmount(cell.trim(), decimal);
  if (amount.kind === 'ambiguous') return new Refusal(AMBIGUOUS);
  if (amount.kind === 'other') return cell;
  const value = Number(amount.text);
  // The service refuses these as they stand.
  if (!Number.isFinite(value) || value === 0) return cell;
  if (amount.change !== null) onChange(name, amount.change);
  return value;
}

function consentOf(cell: Cell, name: FieldName, { consent }: Conversion, onChange: OnChange): unknown {
  if (typeof cell !== 'string' && typeof cell !== 'number') return cell;
  const word = simple(String(cell));
  const meant = consent.get(word);
  if (meant === undefined) return cell;
  if (word !== 'true' && word !== 'false') onChange(name, 'word for consent');
  return meant;
}
