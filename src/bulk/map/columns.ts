/** Maps the columns of a file to fields: by documented names, by likely spellings, or by `--map`. */
import { type FieldName, type NamedField, namedFields } from '../../applications/rules/fields.ts';
import { BulkError } from '../read/bulk-error.ts';
import type { Table } from '../read/table.ts';
import { LIKELY, simplify } from './spellings.ts';

/** The fields as the service reads them. WhatsApp's names of the consent are among the names of its column. */
export const BULK_FIELDS = namedFields('whatsapp');

/** A field and the columns that it is read from: the first one with a value counts (D5). */
interface MappedField {
  readonly field: NamedField;
  readonly columns: readonly number[];
}

export interface Mapping {
  /** The fields that have a column, in the contract's order. */
  readonly fields: readonly MappedField[];
  /** The names of the columns that belong to no field. */
  readonly unused: readonly string[];
}

/** The parts of a table that columns are found by and that errors tell. */
type Named = Pick<Table, 'columns' | 'headerRow' | 'elsewhere'>;

/** The most columns that an error lists, and the most characters of each name. */
const SHOWN_COLUMNS = 40;
const SHOWN_CHARACTERS = 40;
/** A value of an applicant: an ID number, a phone, an amount or an e-mail address. A name of a column has none. */
const APPLICANT = /\d{4}|\d[\d .,-]{4}|@/;

/**
 * Maps columns to fields. The pairs of field (under any of its names) and column in `chosen` win. Then come the
 * documented names, which may be several for one field, in the contract's order. Last comes a single likely spelling.
 * Throws `BulkError` where a required field has no column, or several that are equally likely.
 */
export function mapColumns(
  file: string,
  table: Named,
  fields: readonly NamedField[],
  chosen: readonly (readonly [field: string, column: string])[],
): Mapping {
  const { columns } = table;
  const simple = columns.map(simplify);
  const wanted = chosenColumns(file, table, simple, fields, chosen);
  const taken = new Set([...wanted.values()]);
  const mapped: MappedField[] = [];
  for (const field of fields) {
    const free = (name: string) =>
      simple.flatMap((other, index) => (other === name && !taken.has(index) ? [index] : []));
    const explicit = wanted.get(field.name);
    const found = explicit === undefined ? guess(file, columns, field, free) : [explicit];
    if (found.length > 0) mapped.push({ field, columns: found });
  }
  const used = new Set(mapped.flatMap((one) => one.columns));
  const unused = columns.filter((name, index) => !used.has(index) && name !== '');
  refuseMissing(file, table, fields, mapped);
  return { fields: mapped, unused };
}

/** A function that says how many of some names belong to a field or are chosen columns. */
export function knownNameCounter(
  fields: readonly NamedField[],
  chosen: readonly (readonly [field: string, column: string])[],
): (names: readonly string[]) => number {
  const known = new Set([
    ...fields.flatMap(({ name, names }) => [...names.map(simplify), ...LIKELY[name]]),
    ...chosen.map(([, column]) => simplify(column)),
  ]);
  return (names) => names.filter((name) => known.has(simplify(name))).length;
}

/** True where the service refuses an application without the field. */
export function isRequired({ rule }: Pick<NamedField, 'rule'>): boolean {
  return rule.kind !== 'phone' && rule.kind !== 'label' && rule.kind !== 'currency';
}

/** The field of a name, in any spelling of its documented names; null where there is none. */
export function fieldNamed(text: string, fields: readonly NamedField[]): NamedField | null {
  const simple = simplify(text);
  return fields.find(({ names }) => names.some((name) => simplify(name) === simple)) ?? null;
}

function chosenColumns(
  file: string,
  table: Named,
  simple: readonly string[],
  fields: readonly NamedField[],
  chosen: readonly (readonly [string, string])[],
): Map<FieldName, number> {
  const wanted = new Map<FieldName, number>();
  for (const [name, column] of chosen) {
    const field = fieldNamed(name, fields);
    if (field === null) throw new BulkError(`--map: there is no field "${name}"`);
    const found = columnsNamed(column, table.columns, simple);
    const [index] = found;
    if (index === undefined) {
      throw new BulkError(
        `${file}: --map names a column "${column}", and there is none. ${columnsText(table)}`,
      );
    }
    if (found.length > 1) throw tooMany(file, table.columns, field, found);
    wanted.set(field.name, index);
  }
  return wanted;
}

