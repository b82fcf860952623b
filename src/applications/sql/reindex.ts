/** Makes the blind indexes of the applications again when the index key is replaced. */

import type { Transaction } from '../../postgres/database.ts';
import { type Again, type Reindexing, type ReindexStep, reindexColumns } from '../../seal/reindex.ts';
import { type BatchId, batchesOfPartition, partitionOfBatch, toBatchId } from '../rules/ids.ts';
import { partitionsEnd } from './partition-runs.ts';

/** On a cluster the index tells the machine of a row, so it cannot be changed in place. */
const OPEN_PHONES = {
  read: 'SELECT phone_index AS index FROM open_phones',
  write: `
    INSERT INTO open_phones (phone_index, application_id)
    SELECT g.after, o.application_id FROM open_phones o
    JOIN unnest($1::bigint[], $2::bigint[]) AS g(before, after) ON g.before = o.phone_index`,
  remove: 'DELETE FROM open_phones WHERE phone_index = ANY ($1::bigint[])',
};
const READ = `
  SELECT id, phones, id_numbers FROM batches WHERE id >= $1 AND id < $2 ORDER BY id LIMIT 1000`;
/** $1: batches; $2 to $4: the batch, the phone and the ID number of each of their positions. */
const WRITE = `
  UPDATE batches b SET phones = g.phones, id_numbers = g.id_numbers
  FROM (
    SELECT u.id, array_agg(u.phone ORDER BY u.n) AS phones, array_agg(u.id_number ORDER BY u.n) AS id_numbers
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS u(id, phone, id_number, n) GROUP BY u.id
  ) AS g
  WHERE b.id = ANY ($1::bigint[]) AND b.id = g.id`;
/** Most reads of one step: what a step that is killed has to do again. */
const READS = 50;
/** The upkeep fills the buckets again; until then a search reads all batches. */
const EMPTY_BUCKETS = 'DELETE FROM look_up_buckets';
const FILL_AGAIN = 'UPDATE closed_segments SET in_buckets = false';

/** The index of an erased ID number (`erased_index` of the database). */
const ERASED = '0';

/** An index by position; null where the position has none. */
type Indexes = readonly (string | null)[];

interface Row {
  readonly id: string;
  readonly phones: Indexes;
  readonly id_numbers: Indexes;
}

/** What has blind indexes of applications. A step of the batches goes on from the number of a batch. */
export const APPLICATION_REINDEXINGS: readonly Reindexing[] = [
  reindexColumns('open phones', [OPEN_PHONES]),
  { name: 'batches', step: reindexBatches },
  {
    name: 'look-up buckets',
    step: async (session) => {
      await session.query(EMPTY_BUCKETS);
      await session.query(FILL_AGAIN);
      return { next: null, written: 0 };
    },
  },
];

async function reindexBatches(session: Transaction, again: Again, text: string): Promise<ReindexStep> {
  const anew = (index: string | null) => (index === null || index === ERASED ? index : again(index));
  let from: BatchId = toBatchId(text === '' ? 0 : text);
  const { before } = batchesOfPartition(partitionOfBatch(from));
  let written = 0;
  for (let reads = 0; reads < READS && from !== before; reads += 1) {
    const { rows } = await session.query<Row>(READ, [from, before]);
    const last = rows.at(-1);
    from = last === undefined ? before : toBatchId(Number(last.id) + 1);
    if (last === undefined) continue;
    const phones = rows.flatMap((row) => row.phones.map(anew));
    await session.query(WRITE, [
      rows.map(({ id }) => id),
      rows.flatMap((row) => row.phones.map(() => row.id)),
      phones,
      rows.flatMap((row) => row.id_numbers.map(anew)),
    ]);
    written += 2 * phones.length;
  }
  const isOver = Number(from) >= (await partitionsEnd(session));
  return { next: isOver ? null : `${from}`, written };
}
