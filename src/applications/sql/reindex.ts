/** Makes the blind indexes of the applications again when the index key is replaced. */
import type { Transaction } from '../../postgres/database.ts';
import { type Again, reindexColumns } from '../../seal/reindex.ts';
import { partitionsDown } from './partition-runs.ts';

const OPEN_PHONES = {
  read: 'SELECT phone_index AS index FROM open_phones',
  write: `
    UPDATE open_phones o SET phone_index = g.after FROM unnest($1::bigint[], $2::bigint[]) AS g(before, after)
    WHERE o.phone_index = g.before`,
};
const READ = `
  SELECT id, phones, id_numbers FROM batches WHERE id >= $1 AND id < $2 ORDER BY id LIMIT 1000`;
const WRITE = `
  UPDATE batches b SET phones = g.phones::bigint[], id_numbers = g.id_numbers::bigint[]
  FROM unnest($1::bigint[], $2::text[], $3::text[]) AS g(id, phones, id_numbers)
  WHERE b.id = ANY ($1::bigint[]) AND b.id = g.id`;
/** The upkeep fills the buckets again; until then a search reads all batches. */
const EMPTY_BUCKETS = 'DELETE FROM look_up_buckets';
const FILL_AGAIN = 'UPDATE closed_segments SET in_buckets = false';

/** An index by position; null where the position has none. */
type Indexes = readonly (string | null)[];

export async function reindexApplications(session: Transaction, again: Again): Promise<number> {
  let written = await reindexColumns(session, again, [OPEN_PHONES]);
  const literal = (indexes: Indexes) =>
    `{${indexes.map((index) => (index === null ? 'NULL' : again(index))).join(',')}}`;
  for await (const { from, before } of partitionsDown(session)) {
    for (let next: string | null = from; next !== null; ) {
      const { rows }: { rows: { id: string; phones: Indexes; id_numbers: Indexes }[] } = await session.query(
        READ,
        [next, before],
      );
      const last = rows.at(-1);
      next = last === undefined ? null : `${Number(last.id) + 1}`;
      if (last === undefined) continue;
      await session.query(WRITE, [
        rows.map(({ id }) => id),
        rows.map(({ phones }) => literal(phones)),
        rows.map(({ id_numbers }) => literal(id_numbers)),
      ]);
      for (const { phones, id_numbers } of rows) written += phones.length + id_numbers.length;
    }
  }
  await session.query(EMPTY_BUCKETS);
  await session.query(FILL_AGAIN);
  return written;
}
