/** Fills the store with many applications, as if they had come over time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { isLate } from '../src/ground/postgres/database.ts';

const BATCH = 100;
const CHUNK_BATCHES = 1_000;

/** The facts of an application in review (`application_at`): score 30 to 59, up to 25,000 USD, in COP. */
const FACTS = `decode(to_hex(30 + abs(a.phone % 30)), 'hex') || decode('000000000001', 'hex') || decode('00', 'hex')
        || 'COP'::bytea || decode('00', 'hex') || float8send(2000000) || float8send(1000000 * (1 + abs(a.id_number % 100)))`;

/**
 * Inserts rows that are 30 days old: batches of 100 with an envelope of the usual size and unique phones and ID
 * numbers. Of ten applications six are still open, two in review or open ($2 of a hundred are in review) and two
 * rejected. All but the rejected have a delivered message.
 */
const BATCHES = `
  WITH batch AS MATERIALIZED (
    SELECT nextval('batch_numbers') AS id FROM generate_series(1, $1::integer)
  ), applicant AS MATERIALIZED (
    SELECT b.id, p, hashint8extended(application_id_at(b.id, p), 1) AS phone, hashint8extended(application_id_at(b.id, p), 2) AS id_number,
      p % 10 BETWEEN 6 AND 7 AND p / 10 * 2 + p % 10 - 6 < $2::integer AS waits
    FROM batch b, generate_series(0, ${BATCH - 1}) AS p
  ), stored AS (
    INSERT INTO batches (id, created_at, seal_id, partner_id, api_key_id, policy_id, surplus, phones, id_numbers, facts,
      platforms, envelope)
    SELECT a.id, now() - interval '30 days', gen_random_uuid(), 1, 1, 1, false, array_agg(a.phone ORDER BY a.p),
      array_agg(a.id_number ORDER BY a.p), string_agg(CASE WHEN a.waits THEN ${FACTS} ELSE decode(repeat('00', 28), 'hex') END, '' ORDER BY a.p), 'gig',
      -- 2.4 to 3.4 KB that do not compress.
      (SELECT string_agg(decode(md5(a.id::text || piece), 'hex'), '') FROM generate_series(1, 152 + (a.id % 59)::integer) AS piece)
    FROM applicant a GROUP BY a.id
  ), open AS (
    INSERT INTO open_phones SELECT phone, application_id_at(id, p) FROM applicant WHERE p % 10 < 8
  ), waiting AS (
    INSERT INTO review_queue SELECT id, 1, array_agg(p) FROM applicant WHERE waits GROUP BY id
  ), message AS (
    INSERT INTO message_records (message_id, changed_at, type, status, attempts, tries, partner_id, channel_message_id)
    SELECT application_id_at(id, p), now() - interval '30 days', 'approved', 'delivered', 1, 1, 1, hashint8extended(application_id_at(id, p), 3)
    FROM applicant WHERE p % 10 < 8
    RETURNING status
  )
  INSERT INTO message_counts SELECT status, count(*) FROM message GROUP BY status`;

/** Adds `count` applications, `waiting` of a hundred in review (20 at most). */
export async function fillStore(client: pg.Client, count: number, waiting = 20): Promise<void> {
  await client.query('ALTER TABLE open_phones DROP CONSTRAINT open_phones_pkey');
  for (let left = Math.ceil(count / BATCH); left > 0; left -= CHUNK_BATCHES) {
    await client.query('SELECT make_batch_partitions(), close_segments(1048576)');
    await client.query('SELECT leave_partition(8388608, 1e15::bigint)');
    await client.query(BATCHES, [Math.min(left, CHUNK_BATCHES), waiting]);
  }
  await client.query(`SET maintenance_work_mem = '1GB'`);
  await client.query('ALTER TABLE open_phones ADD PRIMARY KEY (phone_index)');
  // The upkeep puts a segment into buckets a minute after it was closed, at the earliest.
  await client.query('SELECT close_segments(1048576)');
  await client.query('UPDATE closed_segments SET closed_ms = closed_ms - 60000');
  while (await fillOne(client));
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
}

/** Whether there was a segment to put into buckets; a loop of the service that reads it keeps it back for a moment. */
async function fillOne(client: pg.Client): Promise<boolean> {
  try {
    return (await client.query('SELECT fill_look_up_buckets() AS filled')).rows[0].filled !== null;
  } catch (error) {
    if (!isLate(error)) throw error;
    await sleep(1_000);
    return true;
  }
}
