/** Reads a whole file of applicants without sending anything, and counts rows, converted cells, faults and phones. */
import type { Application, FieldName } from '../../../../src/domain/application/fields.ts';
import type { Phone } from '../../../../src/domain/phone/phone.ts';
import { COUNTRY_CURRENCY, type Country } from '../../../../src/ground/base/country-data.ts';
import { type BulkError, bulkErrorAt } from '../read/bulk-error.ts';
import { type FileWords, inEach } from '../read/file-words.ts';
import { NO_APPLICANTS } from '../read/json.ts';
import type { FileRow } from '../read/table.ts';
import type { CellChange, Change, ConvertedRow } from './convert.ts';
import type { Candidate, Judgement } from './rules.ts';
import type { Source } from './source.ts';
import { type UnsentColumn, UnsentColumns } from './unsent.ts';
import { UnknownWords } from './words.ts';

/** Rows in the preview. */
const SAMPLE_ROWS = 5;

interface FaultCount {
  readonly text: string;
  count: number;
  readonly firstRow: number;
}

/** A row that can be sent, and what the service makes of it; null where nobody judged the rows. */
interface SampleRow {
  readonly converted: ConvertedRow;
  readonly judgement: Judgement | null;
}

export interface Check {
  rows: number;
  /** Rows that are not sent, because a cell or the row as a whole has no clear meaning. */
  unreadable: number;
  /** Other rows that the service refuses by its rules. */
  invalid: number;
  /** By text, in the order of their first rows. */
  readonly faults: Map<string, FaultCount>;
  /** How many cells are converted. */
  readonly changes: Map<FieldName, Map<Change, number>>;
  /** The first cell that could be two numbers. */
  ambiguous: { readonly row: number; readonly column: string } | null;
  /** Rows that the spreadsheet does not show, and the first one. */
  hidden: { count: number; readonly firstRow: number } | null;
  readonly words: UnknownWords;
  readonly phones: PhoneSurvey;
  /** Columns that look like fields and are not sent. */
  unsent: readonly UnsentColumn[];
  /** The first rows that can be sent. */
  readonly sample: SampleRow[];
}

interface CheckOptions {
  /** Says what the service makes of a row. Without it nobody knows. */
  readonly judge?: ((row: ConvertedRow) => Judgement) | undefined;
  /** Called with each row, and with the texts of its faults. */
  readonly onRow?: (row: ConvertedRow, faults: readonly string[]) => void;
  /** Called with each row that has a fault. */
  readonly onRefused?: (row: FileRow, reason: string) => Promise<void>;
  /** Called now and then with the number of rows so far. */
  readonly onProgress?: (rows: number) => void;
}

/** Throws `BulkError` where the file cannot be read or has no rows, and any error of the judge. */
export async function checkRows(source: Source, options: CheckOptions = {}): Promise<Check> {
  const { judge, onRow, onRefused, onProgress } = options;
  const check = emptyCheck();
  const unsent = new UnsentColumns(source.table, source.mapping);
  for await (const rows of source.convertedRows()) {
    for (const converted of rows) {
      const { row, faults } = converted;
      unsent.add(row);
      noteRow(check, source, converted);
      const judgement = judge === undefined || row.fault !== null ? null : judge(converted);
      if (judgement !== null) noteJudgement(check, converted, judgement);
      const own = row.fault === null ? faults.map(source.textOf) : [row.fault[source.language]];
      const texts = judgement === null ? own : [...own, ...judgement.faults.map(({ text }) => text)];
      onRow?.(converted, texts);
      if (texts.length === 0) {
        if (check.sample.length < SAMPLE_ROWS) check.sample.push({ converted, judgement });
        continue;
      }
      check[own.length > 0 ? 'unreadable' : 'invalid'] += 1;
      for (const text of texts) countFault(check, text, row.number);
      await onRefused?.(row, texts.join('; '));
    }
    onProgress?.(check.rows);
  }
  if (check.rows === 0) throw withoutRows(source);
  return { ...check, unsent: unsent.end() };
}

/** Throws `BulkError` where the file has no rows. Reads up to the first one. */
export async function refuseEmpty(source: Source): Promise<void> {
  for await (const rows of source.table.rows()) if (rows.length > 0) return;
  throw withoutRows(source);
}

function emptyCheck(): Check {
  return {
    rows: 0,
    unreadable: 0,
    invalid: 0,
    faults: new Map(),
    changes: new Map(),
    ambiguous: null,
    hidden: null,
    words: new UnknownWords(),
    phones: new PhoneSurvey(),
    unsent: [],
    sample: [],
  };
}

