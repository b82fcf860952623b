/** Maps the columns of a file to fields: by documented names, by likely spellings, or by `--map`. */
import { type FieldName, type NamedField, namedFields } from '../../../../src/domain/application/fields.ts';
import { BulkError } from '../read/bulk-error.ts';
import { type FileWords, inEach } from '../read/file-words.ts';
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
  /** The columns that belong to no field. */
  readonly unused: readonly number[];
  /** Those of these that the person has decided about, by `--ignore`, or by `--map` of another column. */
  readonly decided: ReadonlySet<number>;
}

/** What the person says of columns. */
export interface ColumnChoice {
  /** Pairs of field (under any of its names) and column, as `--map` names them. */
  readonly map: readonly (readonly [field: string, column: string])[];
  /** The columns that `--ignore` names. */
  readonly ignore: readonly string[];
}

/** The parts of a table that columns are found by and that errors tell. */
export type Named = Pick<Table, 'columns' | 'headerRow' | 'elsewhere'>;

/** The most columns that an error lists, and the most characters of each name. */
const SHOWN_COLUMNS = 40;
const SHOWN_CHARACTERS = 40;
/** A value of an applicant: an ID number, a phone, an amount or an e-mail address. A name of a column has none. */
const APPLICANT = /\d{4}|\d[\d .,-]{4}|@/;

/**
 * Maps columns to fields. What the person says wins. Then come the documented names, which may be several for one
 * field, in the contract's order. Last comes a single likely spelling. Throws `BulkError` where a required field has no
 * column, or several that are equally likely.
 */
export function mapColumns(
  file: string,
  table: Named,
  fields: readonly NamedField[],
  { map, ignore }: ColumnChoice,
): Mapping {
  const { columns } = table;
  const simple = columns.map(simplify);
  const wanted = chosenColumns(file, table, simple, fields, map);
  const ignored = ignore.flatMap((column) => columnsOf('--ignore', file, table, simple, column));
  const taken = new Set([...wanted.values(), ...ignored]);
  const mapped: MappedField[] = [];
  const decided = new Set(ignored);
  for (const field of fields) {
    const free = (test: (name: string) => boolean) =>
      simple.flatMap((name, index) => (test(name) && !taken.has(index) ? [index] : []));
    const explicit = wanted.get(field.name);
    const found = explicit === undefined ? guess(file, columns, field, free) : [explicit];
    if (explicit !== undefined) for (const other of free((name) => isNameOf(field, name))) decided.add(other);
    if (found.length > 0) mapped.push({ field, columns: found });
  }
  const used = new Set(mapped.flatMap((one) => one.columns));
  const unused = [...columns.keys()].filter((index) => !used.has(index));
  refuseMissing(file, table, fields, mapped);
  return { fields: mapped, unused, decided };
}

/** A function that says how many of some names belong to a field or are chosen columns. */
export function knownNameCounter(
  fields: readonly NamedField[],
  { map }: Pick<ColumnChoice, 'map'>,
): (names: readonly string[]) => number {
  const names = [...fields.flatMap((field) => field.names), ...map.map(([, column]) => column)];
  const known = new Set(names.map(simplify));
  const isKnown = (simple: string) => known.has(simple) || fields.some(({ name }) => isLikely(name, simple));
  return (row) => row.filter((name) => isKnown(simplify(name))).length;
}

function isNameOf({ name, names }: NamedField, simple: string): boolean {
  return names.some((one) => simplify(one) === simple) || isLikely(name, simple);
}

/** True where the service refuses an application without the field. */
export function isRequired({ rule }: Pick<NamedField, 'rule'>): boolean {
  return !['phone', 'label', 'currency', 'note', 'instant'].includes(rule.kind);
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
    if (field === null)
      throw new BulkError({
        en: `--map: there is no field "${name}"`,
        es: `--map: no hay un campo "${name}"`,
        pt: `--map: não há um campo "${name}"`,
      });
    const found = columnsOf('--map', file, table, simple, column);
    const [index] = found;
    if (index === undefined || found.length > 1) throw tooMany(file, table.columns, field, found);
    wanted.set(field.name, index);
  }
  return wanted;
}

/**
 * The columns with the very name, else those with a spelling of it, else the one with the number: `#4` is the fourth.
 * Throws `BulkError` where there is none.
 */
