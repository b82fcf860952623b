/**
 * Seals and opens the envelope of a batch: the personal data of its applicants, sealed together and bound to the batch.
 * One call of the cipher for the batch saves as much as thirty calls for single applications cost
 * (docs/decisions/0001-one-envelope-a-batch.md). Writes `batches` only in `rewriteEnvelope`.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { FIELDS, type Field, type FieldName, NOTED_FIELDS } from '../../../domain/application/fields.ts';
import type { BatchId } from '../../../domain/application/ids.ts';
import { isPhone, type Phone } from '../../../domain/phone/phone.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';

/** The sealed fields of one applicant. */
export type PersonalRecord = {
  readonly [Name in FieldName]?: (Name extends 'phone' ? Phone : string) | null;
};

/** Records by position. */
export type PersonalRecords = Readonly<Record<string, PersonalRecord>>;

/** An applicant whose fields are sealed; the application may have more fields. */
export interface Applicant {
  /** The position in the batch as it was sent. */
  readonly position: number;
  readonly application: Readonly<Partial<Record<FieldName, unknown>>>;
}

export const SEALED_FIELDS = (FIELDS as readonly Field[])
  .filter((field) => field.column !== true)
  .map((field) => field.name as FieldName);

/** The content of an envelope: the values of each field by position, null if the position has none. */
export type Columns = Readonly<Record<string, readonly unknown[]>>;

/**
 * Shorter texts gain little, and a call of the compressor costs as much as twenty applications (docs/decisions/0006).
 */
const LEAST_COMPRESSED_LENGTH = 1_400;
/** The start of a zstd frame; JSON does not begin so. */
const ZSTD_MAGIC = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);
const ZSTD_LEVEL_1 = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Seals the personal data of these applicants, who are in the order of their positions. */
export function sealEnvelope(vault: Vault, sealId: string, applicants: readonly Applicant[]): Buffer {
  const text = JSON.stringify(columnsByPosition(applicants));
  const isLong = text.length >= LEAST_COMPRESSED_LENGTH;
  return vault.seal(isLong ? zstdCompressSync(text, ZSTD_LEVEL_1) : text, identity(sealId));
}

/** Seals the content of an envelope with the vault's first key. Throws if the envelope is not of this batch. */
export function resealEnvelope(vault: Vault, sealId: string, envelope: Buffer): Buffer {
  return vault.reseal(envelope, identity(sealId));
}

/** Whether the vault can open an envelope; the content does not matter. */
export function isIntact(vault: Vault, sealId: string, envelope: Buffer): boolean {
  try {
    vault.open(envelope, identity(sealId));
    return true;
  } catch {
    return false;
  }
}

function unseal(vault: Vault, sealId: string, envelope: Buffer): Buffer {
  const bytes = vault.open(envelope, identity(sealId));
  const isCompressed = bytes.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC);
  return isCompressed ? zstdDecompressSync(bytes) : bytes;
}

/** $3: the positions without an application, from 1 on: retention may take more out of an old batch meanwhile. */
const REWRITE = `
  UPDATE batches SET envelope = $2, surplus = false
  WHERE id = $1 AND surplus AND ($3::integer[] IS NULL OR array_positions(id_numbers, NULL) = $3)
    AND may_seal($4)`;

/**
 * Seals an envelope that holds too many applicants again, with these alone. `gone`: the positions without an
 * application, from 1 on; if the row has other ones by now, the envelope stays. null: the row is not compared.
 */
export async function rewriteEnvelope(
  database: Database,
  vault: Vault,
  batch: { readonly id: BatchId; readonly sealId: string },
  applicants: readonly Applicant[],
  gone: readonly number[] | null,
): Promise<void> {
  const envelope = sealEnvelope(vault, batch.sealId, applicants);
  await database.query(REWRITE, [batch.id, envelope, gone, vault.sealingKey.id]);
}

function columnsByPosition(applicants: readonly Applicant[]): Columns {
  const positions = 1 + (applicants.at(-1)?.position ?? -1);
  const columns: Record<string, unknown[]> = {};
  for (const name of SEALED_FIELDS) {
    // A field that few partners send takes no room in the envelopes of the others.
    if (NOTED_FIELDS.includes(name) && applicants.every(({ application }) => application[name] == null))
      continue;
    const values = new Array<unknown>(positions).fill(null);
    for (const { position, application } of applicants) values[position] = application[name] ?? null;
    columns[name] = values;
  }
  return columns;
}

