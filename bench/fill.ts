/** Puts a large stock of applications and used quota into the store, as if they had come over time. */
import type pg from 'pg';

const CHUNK = 250_000;

const APPLICATIONS = `
  INSERT INTO applications (id, created_at, phone_index, id_number_index, batch_id, partner_id, api_key_id,
    policy_id, position, score, payment_capacity_points, channel_points, debt_age_points, num_debts_points,
    prior_history_points, decision, status, messaging_optin, num_debts, debt_age, prior_history, currency,
    platform, income, debt_amount)
  SELECT nextval('application_ids'), now() - interval '30 days', gen_random_uuid(), gen_random_uuid(),
    gen_random_uuid(), 1, 1, 1, 0, 75, 20, 20, 20, 0, 15, 'approved', 'pending_signature', true, '1', 'lt6',
    'yes', 'COP', 'gig', 3200000, 6000000
  FROM generate_series(1, $1::integer)`;

/** `count` open applications, and a fifth as many used in the last day, spread over its seconds. */
export async function fillStore(client: pg.Client, count: number): Promise<void> {
  for (let left = count; left > 0; left -= CHUNK) await client.query(APPLICATIONS, [Math.min(left, CHUNK)]);
  await client.query(
    `INSERT INTO usage_entries (partner_id, second, slot, count)
    SELECT 1, date_trunc('second', now()) - n * interval '1 second', 0, $1 FROM generate_series(60, 86000) AS n`,
    [Math.max(Math.round(count / 5 / 86_000), 1)],
  );
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
}
