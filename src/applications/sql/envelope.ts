/**
 * The envelope of a batch: the personal data of its applicants, sealed together and bound to the batch. One call of
 * the cipher for the batch costs as much as thirty calls for single applications would save (docs/decisions/0001).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { UnknownDataKeyError } from '../../base/unknown-data-key.ts';
import type { Database, Session } from '../../postgres/database.ts';
import { eachApart } from '../../postgres/row-fault.ts';
import type { Vault } from '../../seal/vault.ts';
import { FIELDS, type Field, type FieldName } from '../rules/fields.ts';
import { type BatchId, partitionOfBatch } from '../rules/ids.ts';
import { isPhone, type Phone } from '../rules/phone.ts';
import { byPartitions } from './partition-runs.ts';

/** The sealed fields of one applicant. */
export type PersonalRecord = {
  readonly [Name in FieldName]?: (Name extends 'phone' ? Phone : string) | null;
};

/** Records by position. */
type PersonalRecords = Readonly<Record<string, PersonalRecord>>;

/** An applicant whose fields are sealed; the application may have other fields. */
export interface Applicant {
  /** The place in the batch as it was sent. */
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

/** Seals the personal data of these applicants, who stand in the order of their positions. */
export function sealEnvelope(vault: Vault, sealId: string, applicants: readonly Applicant[]): Buffer {
  const text = JSON.stringify(columnsOf(applicants));
  const isLong = text.length >= LEAST_COMPRESSED_LENGTH;
  return vault.seal(isLong ? zstdCompressSync(text, ZSTD_LEVEL_1) : text, identity(sealId));
}

function unseal(vault: Vault, sealId: string, envelope: Buffer): Buffer {
  const bytes = vault.open(envelope, identity(sealId));
  const isCompressed = bytes.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC);
  return isCompressed ? zstdDecompressSync(bytes) : bytes;
}