/** The records by position. Throws if the envelope is not of this batch or malformed. */
export function openEnvelope(vault: Vault, sealId: string, envelope: Buffer): PersonalRecords {
  return recordsOf(openColumns(vault, sealId, envelope, SEALED_FIELDS));
}

/**
 * The values of some fields by position, and nothing of the others: to read all of them takes twice as long. Throws if
 * the envelope is not of this batch or malformed.
 */
export function openColumns(
  vault: Vault,
  sealId: string,
  envelope: Buffer,
  fields: readonly FieldName[],
): Columns {
  const text = unseal(vault, sealId, envelope);
  const columns = text.length < LEAST_CUT_LENGTH ? JSON.parse(text.toString()) : cutColumns(text, fields);
  const wanted: Record<string, unknown[]> = {};
  for (const name of fields) {
    const values: unknown = columns?.[name] ?? (NOTED_FIELDS.includes(name) ? [] : undefined);
    if (!Array.isArray(values)) throw new TypeError('the envelope holds something else than records');
    wanted[name] = values;
  }
  return wanted;
}

/** A shorter text is parsed as a whole in the same time. */
const LEAST_CUT_LENGTH = 16_384;

function cutColumns(text: Buffer, fields: readonly FieldName[]): Columns {
  const columns: Record<string, unknown[]> = {};
  for (const { name, start, end } of columnRanges(text)) {
    if (fields.includes(name as FieldName)) columns[name] = JSON.parse(text.toString('utf8', start, end));
  }
  return columns;
}

const BEGIN_NAME = '"';
const END_NAME = '":[';
const BETWEEN = '],"';
const [COMMA, BRACKET] = [','.charCodeAt(0), ']'.charCodeAt(0)];

/**
 * Where the columns are in the text of an envelope. JSON has a backslash before each quote inside a value. So `],"` is
 * the end of a column, or the end of a value, which a comma or a bracket then follows.
 */
function* columnRanges(text: Buffer): Generator<{ name: string; start: number; end: number }> {
  let begin = text.indexOf(BEGIN_NAME) + BEGIN_NAME.length;
  while (begin > 0 && begin < text.length) {
    const endOfName = text.indexOf(END_NAME, begin);
    if (endOfName === -1) return;
    const start = endOfName + END_NAME.length - 1;
    let end = text.indexOf(BETWEEN, start);
    while (end !== -1 && isValueEnd(text[end + BETWEEN.length])) end = text.indexOf(BETWEEN, end + 1);
    const next = end === -1 ? text.length : end + BETWEEN.length;
    yield {
      name: text.toString('utf8', begin, endOfName),
      start,
      end: end === -1 ? text.length - 1 : end + 1,
    };
    begin = next;
  }
}

function isValueEnd(after: number | undefined): boolean {
  return after === COMMA || after === BRACKET;
}

/** The records of all positions that have one. */
export function recordsOf(columns: Columns): PersonalRecords {
  const records: Record<string, PersonalRecord> = {};
  const positions = Math.max(...Object.values(columns).map(({ length }) => length));
  for (let position = 0; position < positions; position += 1) {
    const record = recordAt(columns, position);
    if (record !== null) records[position] = record;
  }
  return records;
}

/** The record at a position; null without any value: there is no applicant, or an erased one. */
export function recordAt(columns: Columns, position: number): PersonalRecord | null {
  let record: Record<string, unknown> | null = null;
  for (const name in columns) {
    const value = columns[name]![position] ?? null;
    if (value === null) continue;
    if (record === null) record = { [name]: value };
    else record[name] = value;
  }
  return record as PersonalRecord | null;
}

/** Whether the content for a position is a record. Fields that were not read count as absent. */
export function isRecord(value: unknown): value is PersonalRecord {
  return isObject(value) && SEALED_FIELDS.every((name) => isSealedValue(name, value[name] ?? null));
}

function isSealedValue(name: FieldName, value: unknown): boolean {
  return value === null || (typeof value === 'string' && (name !== 'phone' || isPhone(value)));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function identity(sealId: string): string {
  return `batch:${sealId}`;
}
