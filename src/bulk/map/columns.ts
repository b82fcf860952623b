/** Maps the columns of a file to fields: by documented names, by likely spellings, or by `--map`. */
import { type FieldName, type NamedField, namedFields } from '../../domain/application/fields.ts';
import { BulkError } from '../read/bulk-error.ts';
import type { Table } from '../read/table.ts';

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

/** Spellings besides the documented names, in the form of `simplify`. */
const LIKELY: Readonly<Record<FieldName, readonly string[]>> = {
  name: ['full name', 'applicant', 'applicant name', 'nombre completo', 'nombres', 'nombres apellidos', 'nombre apellido', 'nombre solicitante', 'solicitante'],
  id_number: ['id', 'national id', 'document', 'document number', 'identification', 'numero cedula', 'nro cedula', 'no cedula', 'cedula ciudadania', 'documento', 'documento identidad', 'numero documento', 'nro documento', 'no documento', 'identificacion', 'numero identificacion', 'dni'],
  city: ['city residence', 'ciudad residencia', 'municipio'],
  phone: ['phone number', 'mobile', 'mobile phone', 'mobile number', 'cell phone', 'celular', 'numero celular', 'telefono celular', 'numero telefono', 'movil', 'telefono movil', 'numero movil', 'whatsapp'],
  platform: ['app', 'aplicacion'],
  currency: ['currency code', 'divisa', 'codigo moneda'],
  income: ['monthly income', 'ingresos', 'ingreso mensual', 'ingresos mensuales'],
  debt_amount: ['debt', 'total debt', 'amount debt', 'deuda', 'deuda total', 'monto', 'valor deuda'],
  num_debts: ['number debts', 'debts', 'numero deudas', 'cantidad deudas', 'deudas'],
  debt_age: ['age debt', 'antiguedad', 'antiguedad deuda', 'mora'],
  prior_history: ['history', 'payment history', 'historial', 'historial pago', 'historial pagos'],
  messaging_optin: ['optin', 'opt in', 'messaging opt in', 'messaging consent', 'consentimiento mensajes', 'acepta mensajes'],
}; // biome-ignore format: one table

/** The name in lower case, without accents and filler words, with one space between its words. */
export function simplify(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .replace(/\b(de|del|la|el|las|los|y|of|the|and)\b/g, ' ')
    .replace(/ +/g, ' ')
    .trim();
}

/**
 * Maps columns to fields. The pairs of field (under any of its names) and column in `chosen` win. Then come the
 * documented names, which may be several for one field, in the contract's order. Last comes a single likely spelling.
 * Throws `BulkError` where a required field has no column, or several that are equally likely.
 */
export function mapColumns(
  file: string,
  { columns, headerRow }: Pick<Table, 'columns' | 'headerRow'>,
  fields: readonly NamedField[],
  chosen: readonly (readonly [field: string, column: string])[],
): Mapping {
  const simple = columns.map(simplify);
  const wanted = chosenColumns(file, columns, simple, fields, chosen);
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
  refuseMissing(file, { columns, headerRow }, fields, mapped, unused);
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
  columns: readonly string[],
  simple: readonly string[],
  fields: readonly NamedField[],
  chosen: readonly (readonly [string, string])[],
): Map<FieldName, number> {
  const wanted = new Map<FieldName, number>();
  for (const [name, column] of chosen) {
    const field = fieldNamed(name, fields);
    if (field === null) throw new BulkError(`--map: there is no field "${name}"`);
    let index = columns.indexOf(column.trim());
    if (index < 0) index = simple.indexOf(simplify(column));
    if (index < 0) throw new BulkError(`${file}: --map names a column "${column}", and there is none`);
    wanted.set(field.name, index);
  }
  return wanted;
}

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
  { columns, headerRow }: Pick<Table, 'columns' | 'headerRow'>,
  fields: readonly NamedField[],
  mapped: readonly MappedField[],
  unused: readonly string[],
): void {
  const missing = fields.filter(
    (field) => isRequired(field) && !mapped.some((one) => one.field.name === field.name),
  );
  if (missing.length === 0) return;
  // A first row with few known names may be an applicant. Its values are not shown.
  if (mapped.length < missing.length) {
    throw new BulkError(
      `${file}: columns with a known name: ${mapped.length} of ${columns.length}. ${whereNamesAre(columns.length, headerRow)};` +
        ` ${missing.map(({ name }) => name).join(', ')} are missing. For other names: --map FIELD=COLUMN`,
    );
  }
  const others = unused.length === 0 ? 'There are no other columns' : `Unused columns: ${unused.join(', ')}`;
  throw new BulkError(
    `${file}: no column for ${missing.map(({ name, aliases }) => `${name} (or ${aliases.join(', ')})`).join('; ')}.` +
      ` ${others}. To use one of them: --map ${missing[0]?.name}=COLUMN`,
  );
}

function whereNamesAre(columns: number, headerRow: number | null): string {
  if (headerRow === null)
    return `Each object must have the fields' names, in an array or under "applications"`;
  const separators = columns === 1 ? 'Columns are separated by comma, semicolon or tab. ' : '';
  return `${separators}Row ${headerRow} must hold the columns' names; --header-row N tells another row`;
}
