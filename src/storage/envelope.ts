/**
 * The envelope of a batch: the personal data of its applicants, sealed together and bound to the batch. One
 * call of the cipher costs what thirty applications cost otherwise (docs/decisions/0001).
 */
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

export function sealEnvelope(vault: Vault, batchId: string, applicants: readonly Applicant[]): Buffer {
  const records: Record<number, PersonalRecord> = {};
  for (const { position, application } of applicants) {
    const record: Record<string, unknown> = {};
    for (const name of SEALED_FIELDS) record[name] = application[name];
    records[position] = record as PersonalRecord;
  }
  return vault.seal(JSON.stringify(records), identity(batchId));
}

/** The records by position; throws where the envelope is not of this batch or not of its form. */
export function openEnvelope(vault: Vault, batchId: string, envelope: Buffer): PersonalRecords {
  const records: unknown = JSON.parse(vault.open(envelope, identity(batchId)));
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

const READ = 'SELECT id, envelope FROM batches WHERE id = ANY ($1::uuid[])';

/** The records of several batches, by batch and position; null for an envelope that does not open. */
export async function readEnvelopes(
  session: Session,
  vault: Vault,
  batchIds: readonly string[],
): Promise<Map<string, PersonalRecords | null>> {
  const { rows } = await session.query<{ id: string; envelope: Buffer }>(READ, [[...new Set(batchIds)]]);
  return new Map(rows.map(({ id, envelope }) => [id, openOrNull(vault, id, envelope)]));
}

function openOrNull(vault: Vault, batchId: string, envelope: Buffer): PersonalRecords | null {
  try {
    return openEnvelope(vault, batchId, envelope);
  } catch {
    return null;
  }
}

const REWRITE = 'UPDATE batches SET envelope = $2, surplus = false WHERE id = $1 AND surplus';

/** Rewrites the envelope so that it holds the applicants who were registered and nobody else. */
export async function keepRegistered(
  database: Database,
  vault: Vault,
  batchId: string,
  registered: readonly Applicant[],
): Promise<void> {
  await database.query(REWRITE, [batchId, sealEnvelope(vault, batchId, registered)]);
}

/** An envelope that still holds refused applicants after this was left behind by a crash. */
const SURPLUS_AFTER = "interval '30 seconds'";
/** How long an envelope that does not open is left alone: a key may be given back meanwhile. */
const TRY_AGAIN_AFTER = "interval '1 hour'";
const CHUNK = 100;

/** A time in the future is one of a clock that stepped back since. */
const FIND_SURPLUS = `
  SELECT b.id, r.outcomes::text[] AS outcomes FROM batches b JOIN batch_receipts r ON r.batch_id = b.id
  WHERE b.surplus AND r.created_at NOT BETWEEN now() - ${SURPLUS_AFTER} AND now()
    AND (b.unreadable_at IS NULL OR b.unreadable_at NOT BETWEEN now() - ${TRY_AGAIN_AFTER} AND now())
  ORDER BY b.id LIMIT ${CHUNK}`;
const PUT_ASIDE = 'UPDATE batches SET unreadable_at = now() WHERE id = $1 AND surplus';

/**
 * Does what `keepRegistered` could not: by the receipt, whose outcomes stand in the order of the positions. An
 * envelope that does not open, or is not of its receipt, is put aside for an hour. The ids of those.
 */
export async function trimSurplus(database: Database, vault: Vault): Promise<readonly string[]> {
  const unreadable: string[] = [];
  for (;;) {
    const { rows } = await database.query<{ id: string; outcomes: string[] }>(FIND_SURPLUS);
    for (const { id, outcomes } of rows) {
      const kept = await keptRecords(database, vault, id, outcomes);
      if (kept === null) {
        unreadable.push(id);
        await database.query(PUT_ASIDE, [id]);
      } else {
        await database.query(REWRITE, [id, vault.seal(JSON.stringify(kept), identity(id))]);
      }
    }
    if (rows.length < CHUNK) return unreadable;
  }
}

/** The records of those who were registered; null where the envelope cannot tell. */
async function keptRecords(
  database: Database,
  vault: Vault,
  batchId: string,
  outcomes: readonly string[],
): Promise<PersonalRecords | null> {
  try {
    const records = (await readEnvelopes(database, vault, [batchId])).get(batchId);
    const entries = Object.entries(records ?? {});
    if (records == null || entries.length !== outcomes.length) return null;
    return Object.fromEntries(entries.filter((_, index) => Number(outcomes[index]) > 0));
  } catch (error) {
    if (isRowFault(error)) return null;
    throw error;
  }
}

function identity(batchId: string): string {
  return `batch:${batchId}`;
}