/** The columns with the very name, else those with a spelling of it. */
function columnsNamed(name: string, columns: readonly string[], simple: readonly string[]): number[] {
  const indexesOf = (list: readonly string[], wanted: string) =>
    list.flatMap((other, index) => (other === wanted ? [index] : []));
  const exact = indexesOf(columns, name.trim());
  const wanted = simplify(name);
  return exact.length > 0 || wanted === '' ? exact : indexesOf(simple, wanted);
}

/**
 * The columns of a field that `--map` does not name. `free` finds the columns with a simplified name that `--map` has
 * not taken. Throws `BulkError` where one name fits several columns.
 */
function guess(
  file: string,
  columns: readonly string[],
  field: NamedField,
  free: (name: string) => number[],
): number[] {
  const documented = field.names.map((name) => free(simplify(name)));
  const twice = documented.find((found) => found.length > 1);
  if (twice !== undefined) throw tooMany(file, columns, field, twice);
  if (documented.some((found) => found.length > 0)) return documented.flat();
  const likely = LIKELY[field.name].flatMap(free);
  if (likely.length > 1) throw tooMany(file, columns, field, likely);
  return likely;
}

function tooMany(
  file: string,
  columns: readonly string[],
  field: NamedField,
  found: readonly number[],
): BulkError {
  const named = found.map((index) => `"${columns[index]}" (column ${index + 1})`).join(' and ');
  return new BulkError(
    `${file}: ${named} could all be ${field.name}. Choose one: --map ${field.name}=COLUMN (first rename one if the names are equal)`,
  );
}

function refuseMissing(
  file: string,
  table: Named,
  fields: readonly NamedField[],
  mapped: readonly MappedField[],
): void {
  const { columns, headerRow } = table;
  const missing = fields.filter(
    (field) => isRequired(field) && !mapped.some((one) => one.field.name === field.name),
  );
  if (missing.length === 0) return;
  if (mapped.length < missing.length) {
    throw new BulkError(
      `${file}: columns with a known name: ${mapped.length} of ${columns.length}. ${whereNamesAre(columns.length, headerRow)};` +
        ` ${missing.map(({ name }) => name).join(', ')} are missing. For other names: --map FIELD=COLUMN. ${columnsText(table)}`,
    );
  }
  throw new BulkError(
    `${file}: no column for ${missing.map(({ name, aliases }) => `${name} (or ${aliases.join(', ')})`).join('; ')}.` +
      ` To use another column: --map ${missing[0]?.name}=COLUMN. ${columnsText(table)}`,
  );
}

/** Lists the file's own columns. A row with digits may be an applicant, and its values are not shown. */
function columnsText({ columns, elsewhere }: Named): string {
  const named = columns.filter((name) => name !== '');
  const shown = named.slice(0, SHOWN_COLUMNS).map((name) => shortened(name));
  const rest = named.length > shown.length ? ` and ${named.length - shown.length} more` : '';
  const list = named.some((name) => APPLICANT.test(name))
    ? 'The row that should have names has numbers, so it is not shown'
    : `The file's columns: ${shown.join(', ')}${rest}`;
  return elsewhere === null ? list : `${list}. ${elsewhere}`;
}

function shortened(name: string): string {
  const signs = [...name.replace(/\s+/g, ' ')];
  return signs.length > SHOWN_CHARACTERS ? `${signs.slice(0, SHOWN_CHARACTERS).join('')}…` : signs.join('');
}

function whereNamesAre(columns: number, headerRow: number | null): string {
  if (headerRow === null)
    return `Each object must have the fields' names, in an array or under "applications"`;
  const separators = columns === 1 ? 'Columns are separated by comma, semicolon or tab. ' : '';
  return `${separators}Row ${headerRow} must hold the columns' names; --header-row N tells another row`;
}
