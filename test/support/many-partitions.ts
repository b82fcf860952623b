/** A store with thousands of old partitions, without the applications that they would hold. */
import pg from 'pg';

const WIDTH = 2 ** 23;
/**
 * Partitions are made below parents, because to attach one takes the longer the more its parent has. They have no parts
 * of their own, so they have no files; a statement that does not name its partitions locks them all the same.
 */
const IN_A_GROUP = 100;

const TABLES = [
  { table: 'batches', key: 'id', perBatch: 1 },
  { table: 'message_records', key: 'message_id', perBatch: 128 },
] as const;

/**
 * Adds so many partitions after those that are there, as closed ones, and goes on with batches after them. `count` is a
 * multiple of 100.
 */
export async function addPartitions(url: string, count: number): Promise<void> {
  const sessions = TABLES.map(() => new pg.Client({ connectionString: url }));
  await Promise.all(sessions.map((session) => session.connect()));
  const [first] = sessions as [pg.Client, pg.Client];
  const { rows } = await first.query('SELECT partitions_end AS end FROM elapsed');
  const begin = Number(rows[0].end) / WIDTH;
  await Promise.all(
    TABLES.map(async ({ table, key, perBatch }, index) => {
      for (let group = begin; group < begin + count; group += IN_A_GROUP) {
        const unit = WIDTH * perBatch;
        await sessions[index]?.query(`
          DO $$ DECLARE
            v_parent text := '${table}_to_${(group + IN_A_GROUP) * WIDTH}';
          BEGIN
            EXECUTE format('CREATE TABLE %I (LIKE ${table} INCLUDING ALL) PARTITION BY RANGE (${key})', v_parent);
            FOR i IN ${group}..${group + IN_A_GROUP - 1} LOOP
              EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%s) TO (%s) PARTITION BY RANGE (${key})',
                '${table}_old_' || i, v_parent,
                i * ${unit}::bigint, (i + 1) * ${unit}::bigint);
            END LOOP;
            EXECUTE format('ALTER TABLE ${table} ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', v_parent,
              ${group * unit}::bigint, ${(group + IN_A_GROUP) * unit}::bigint);
          END $$`);
      }
    }),
  );
  await first.query(
    `INSERT INTO closed_segments (begins_at, ends_at, closed_ms, applications, in_buckets, may_have_surplus)
    SELECT i * ${WIDTH}::bigint, (i + 1) * ${WIDTH}::bigint, 0, 8388608, true, false FROM generate_series(0, $1::integer - 1) AS i
    ON CONFLICT DO NOTHING`,
    [begin + count],
  );
  const end = (begin + count) * WIDTH;
  await first.query('UPDATE elapsed SET partitions_end = $1::bigint, open_from = $1::bigint', [end]);
  await first.query("SELECT setval('batch_numbers', $1), make_batch_partitions()", [end]);
  await Promise.all(sessions.map((session) => session.end()));
}