function withoutRows({
  file,
  table: { headerRow, elsewhere },
  settings: { visibleOnly },
}: Source): BulkError {
  const below: FileWords = {
    en: `below the columns' names in row ${headerRow} it holds no applicants`,
    es: `debajo de los nombres de las columnas, en la fila ${headerRow}, no tiene solicitantes`,
    pt: `abaixo dos nomes das colunas, na linha ${headerRow}, não tem solicitantes`,
  };
  const hidden: FileWords =
    visibleOnly === true
      ? { en: ' that the sheet shows', es: ' que la hoja muestre', pt: ' que a planilha mostre' }
      : { en: '', es: '', pt: '' };
  const what = headerRow === null ? NO_APPLICANTS : below;
  return bulkErrorAt(
    file.file,
    null,
    null,
    inEach((language) => [what[language] + hidden[language], elsewhere?.[language] ?? []].flat().join('. ')),
  );
}

function noteRow(check: Check, source: Source, { row, faults, changes }: ConvertedRow): void {
  check.rows += 1;
  if (row.isHidden) {
    check.hidden ??= { count: 0, firstRow: row.number };
    check.hidden.count += 1;
  }
  for (const change of changes) countChange(check, change);
  const doubtful = check.ambiguous === null ? faults.find(({ ambiguous }) => ambiguous) : undefined;
  if (doubtful !== undefined)
    check.ambiguous = { row: row.number, column: source.table.columns[doubtful.column] ?? '' };
}

function noteJudgement(
  { phones, words }: Check,
  { row, application, faults }: ConvertedRow,
  { application: read, country, isLocal, faults: refused, couldBe }: Judgement,
): void {
  if (read !== null && faults.length === 0) phones.add(row.number, application.phone, isLocal, read, country);
  for (const { field, problem } of refused) {
    const value = application[field];
    if (problem === 'phone') phones.addRefused(row.number, value, couldBe);
    const isWord = (problem === 'choice' || problem === 'consent') && typeof value !== 'object';
    if (isWord && value !== undefined) words.add(field, value, row.number);
  }
}

function countChange({ changes }: Check, { field, change }: CellChange): void {
  const counts = changes.get(field) ?? new Map<Change, number>();
  changes.set(field, counts.set(change, (counts.get(change) ?? 0) + 1));
}

function countFault({ faults }: Check, text: string, row: number): void {
  const known = faults.get(text);
  if (known === undefined) faults.set(text, { text, count: 1, firstRow: row });
  else known.count += 1;
}

// Counts the phones of a file as the service reads them, so that a person sees where messages would go.

/** Examples of each kind. */
const MAX_EXAMPLES = 5;

/** A phone as it stands in the file, and what the service makes of it. */
export interface ReadPhone {
  readonly row: number;
  readonly typed: string;
  readonly phone: Phone;
  /** null for a code of no country. */
  readonly country: Country | null;
  /** The currency of the row's amounts. */
  readonly currency: string;
}

/** A phone as it stands in the file, and the numbers that it could be. */
interface RefusedPhone {
  readonly row: number;
  readonly typed: string;
  readonly couldBe: readonly Candidate[];
}

/** How many phones are of a kind, and the first ones. */
export interface PhonesOfAKind {
  count: number;
  readonly first: ReadPhone[];
}

class PhoneSurvey {
  /** How many phones each country has; null stands for codes of no country. */
  readonly byCountry = new Map<Country | null, number>();
  /** The rows without a phone. */
  without = 0;
  /** The phones without country code. */
  readonly local: PhonesOfAKind = { count: 0, first: [] };
  /** The phones in rows whose amounts are in another currency than that of the phone's country. */
  readonly otherCurrency: PhonesOfAKind = { count: 0, first: [] };

  /** The phones that the service refuses, and what those without country code could be. */
  readonly refused: { count: number; readonly first: RefusedPhone[] } = { count: 0, first: [] };

  addRefused(row: number, typed: unknown, couldBe: readonly Candidate[]): void {
    this.refused.count += 1;
    if (this.refused.first.length < MAX_EXAMPLES)
      this.refused.first.push({ row, typed: String(typed), couldBe });
  }

  add(
    row: number,
    typed: unknown,
    isLocal: boolean,
    { phone, currency }: Application,
    country: Country | null,
  ): void {
    if (phone === null) {
      this.without += 1;
      return;
    }
    this.byCountry.set(country, (this.byCountry.get(country) ?? 0) + 1);
    const isOther = country !== null && COUNTRY_CURRENCY[country] !== currency;
    if (!isLocal && !isOther) return;
    const read = { row, typed: String(typed), phone, country, currency };
    if (isLocal) add(this.local, read);
    if (isOther) add(this.otherCurrency, read);
  }
}

function add(kind: PhonesOfAKind, read: ReadPhone): void {
  kind.count += 1;
  if (kind.first.length < MAX_EXAMPLES) kind.first.push(read);
}
