/**
 * Locks batches whose envelopes are written again, for an erasure or a correction, and makes the new envelope. Locks
 * `batches`.
 */
import type { BatchId } from '../../../domain/application/ids.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type Applicant, openEnvelope, type PersonalRecord, sealEnvelope } from './envelope.ts';

export interface LockedBatch {
  readonly id: BatchId;
  readonly seal_id: string;
  readonly envelope: Buffer | null;
  /** The positions without an application, from 1 on. */
  readonly gone: readonly number[];
  readonly positions: number;
}

const LOCK = `
  SELECT id, seal_id, envelope, array_positions(id_numbers, NULL) AS gone, cardinality(id_numbers) AS positions
  FROM lock_batches($1)`;

/** Locks these batches until the end of the transaction, and returns those that there are. */
export async function lockBatches(
  session: Transaction,
  ids: readonly BatchId[],
): Promise<readonly LockedBatch[]> {
  return (await session.query<LockedBatch>(LOCK, [ids])).rows;
}

/**
 * The envelope with what `change` makes of each record, and without applicants who were not registered; null: it would
 * hold nobody. Throws if the envelope does not open.
 */
export function rewrittenEnvelope(
  vault: Vault,
  { seal_id, envelope, gone, positions }: LockedBatch,
  change: (record: PersonalRecord, position: number) => PersonalRecord | null,
): Buffer | null {
  if (envelope === null) return null;
  const stay = Object.entries(openEnvelope(vault, seal_id, envelope)).flatMap(([at, record]): Applicant[] => {
    const position = Number(at);
    const isRegistered = position < positions && !gone.includes(position + 1);
    const application = isRegistered ? change(record, position) : null;
    return application === null ? [] : [{ position, application }];
  });
  return stay.length === 0 ? null : sealEnvelope(vault, seal_id, stay);
}
