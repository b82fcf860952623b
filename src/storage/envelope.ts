/**
 * The envelope of a batch: the personal data of its applicants, sealed together and bound to the batch. One call of
 * the cipher for the batch costs as much as thirty calls for single applications would save (docs/decisions/0001).
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { FIELDS, type Field, type FieldName } from '../domain/application/fields.ts';
import { type BatchId, partitionOfBatch } from '../domain/application/ids.ts';
import { isPhone, type Phone } from '../domain/application/phone.ts';
import type { Session } from './database.ts';
import { byPartitions } from './partition-runs.ts';
import { UnknownDataKeyError, type Vault } from './vault.ts';

/** The sealed fields of one applicant. */
export type PersonalRecord = {
  readonly [Name in FieldName]?: (Name extends 'phone' ? Phone : string) | null;
};

/** Records by position. */
export type PersonalRecords = Readonly<Record<string, PersonalRecord>>;

/** An applicant whose fields are sealed; the application may have other fields. */
export interface Applicant {
  /** The place in the batch as it was sent. */
  readonly position: number;
  readonly application: Readonly<Partial<Record<FieldName, unknown>>>;
}

const SEALED_FIELDS = (FIELDS as readonly Field[])
  .filter((field) => field.column !== true)
  .map((field) => field.name as FieldName);

/** The content of an envelope: the values of each field by position, null if the position has none. */
type Columns = Readonly<Record<string, unknown[]>>;

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

function unseal(vault: Vault, sealId: string, envelope: Buffer): string {
  const bytes = vault.open(envelope, identity(sealId));
  const isCompressed = bytes.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC);
  return (isCompressed ? zstdDecompressSync(bytes) : bytes).toString();
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
  const columns: unknown = JSON.parse(unseal(vault, sealId, envelope));
  if (!isObject(columns) || !SEALED_FIELDS.every((name) => Array.isArray(columns[name])))
    throw new TypeError('the envelope holds something else than records');
  return recordsOf(columns as Columns);
}

/** A position without any value has no applicant, or an erased one. */
function recordsOf(columns: Columns): PersonalRecords {
  const records: Record<string, Partial<Record<FieldName, unknown>>> = {};
  for (const name of SEALED_FIELDS) {
    const values = columns[name]!;
    for (let position = 0; position < values.length; position += 1) {
      const value = values[position] ?? null;
      if (value === null) continue;
      const record = records[position];
      if (record === undefined) records[position] = { [name]: value };
      else record[name] = value;
    }
  }
  return records as PersonalRecords;
}

/** Whether the content for a position is a record. */
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

/** To open as many takes about 5 ms. Other requests come between them, because a page of events may have 500. */
const OPENED_AT_ONCE = 64;

/** What opening an envelope gave: the records by position, null if it is damaged, or that another process has its key. */
export type OpenedEnvelope = PersonalRecords | null | 'unknown_key';

/** The records of several batches, by batch. */
export async function readEnvelopes(
  session: Session,
  vault: Vault,
  batchIds: readonly BatchId[],
): Promise<Map<BatchId, OpenedEnvelope>> {
  const rows: SealedBatch[] = [];
  for (const some of byPartitions([...new Set(batchIds)], partitionOfBatch)) {
    rows.push(...(await session.query<SealedBatch>(READ, [some])).rows);
  }
  const opened = new Map<BatchId, OpenedEnvelope>();
  for (const [index, { id, seal_id, envelope }] of rows.entries()) {
    if (index > 0 && index % OPENED_AT_ONCE === 0) await nextTurn();
    opened.set(id, tryToOpen(vault, seal_id, envelope));
  }
  return opened;
}

function tryToOpen(vault: Vault, sealId: string, envelope: Buffer): OpenedEnvelope {
  try {
    return openEnvelope(vault, sealId, envelope);
  } catch (error) {
    return error instanceof UnknownDataKeyError ? 'unknown_key' : null;
  }
}

function identity(sealId: string): string {
  return `batch:${sealId}`;
}
