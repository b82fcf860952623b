/**
 * The envelope of a batch: the personal data of its applicants, sealed together and bound to the batch. One
 * call of the cipher costs what thirty applications cost otherwise (docs/decisions/0001).
 */
import { type Application, FIELDS, type Field, type FieldName } from '../domain/fields.ts';
import type { Database, Session } from './database.ts';
import type { Vault } from './vault.ts';

/** The sealed fields of one applicant. */
export type PersonalRecord = Partial<Record<FieldName, string | null>>;

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

/** The records by position; throws where the envelope is not of this batch. */
export function openEnvelope(
  vault: Vault,
  batchId: string,
  envelope: Buffer,
): Record<string, PersonalRecord> {
  return JSON.parse(vault.open(envelope, identity(batchId))) as Record<string, PersonalRecord>;
}

const READ = 'SELECT id, envelope FROM batches WHERE id = ANY ($1::uuid[])';

/** The records of several batches, by batch and position. */
export async function readEnvelopes(
  database: Session,
  vault: Vault,
  batchIds: readonly string[],
): Promise<Map<string, Record<string, PersonalRecord>>> {
  const { rows } = await database.query<{ id: string; envelope: Buffer }>(READ, [[...new Set(batchIds)]]);
  return new Map(rows.map(({ id, envelope }) => [id, openEnvelope(vault, id, envelope)]));
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

const READ_SURPLUS = `
  SELECT b.id, b.envelope, r.outcomes::text[] AS outcomes FROM batches b JOIN batch_receipts r ON r.batch_id = b.id
  WHERE b.surplus AND b.id < $1 ORDER BY b.id LIMIT 100`;

/**
 * Does what `keepRegistered` could not, for batches with an id below `before`: by the receipt, whose
 * outcomes stand in the order of the positions.
 */
export async function trimSurplus(database: Database, vault: Vault, before: string): Promise<number> {
  const { rows } = await database.query<{ id: string; envelope: Buffer; outcomes: string[] }>(READ_SURPLUS, [
    before,
  ]);
  for (const { id, envelope, outcomes } of rows) {
    const records = Object.entries(openEnvelope(vault, id, envelope));
    const kept = records.filter((_, index) => Number(outcomes[index]) > 0);
    await database.query(REWRITE, [id, vault.seal(JSON.stringify(Object.fromEntries(kept)), identity(id))]);
  }
  return rows.length;
}

function identity(batchId: string): string {
  return `batch:${batchId}`;
}