function columnsOf(applicants: readonly Applicant[]): Columns {
  const positions = 1 + (applicants.at(-1)?.position ?? -1);
  const columns: Record<string, unknown[]> = {};
  for (const name of SEALED_FIELDS) {
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
function openColumns(vault: Vault, sealId: string, envelope: Buffer, fields: readonly FieldName[]): Columns {
  const text = unseal(vault, sealId, envelope);
  const columns = text.length < LEAST_CUT_LENGTH ? JSON.parse(text.toString()) : cutColumns(text, fields);
  const wanted: Record<string, unknown[]> = {};
  for (const name of fields) {
    const values: unknown = columns?.[name];
    if (!Array.isArray(values)) throw new TypeError('the envelope holds something else than records');
    wanted[name] = values;
  }
  return wanted;
}

/** A shorter text is parsed as a whole in the same time. */
const LEAST_CUT_LENGTH = 16_384;

function cutColumns(text: Buffer, fields: readonly FieldName[]): Columns {
  const columns: Record<string, unknown[]> = {};
  for (const { name, start, end } of columnPlaces(text)) {
    if (fields.includes(name as FieldName)) columns[name] = JSON.parse(text.toString('utf8', start, end));
  }
  return columns;
}

const BEGIN_NAME = '"';
const END_NAME = '":[';
const BETWEEN = '],"';
const [COMMA, BRACKET] = [','.charCodeAt(0), ']'.charCodeAt(0)];

/**
 * Where the columns are in the text of an envelope. In JSON a backslash stands before each quote inside a value. So `],"`
 * is the end of a column, or the end of a value: after that a comma or a bracket comes.
 */
function* columnPlaces(text: Buffer): Generator<{ name: string; start: number; end: number }> {
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

function recordsOf(columns: Columns): PersonalRecords {
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

/** A batch with its id and the id that its envelope is bound to. */
interface SealedBatch {
  readonly id: BatchId;
  readonly seal_id: string;
  readonly envelope: Buffer;
}

const READ = `
  SELECT b.id, b.seal_id, b.envelope FROM batches b WHERE b.id = ANY ($1::bigint[]) AND b.envelope IS NOT NULL`;
/** The length of a value that lies beside its row is in the row. */
const READ_SIZES = `
  SELECT b.id, octet_length(b.envelope) AS bytes FROM batches b
  WHERE b.id = ANY ($1::bigint[]) AND b.envelope IS NOT NULL`;

/**
 * An envelope takes 270 bytes to 160 KiB, so envelopes are read by their size, a few at a time. The driver needs three
 * times their size.
 */
const BYTES_AT_ONCE = 1024 * 1024;
const ENVELOPES_AT_ONCE = 128;
/** So few are read without asking for their sizes: they have 2 MiB at most. */
const FEW = 12;
/** After this time other work is let in. The largest envelope takes less than a millisecond. */
const TURN_MS = 2;

/** The result of opening an envelope: its fields; null: damaged; `unknown_key`: another process has its key. */
export type OpenedColumns = Columns | null | 'unknown_key';

/** Called before the next envelopes are read and opened, with their number and their size. */
export type Pace = (envelopes: number, bytes: number) => Promise<void>;

interface EnvelopeReading {
  readonly fields: readonly FieldName[];
  readonly pace?: Pace | undefined;
}

/**
 * Reads the envelopes of these batches and opens one at a time, so that memory is bounded however many there are. Calls
 * `use` with the fields of each, or with what opening it gave instead; a batch without an envelope is left out.
 */
export async function eachEnvelope(
  session: Session,
  vault: Vault,
  batchIds: readonly BatchId[],
  { fields, pace }: EnvelopeReading,
  use: (batchId: BatchId, columns: OpenedColumns) => void,
): Promise<void> {
  const damaged = (batchId: BatchId) => use(batchId, null);
  const read = async (ids: readonly BatchId[]) => {
    const { rows } = await session.query<SealedBatch>(READ, [ids]);
    let since = performance.now();
    for (const { id, seal_id, envelope } of rows) {
      use(id, tryToOpen(vault, seal_id, envelope, fields));
      if (performance.now() - since < TURN_MS) continue;
      await nextTurn();
      since = performance.now();
    }
  };
  for (const { ids, bytes } of await parts(session, [...new Set(batchIds)], damaged)) {
    await pace?.(ids.length, bytes);
    await eachApart(ids, read, damaged);
  }
}

/**
 * The records of one batch: null without an envelope, or where the envelope is damaged; `unknown_key` where another process
 * has its key.
 */
export async function readEnvelope(
  database: Database,
  vault: Vault,
  batchId: BatchId,
): Promise<PersonalRecords | null | 'unknown_key'> {
  const { rows } = await database.query<SealedBatch>(READ, [[batchId]]);
  const [batch] = rows;
  const columns = batch === undefined ? null : tryToOpen(vault, batch.seal_id, batch.envelope, SEALED_FIELDS);
  return columns === null || columns === 'unknown_key' ? columns : recordsOf(columns);
}

interface Part {
  readonly ids: BatchId[];
  bytes: number;
}

/** The batches in parts of bounded size, and of few partitions each. */
async function parts(
  session: Session,
  batchIds: readonly BatchId[],
  damaged: (batchId: BatchId) => void,
): Promise<Part[]> {
  const found: Part[] = [];
  for (const some of byPartitions(batchIds, partitionOfBatch)) {
    if (some.length <= FEW) {
      found.push({ ids: some, bytes: 0 });
      continue;
    }
    let part: Part | undefined;
    const read = async (ids: readonly BatchId[]) => {
      const { rows } = await session.query<{ id: BatchId; bytes: number }>(READ_SIZES, [ids]);
      for (const { id, bytes } of rows) {
        if (
          part === undefined ||
          part.ids.length === ENVELOPES_AT_ONCE ||
          part.bytes + bytes > BYTES_AT_ONCE
        ) {
          part = { ids: [], bytes: 0 };
          found.push(part);
        }
        part.ids.push(id);
        part.bytes += bytes;
      }
    };
    await eachApart(some, read, damaged);
  }
  return found;
}

function tryToOpen(
  vault: Vault,
  sealId: string,
  envelope: Buffer,
  fields: readonly FieldName[],
): OpenedColumns {
  try {
    return openColumns(vault, sealId, envelope, fields);
  } catch (error) {
    return error instanceof UnknownDataKeyError ? 'unknown_key' : null;
  }
}

function identity(sealId: string): string {
  return `batch:${sealId}`;
}