function columnsOf(
  option: string,
  file: string,
  table: Named,
  simple: readonly string[],
  name: string,
): readonly number[] {
  const { columns } = table;
  const indexesOf = (list: readonly string[], wanted: string) =>
    list.flatMap((other, index) => (other === wanted ? [index] : []));
  const exact = indexesOf(columns, name.trim());
  const wanted = simplify(name);
  const found = exact.length > 0 || wanted === '' ? exact : indexesOf(simple, wanted);
  if (found.length > 0) return found;
  const number = Number(/^#(\d{1,4})$/.exec(name.trim())?.[1] ?? 0);
  if (number >= 1 && number <= columns.length) return [number - 1];
  const list = columnsText(table);
  throw new BulkError({
    en: `${file}: ${option} names a column "${name}", and there is none. ${list.en}`,
    es: `${file}: ${option} nombra una columna "${name}", y no hay ninguna. ${list.es}`,
    pt: `${file}: ${option} indica uma coluna "${name}", e não há nenhuma. ${list.pt}`,
  });
}

/**
 * The columns of a field that `--map` does not name. `free` finds the columns by their simplified names, but for those
 * that the person has decided about. Throws `BulkError` where one name fits several columns.
 */
function guess(
  file: string,
  columns: readonly string[],
  field: NamedField,
  free: (test: (simple: string) => boolean) => number[],
): number[] {
  const documented = [...new Set(field.names.map(simplify))].map((name) => free((other) => other === name));
  const twice = documented.find((found) => found.length > 1);
  if (twice !== undefined) throw tooMany(file, columns, field, twice);
  if (documented.some((found) => found.length > 0)) return documented.flat();
  const likely = free((name) => isLikely(field.name, name));
  if (likely.length > 1) throw tooMany(file, columns, field, likely);
  return likely;
}

function tooMany(
  file: string,
  columns: readonly string[],
  field: NamedField,
  found: readonly number[],
): BulkError {
  const named = (column: string) => found.map((index) => `"${columns[index]}" (${column} ${index + 1})`);
  const options = found.map((index) => mapOption(field.name, columns, index));
  return new BulkError({
    en: `${file}: ${named('column').join(' and ')} could all be ${field.name}. Choose one: ${options.join(' or ')}`,
    es: `${file}: ${named('columna').join(' y ')} podrían ser ${field.name}. Elige una: ${options.join(' o ')}`,
    pt: `${file}: ${named('coluna').join(' e ')} podem ser ${field.name}. Escolha uma: ${options.join(' ou ')}`,
  });
}

/** How a person names a column in an option: by its name where no other column has it, else by its number. */
export function columnInOption(columns: readonly string[], index: number): string {
  const name = columns[index] ?? '';
  // Other characters would not survive being shown and copied.
  const isPlain = /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(name) && isQuotable(name);
  return isPlain && columns.filter((one) => one === name).length === 1 ? name : `#${index + 1}`;
}

function mapOption(field: FieldName, columns: readonly string[], index: number): string {
  return `--map ${quoted(`${field}=${columnInOption(columns, index)}`)}`;
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
  const list = columnsText(table);
  if (mapped.length < missing.length) {
    const names = missing.map(({ name }) => name).join(', ');
    const where = whereNamesAre(columns.length, headerRow);
    throw new BulkError({
      en: `${file}: columns with a known name: ${mapped.length} of ${columns.length}. ${where.en}; ${names} are missing. For other names: --map FIELD=COLUMN. ${list.en}`,
      es: `${file}: columnas con un nombre conocido: ${mapped.length} de ${columns.length}. ${where.es}; faltan ${names}. Para otros nombres: --map CAMPO=COLUMNA. ${list.es}`,
      pt: `${file}: colunas com um nome conhecido: ${mapped.length} de ${columns.length}. ${where.pt}; faltam ${names}. Para outros nomes: --map CAMPO=COLUNA. ${list.pt}`,
    });
  }
  const names = (or: string) =>
    missing.map(({ name, aliases }) => `${name} (${or} ${aliases.join(', ')})`).join('; ');
  const options = (column: string) => missing.map(({ name }) => `--map ${name}=${column}`).join(' ');
  throw new BulkError({
    en: `${file}: no column for ${names('or')}. To use another column: ${options('COLUMN')}. ${list.en}`,
    es: `${file}: no hay columna para ${names('o')}. Para usar otra columna: ${options('COLUMNA')}. ${list.es}`,
    pt: `${file}: não há coluna para ${names('ou')}. Para usar outra coluna: ${options('COLUNA')}. ${list.pt}`,
  });
}

/** Lists the file's own columns. A row with digits may be an applicant, and its values are not shown. */
function columnsText({ columns, elsewhere }: Named): FileWords {
  const named = columns.filter((name) => name !== '');
  const shown = named.slice(0, SHOWN_COLUMNS).map((name) => shortened(name));
  const more = named.length - shown.length;
  const isApplicant = named.some((name) => APPLICANT.test(name));
  const list: FileWords = isApplicant
    ? {
        en: 'The row that should have names has numbers, so it is not shown',
        es: 'La fila que debería tener nombres tiene números, y por eso no se muestra',
        pt: 'A linha que deveria ter nomes tem números, e por isso não é mostrada',
      }
    : {
        en: `The file's columns: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
        es: `Las columnas del archivo: ${shown.join(', ')}${more > 0 ? ` y ${more} más` : ''}`,
        pt: `As colunas do arquivo: ${shown.join(', ')}${more > 0 ? ` e mais ${more}` : ''}`,
      };
  return elsewhere === null ? list : inEach((language) => `${list[language]}. ${elsewhere[language]}`);
}

function shortened(name: string): string {
  const signs = [...name.replace(/\s+/g, ' ')];
  return signs.length > SHOWN_CHARACTERS ? `${signs.slice(0, SHOWN_CHARACTERS).join('')}…` : signs.join('');
}

function whereNamesAre(columns: number, headerRow: number | null): FileWords {
  if (headerRow === null)
    return {
      en: `Each object must have the fields' names, in an array or under "applications"`,
      es: 'Cada objeto debe tener los nombres de los campos, en un arreglo o en "aplicaciones"',
      pt: 'Cada objeto deve ter os nomes dos campos, em um array ou em "applications"',
    };
  const separators: FileWords =
    columns === 1
      ? {
          en: 'Columns are separated by comma, semicolon or tab. ',
          es: 'Las columnas se separan con coma, punto y coma o tabulador. ',
          pt: 'As colunas se separam com vírgula, ponto e vírgula ou tabulação. ',
        }
      : { en: '', es: '', pt: '' };
  return {
    en: `${separators.en}Row ${headerRow} must hold the columns' names; --header-row N tells another row`,
    es: `${separators.es}La fila ${headerRow} debe tener los nombres de las columnas; --header-row N indica otra fila`,
    pt: `${separators.pt}A linha ${headerRow} deve ter os nomes das colunas; --header-row N indica outra linha`,
  };
}

// How people spell the names of columns, in English, Spanish and Portuguese.

/** Spellings besides the documented names, in the form of `simplify`. */
const LIKELY: Readonly<Record<FieldName, readonly string[]>> = { name: ['full name', 'applicant', 'applicant name', 'nombre completo', 'nombres', 'nombres apellidos', 'nombre apellido', 'nombre solicitante', 'solicitante', 'nome', 'nome completo', 'nome sobrenome', 'nome solicitante', 'nome cliente'],
  id_number: ['id', 'national id', 'document', 'document number', 'identification', 'numero cedula', 'cedula ciudadania', 'documento', 'documento identidad', 'numero documento', 'identificacion', 'numero identificacion', 'dni', 'cpf', 'numero cpf', 'documento identidade', 'identidade'],
  city: ['city residence', 'ciudad residencia', 'municipio', 'cidade', 'cidade residencia'],
  phone: [],
  platform: ['app', 'aplicacion', 'aplicativo'],
  currency: ['currency code', 'divisa', 'codigo moneda', 'tipo moneda', 'moeda', 'codigo moeda', 'tipo moeda'],
  income: ['monthly income', 'ingresos', 'ingreso mensual', 'ingresos mensuales', 'renda', 'renda mensal', 'rendimento', 'rendimentos', 'rendimento mensal'],
  debt_amount: ['debt', 'total debt', 'amount debt', 'deuda', 'deuda total', 'monto', 'valor deuda', 'divida', 'divida total', 'valor divida', 'montante divida'],
  num_debts: ['number debts', 'debts', 'cantidad deudas', 'deudas', 'numero dividas', 'quantidade dividas', 'dividas', 'cuantas deudas', 'cant deudas', 'quantas dividas', 'qtd dividas', 'qtde dividas'],
  debt_age: ['age debt', 'antiguedad', 'antiguedad deuda', 'mora', 'tiempo mora', 'tiempo atraso', 'tempo atraso', 'tempo mora', 'tempo divida', 'antiguidade', 'antiguidade divida', 'atraso', 'antiguedad deudas', 'tiempo deuda', 'tiempo deudas', 'tempo dividas'],
  prior_history: ['history', 'payment history', 'historial', 'historial pago', 'historial pagos', 'historico', 'historico previo', 'historico anterior', 'historico pagamento', 'historico pagamentos', 'credit history', 'historial crediticio', 'historial credito', 'historia crediticia', 'historico credito'],
  messaging_optin: ['optin', 'opt in', 'messaging opt in', 'messaging consent', 'consent', 'consentimiento', 'consentimiento mensajes', 'acepta mensajes', 'consentimento', 'consentimento mensagens', 'aceita mensagens', 'consentimiento whatsapp', 'consentimento whatsapp', 'acepta whatsapp', 'acepta recibir mensajes', 'autoriza mensajes', 'autoriza recibir mensajes', 'autoriza whatsapp', 'autorizacion mensajes', 'autorizacion whatsapp', 'aceita whatsapp', 'aceita receber mensagens', 'autoriza mensagens', 'autoriza receber mensagens', 'aceite whatsapp'],
  consent_at: ['consent date', 'fecha consentimiento', 'fecha autorizacion', 'data consentimento', 'data autorizacao'],
  consent_text: ['consent wording', 'texto consentimiento', 'texto autorizacion', 'texto consentimento', 'texto autorizacao'],
  consent_channel: ['canal consentimiento', 'canal autorizacion', 'canal consentimento', 'canal autorizacao'],
}; // biome-ignore format: one table

/** A name of a column is that of a phone where it has one of these words, and else only words that change nothing. */
const PHONE = wordsOf(
  'telefono telefonos telefone telefones tel telf tlf fono fone phone phones telephone cel celular celulares movil moviles' +
    ' mobile cell cellphone telemovel whatsapp whatsap wsp wpp wa',
);
const BESIDE_PHONE = wordsOf(
  'numero number contacto contato contact principal personal pessoal cliente customer solicitante applicant titular usuario' +
    ' user n no num nro con com with codigo code pais country indicativo prefijo lada ddd ddi area o ou or para for registrado',
);

/**
 * Words by which a column that no field is read from may be meant for a field: for an optional one, which would be
 * missing without a word, and for the name, of which a half would be missing.
 */
const TELLING: Partial<Readonly<Record<FieldName, ReadonlySet<string>>>> = {
  name: wordsOf('apellido apellidos sobrenome surname lastname'),
  phone: PHONE,
  platform: wordsOf('plataforma platform'),
  currency: wordsOf('moneda divisa currency moeda'),
};
/** Words for money: what stands below them is an amount, however small. */
const MONEY = wordsOf(
  'ingreso ingresos salario sueldo income salary wage renda deuda debt divida saldo monto',
);

/** Words that say nothing of a column, in English, Spanish and Portuguese. */
const FILLERS = /\b(de|del|la|el|las|los|su|y|of|the|your|and|da|do|das|dos|seu|e|em)\b/g;
/** The word for a number, as people shorten it before another word. */
const NUMBER = /^(?:n o|no|n|nr|nro|num|numero)(?= .)/;

/** True for a likely spelling of the field, besides its documented names. */
function isLikely(field: FieldName, simple: string): boolean {
  if (field === 'phone') {
    const words = simple.split(' ');
    return (
      words.some((one) => PHONE.has(one)) && words.every((one) => PHONE.has(one) || BESIDE_PHONE.has(one))
    );
  }
  return LIKELY[field].includes(simple);
}

/** The field that a column without a field may be meant for, by a word of its simplified name; null for none. */
export function fieldMeantBy(simple: string): FieldName | null {
  const words = simple.split(' ');
  const found = Object.entries(TELLING).find(([, telling]) => words.some((word) => telling.has(word)));
  return found === undefined ? null : (found[0] as FieldName);
}

/** True for the simplified name of a column with amounts. */
export function namesMoney(simple: string): boolean {
  return simple.split(' ').some((word) => MONEY.has(word));
}

/** The name in lower case, without accents, invisible characters and filler words, with one space between its words. */
export function simplify(name: string): string {
  return name
    .replaceAll('°', 'o')
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .replace(FILLERS, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .replace(NUMBER, 'numero')
    .replace(/\bwhats app\b/, 'whatsapp');
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** Options as people copy them into a shell: bash, PowerShell or cmd. */

/** Signs that a shell reads inside double quotes. */
const READ_IN_QUOTES = /[$`\\!]/;

/** False for a text that no quotes keep whole in every shell: a file must not run a command by a word of its own. */
export function isQuotable(text: string): boolean {
  return !text.includes('"') && !(READ_IN_QUOTES.test(text) && text.includes("'"));
}

/** A quotable argument in quotes: double ones, unless a shell reads a sign inside them. */
export function quoted(argument: string): string {
  return READ_IN_QUOTES.test(argument) ? `'${argument}'` : `"${argument}"`;
}
