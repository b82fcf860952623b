/** Makes the blind indexes of the applications again when the index key is replaced. */
import type { Transaction } from '../../postgres/database.ts';
import { type Again, reindexColumns } from '../../seal/reindex.ts';
import { partitionsDown } from './partition-runs.ts';

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
/** The upkeep fills the buckets again; until then a search reads all batches. */
const EMPTY_BUCKETS = 'DELETE FROM look_up_buckets';
const FILL_AGAIN = 'UPDATE closed_segments SET in_buckets = false';

/** The index of an erased ID number (`erased_index` of the database). */
const ERASED = '0';

/** An index by position; null where the position has none. */
type Indexes = readonly (string | null)[];

export async function reindexApplications(session: Transaction, again: Again): Promise<number> {
  let written = await reindexColumns(session, again, [OPEN_PHONES]);
  const anew = (index: string | null) => (index === null || index === ERASED ? index : again(index));
  for await (const { from, before } of partitionsDown(session)) {
    for (let next: string | null = from; next !== null; ) {
      const { rows }: { rows: { id: string; phones: Indexes; id_numbers: Indexes }[] } = await session.query(
        READ,
        [next, before],
      );
      const last = rows.at(-1);
      next = last === undefined ? null : `${Number(last.id) + 1}`;
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
  }
  await session.query(EMPTY_BUCKETS);
  await session.query(FILL_AGAIN);
  return written;
}
