/**
 * The envelope of a batch: the personal data of its applicants, sealed together and bound to the batch. One
 * call of the cipher costs what thirty applications cost otherwise (docs/decisions/0001).
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type Application, FIELDS, type Field, type FieldName } from '../domain/fields.ts';
import type { Database, Session } from './database.ts';
import { isRowFault } from './row-fault.ts';
import type { Vault } from './vault.ts';

/** The sealed fields of one applicant. */
export type PersonalRecord = Partial<Record<FieldName, string | null>>;

/** Records by position. */
export type PersonalRecords = Readonly<Record<string, PersonalRecord>>;

interface Applicant {
  /** Place in the batch as it was sent. */
  readonly position: number;
  readonly application: Application;
}

const SEALED_FIELDS = (FIELDS as readonly Field[])
  .filter((field) => field.column !== true)
  .map((field) => field.name as FieldName);

export function sealEnvelope(vault: Vault, sealId: string, applicants: readonly Applicant[]): Buffer {
  const records: Record<number, PersonalRecord> = {};
  for (const { position, application } of applicants) {
    const record: Record<string, unknown> = {};
    for (const name of SEALED_FIELDS) record[name] = application[name];
    records[position] = record as PersonalRecord;
  }
  return seal(vault, sealId, records);
}

/** Shorter ones gain little, and a call of the compressor costs as much as twenty applications (docs/decisions/0006). */
const LEAST_COMPRESSED_LENGTH = 2_048;
/** Of a zstd frame; JSON does not begin so. */
const ZSTD_MAGIC = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);
const ZSTD_LEVEL_1 = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

function seal(vault: Vault, sealId: string, records: PersonalRecords): Buffer {
  const text = JSON.stringify(records);
  const isLong = text.length >= LEAST_COMPRESSED_LENGTH;
  return vault.seal(isLong ? zstdCompressSync(text, ZSTD_LEVEL_1) : text, identity(sealId));
}

function unseal(vault: Vault, sealId: string, envelope: Buffer): string {
  const bytes = vault.open(envelope, identity(sealId));
  const isCompressed = bytes.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC);
  return (isCompressed ? zstdDecompressSync(bytes) : bytes).toString();
}

/** The records by position; throws where the envelope is not of this batch or not of its form. */
export function openEnvelope(vault: Vault, sealId: string, envelope: Buffer): PersonalRecords {
  const records: unknown = JSON.parse(unseal(vault, sealId, envelope));
  if (!isObject(records)) throw new TypeError('the envelope holds something else than records');
  return records as PersonalRecords;
}

/** Whether what an envelope holds for a position is a record. */
export function isRecord(value: unknown): value is PersonalRecord {
  return isObject(value) && SEALED_FIELDS.every((name) => isTextOrAbsent(value[name]));
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A batch, by its number and by what its envelope is bound to. */
interface SealedBatch {
  readonly id: string;
  readonly seal_id: string;
  readonly envelope: Buffer;
}

const READ = `
  SELECT b.id, b.seal_id, b.envelope FROM unnest($1::bigint[]) AS g(id) JOIN batches b ON b.id = g.id
  WHERE b.envelope IS NOT NULL`;

/** The records of several batches, by batch number and position; null for an envelope that does not open. */
export async function readEnvelopes(
  session: Session,
  vault: Vault,
  batchNumbers: readonly string[],
): Promise<Map<string, PersonalRecords | null>> {
  const { rows } = await session.query<SealedBatch>(READ, [[...new Set(batchNumbers)]]);
  return new Map(rows.map(({ id, seal_id, envelope }) => [id, openOrNull(vault, seal_id, envelope)]));
}

function openOrNull(vault: Vault, sealId: string, envelope: Buffer): PersonalRecords | null {
  try {
    return openEnvelope(vault, sealId, envelope);
  } catch {
    return null;
  }
}

const REWRITE = 'UPDATE batches SET envelope = $2, surplus = false WHERE id = $1 AND surplus';

/** Rewrites a batch's envelope so that it holds the applicants who were registered and nobody else. */
export async function keepRegistered(
  database: Database,
  vault: Vault,
  batchNumber: number,
  sealId: string,
  registered: readonly Applicant[],
): Promise<void> {
  await database.query(REWRITE, [batchNumber, sealEnvelope(vault, sealId, registered)]);
}

/** An envelope that still holds refused applicants after this was left behind by a crash. */
const SURPLUS_AFTER = "interval '30 seconds'";
/** How long an envelope that does not open is left alone: a key may be given back meanwhile. */
const TRY_AGAIN_AFTER = "interval '1 hour'";
const CHUNK = 100;

/** A time in the future is one of a clock that stepped back since. */
const FIND_SURPLUS = `
  SELECT b.id, b.seal_id, r.marks FROM batches b JOIN batch_receipts r ON r.batch_id = b.seal_id
  WHERE b.surplus AND r.created_at NOT BETWEEN now() - ${SURPLUS_AFTER} AND now()
    AND (b.unreadable_at IS NULL OR b.unreadable_at NOT BETWEEN now() - ${TRY_AGAIN_AFTER} AND now())
  ORDER BY b.id LIMIT ${CHUNK}`;
const PUT_ASIDE = 'UPDATE batches SET unreadable_at = now() WHERE id = $1 AND surplus';

/**
 * Does what `keepRegistered` could not: by the receipt, whose marks stand in the order of the positions. An
 * envelope that does not open, or is not of its receipt, is put aside for an hour. The batch numbers of those.
 */
export async function trimSurplus(database: Database, vault: Vault): Promise<readonly string[]> {
  const unreadable: string[] = [];
  for (;;) {
    const { rows } = await database.query<Surplus>(FIND_SURPLUS);
    for (const { id, seal_id, marks } of rows) {
      const kept = await keptRecords(database, vault, id, marks);
      if (kept === null) {
        unreadable.push(id);
        await database.query(PUT_ASIDE, [id]);
      } else {
        await database.query(REWRITE, [id, seal(vault, seal_id, kept)]);
      }
    }
    if (rows.length < CHUNK) return unreadable;
  }
}

interface Surplus {
  readonly id: string;
  readonly seal_id: string;
  /** As in `batch_receipts`. */
  readonly marks: string | null;
}

/** The records of those who were registered; null where the envelope cannot tell. */
async function keptRecords(
  database: Database,
  vault: Vault,
  batchNumber: string,
  marks: string | null,
): Promise<PersonalRecords | null> {
  try {
    const records = (await readEnvelopes(database, vault, [batchNumber])).get(batchNumber);
    if (records == null || marks === null) return null;
    const candidates = [...marks].flatMap((mark, position) => (mark === '-' ? [] : [String(position)]));
    const entries = Object.entries(records);
    if (entries.length !== candidates.length || !candidates.every((position) => position in records))
      return null;
    return Object.fromEntries(entries.filter(([position]) => marks[Number(position)] === 'R'));
  } catch (error) {
    if (isRowFault(error)) return null;
    throw error;
  }
}

function identity(sealId: string): string {
  return `batch:${sealId}`;
}
