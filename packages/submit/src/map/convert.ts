/**
 * Converts rows to applications as the interface takes them. Only cells with one meaning are converted. Other cells are
 * sent as they are, for the service's rules to judge, or are refused here where the service would store a wrong value.
 */
import type { FieldName } from '../../../../src/domain/application/fields.ts';
import type { Words } from '../../../../src/ground/base/language.ts';
import type { NamedCurrency } from '../read/currency-words.ts';
import { type FileRow, isEmpty } from '../read/table.ts';
import { AmountInCurrency, currencyOfAmounts, usualCurrency } from './amount-currency.ts';
import {
  AMBIGUOUS,
  type Change,
  Changed,
  type Conversion,
  readerOf,
  type Texts,
  UnconvertedCell,
} from './cell-readers.ts';
import type { Mapping } from './columns.ts';

/** The reason why a cell is refused. */
export interface CellFault {
  readonly field: FieldName;
  readonly column: number;
  readonly ambiguous: boolean;
  /** Never quotes the value. */
  readonly text: Words;
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

/** The amounts of a row that name a currency. */
type NamedCurrencies = Map<FieldName, { readonly column: number; readonly currency: NamedCurrency }>;

const NONE: readonly never[] = [];

/** A function that converts the rows of one file. */
export function converter(
  { fields }: Mapping,
  conversion: Conversion,
  texts: Texts,
): (row: FileRow) => ConvertedRow {
  const readers = fields.map(({ field, columns }) => {
    return { field: field.name, columns, read: readerOf(field.name, field.rule, conversion, texts) };
  });
  const amounts = fields.filter(({ field }) => field.rule.kind === 'amount').map(({ field }) => field.name);
  return (row) => {
    const application: Record<string, unknown> = {};
    if (row.fault !== null) return { row, application, faults: NONE, changes: NONE };
    let faults: CellFault[] | undefined;
    let changes: CellChange[] | undefined;
    let named: NamedCurrencies | undefined;
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
      } else if (value instanceof AmountInCurrency) {
        named ??= new Map();
        named.set(field, { column, currency: value.currency });
        application[field] = value.value;
      } else {
        application[field] = value;
      }
    }
    // A row with a fault is not sent.
    if (named === undefined || faults !== undefined)
      return { row, application, faults: faults ?? NONE, changes: changes ?? NONE };
    const plain = { row, application, faults: NONE, changes: changes ?? NONE };
    return withCurrency(plain, amounts, named, usualCurrency(application.phone, conversion.country));
  };
}

/** The row in the currency that its amounts name, or with the faults of these amounts. */
function withCurrency(
  converted: ConvertedRow,
  amounts: readonly FieldName[],
  named: NamedCurrencies,
  usual: string | null,
): ConvertedRow {
  const { application } = converted;
  const present = amounts.filter((field) => application[field] !== undefined);
  const found = currencyOfAmounts(
    application.currency,
    present.map((field) => named.get(field)?.currency ?? null),
    usual,
  );
  if ('fault' in found) {
    const faults = Array.from(named, ([field, { column }]) => {
      return { field, column, ambiguous: false, text: found.fault };
    });
    const kept = Object.entries(application).filter(([field]) => !named.has(field as FieldName));
    return { ...converted, application: Object.fromEntries(kept), faults };
  }
  if (found.code === null) return converted;
  const change: CellChange = { field: 'currency', change: 'currency beside the amount' };
  return {
    ...converted,
    application: { ...application, currency: found.code },
    changes: [...converted.changes, change],
  };
}
