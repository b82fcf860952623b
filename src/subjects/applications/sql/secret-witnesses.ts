/** Shows which stored batches depend on the index key and on each data key (`seal/witness.ts`). Reads `batches`. */
import type { Session } from '../../../ground/postgres/database.ts';
import type { Opening, SealedKind, SealedSearch } from '../../../seal/witness.ts';
import { openEnvelope } from './envelope.ts';
import { partitionsDown } from './partition-runs.ts';
import { envelopesOf, resealEnvelopes } from './reseal-envelopes.ts';

const A_BATCH = 'SELECT FROM batches WHERE id >= $1 AND id < $2 LIMIT 1';

/** Whether there is a batch: its applicants have indexes. */
export async function hasBatches(session: Session): Promise<boolean> {
  for await (const { from, before } of partitionsDown(session)) {
    const { rows } = await withoutLocks(session, () => session.query(A_BATCH, [from, before]));
    if (rows.length > 0) return true;
  }
  return false;
}

/** Reads within a savepoint whose locks end with it, so that a walk does not keep the locks of every partition. */
async function withoutLocks<T>(session: Session, read: () => Promise<T>): Promise<T> {
  await session.query('SAVEPOINT partition');
  const found = await read();
  await session.query('ROLLBACK TO SAVEPOINT partition');
  return found;
}

const SEALED = `
  SELECT seal_id, envelope FROM batches
  WHERE id >= $2 AND id < $3 AND substring(envelope FROM 1 FOR 1) = $1 LIMIT 3`;

/** Envelopes that a data key has sealed, those of the newest partition first. */
async function* sealedBatches({
  session,
  keyByte,
  rows,
}: SealedSearch): AsyncGenerator<Opening, void, undefined> {
  for await (const { from, before } of partitionsDown(session)) {
    const read = () => rows<{ seal_id: string; envelope: Buffer }>(SEALED, [keyByte, from, before]);
    const found = await withoutLocks(session, read);
    for (const { seal_id, envelope } of found) yield (vault) => openEnvelope(vault, seal_id, envelope);
  }
}

/** The envelopes of the batches. */
export const ENVELOPES: SealedKind = {
  name: 'envelopes',
  find: sealedBatches,
  rowsOf: envelopesOf,
  reseal: resealEnvelopes,
};
