/**
 * Reads the envelopes of batches, a few at a time, and opens one after the other, so that memory and pauses are
 * bounded. Reads `batches`. docs/decisions/0001-one-envelope-a-batch.md has the reasons.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FieldName } from '../../../domain/application/fields.ts';
import { type BatchId, partitionOfBatch } from '../../../domain/application/ids.ts';
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import type { Database, Session } from '../../../ground/postgres/database.ts';
import { eachApart } from '../../../ground/postgres/row-fault.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type Columns, openColumns, type PersonalRecords, recordsOf, SEALED_FIELDS } from './envelope.ts';
import { byPartitions } from './partition-runs.ts';

/** A batch with its id and the id that its envelope is bound to. */
interface SealedBatch {
  readonly id: BatchId;
  readonly seal_id: string;
  readonly envelope: Buffer;
}

const READ = `
  SELECT b.id, b.seal_id, b.envelope FROM batches b WHERE b.id = ANY ($1::bigint[]) AND b.envelope IS NOT NULL`;
/** The length of a value that is stored outside of its row is in the row. */
const READ_SIZES = `
  SELECT b.id, octet_length(b.envelope) AS bytes FROM batches b
  WHERE b.id = ANY ($1::bigint[]) AND b.envelope IS NOT NULL`;

/**
 * An envelope takes 270 bytes to 160 KiB, so envelopes are read by their size, a few at a time. The driver needs three
 * times their size.
 */
const BYTES_AT_ONCE = 1024 * 1024;
const ENVELOPES_AT_ONCE = 128;
/** So few envelopes are read without asking for their sizes, because they have 2 MiB at most. */
const FEW = 12;

/**
 * Opening an envelope costs about as much as reading one applicant in it. This many together take one to three
 * milliseconds.
 */
const AT_ONCE = 64;

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
 * `use` with the fields of each, or with the reason why it does not open; a batch without an envelope is left out.
 */
export async function eachEnvelope(
  session: Session,
  vault: Vault,
  batchIds: readonly BatchId[],
  { fields, pace }: EnvelopeReading,
  use: (batchId: BatchId, columns: OpenedColumns) => void,
): Promise<void> {
  const turns = new EnvelopeTurns();
  const damaged = (batchId: BatchId) => use(batchId, null);
  const read = async (ids: readonly BatchId[]) => {
    const { rows } = await session.query<SealedBatch>(READ, [ids]);
    for (const { id, seal_id, envelope } of rows) {
      const columns = tryToOpen(vault, seal_id, envelope, fields);
      use(id, columns);
      await turns.after(applicantsIn(columns));
    }
  };
  for (const { ids, bytes } of await parts(session, [...new Set(batchIds)], damaged)) {
    await pace?.(ids.length, bytes);
    await eachApart(ids, read, damaged);
  }
}

/**
 * The records of one batch: null without an envelope, or if the envelope is damaged; `unknown_key` if another process
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

function applicantsIn(columns: OpenedColumns): number {
  if (columns === null || columns === 'unknown_key') return 0;
  return Object.values(columns)[0]?.length ?? 0;
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

/**
 * Lets other work of the process run between envelopes, for one reader of them. It counts what was opened, so the speed
 * of the machine does not matter.
 */
export class EnvelopeTurns {
  #opened = 0;

  /** Call this after an envelope with so many applicants. Resolves when the next one may be opened. */
  async after(applicants: number): Promise<void> {
    this.#opened += 1 + applicants;
    if (this.#opened < AT_ONCE) return;
    this.#opened = 0;
    await nextTurn();
  }
}
