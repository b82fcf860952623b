/** Puts a large stock of applications and used quota into the store, as if they had come over time. */
import type pg from 'pg';

const BATCH = 100;
const CHUNK_BATCHES = 1_000;

/**
 * Whole rows, 30 days old: batches of 100 with an envelope of the usual size, every phone and ID number different, of
 * ten applications six still open, two in review and two rejected, and a delivered message for each but the rejected.
 */
const BATCHES = `
  WITH batch AS MATERIALIZED (
    SELECT uuidv7(interval '-30 days') AS id, nextval('batch_numbers') AS number FROM generate_series(1, $1::integer)
  ), enveloped AS (
    -- 11.2 KB that do not compress.
    INSERT INTO batches (id, envelope, surplus)
    SELECT b.id, (SELECT string_agg(decode(md5(b.id::text || piece), 'hex'), '') FROM generate_series(1, 700) AS piece),
      false
    FROM batch b
  ), registered AS (
    INSERT INTO applications (id, created_at, phone_index, id_number_index, batch_id, partner_id, api_key_id,
      policy_id, position, score, payment_capacity_points, channel_points, debt_age_points, num_debts_points,
      prior_history_points, decision, status, messaging_optin, num_debts, debt_age, prior_history, currency,
      platform, income, debt_amount)
    SELECT b.number * 128 + p, now() - interval '30 days', gen_random_uuid(), gen_random_uuid(),
      b.id, 1, 1, 1, p, 75, 20, 20, 20, 0, 15,
      (CASE WHEN p % 10 < 6 THEN 'approved' WHEN p % 10 < 8 THEN 'in_review' ELSE 'rejected' END)::decision,
      (CASE WHEN p % 10 < 6 THEN 'pending_signature' WHEN p % 10 < 8 THEN 'in_review' ELSE 'rejected'
        END)::application_status,
      true, '1', 'lt6', 'yes', 'COP', 'gig', 3200000, 6000000
    FROM batch b, generate_series(0, ${BATCH - 1}) AS p
    RETURNING id, created_at, decision
  ), message AS (
    INSERT INTO messages (application_id, created_at, type, status, attempts, channel_message_id)
    SELECT r.id, r.created_at, 'approved', 'delivered', 1, gen_random_uuid() FROM registered r
    WHERE r.decision <> 'rejected'
    RETURNING status
  )
  INSERT INTO message_counts SELECT status, count(*) FROM message GROUP BY status`;

/** `count` applications, and a fifth as many used in the last day, spread over its seconds. */
export async function fillStore(client: pg.Client, count: number): Promise<void> {
  for (let left = Math.ceil(count / BATCH); left > 0; left -= CHUNK_BATCHES) {
    await client.query(BATCHES, [Math.min(left, CHUNK_BATCHES)]);
  }
  await client.query(
    `INSERT INTO usage_entries (partner_id, second, slot, count)
    SELECT 1, date_trunc('second', now()) - n * interval '1 second', 0, $1 FROM generate_series(60, 86000) AS n`,
    [Math.max(Math.round(count / 5 / 86_000), 1)],
  );
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
}
