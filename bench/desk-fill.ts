/** Two years of what the desk, the inbox and the pages of the console read, beside the applications of a full store. */
import type { ServiceProcess } from './service-process.ts';

/** Spreads what the loop has made: as over time, of several partners, with states and claims. */
const SPREAD = `
  UPDATE review_items SET
    partner_id = CASE WHEN hashint8(application_id) % 1000 = 0 THEN 2 ELSE 1 END,
    due_at = CASE WHEN hashint8(application_id + 3) % 20 = 0 THEN 'infinity' ELSE due_at + hashint8(application_id) % 3000000 * interval '1 second' END,
    time_left = CASE WHEN hashint8(application_id + 3) % 20 = 0 THEN interval '5 hours' END,
    state = CASE WHEN hashint8(application_id + 3) % 20 = 0 THEN 'pended' WHEN hashint8(application_id + 4) % 200 = 0 THEN 'proposed' ELSE 'waiting' END`;

/** What twenty operators decide in 90 days of twelve hours each, for eight reasons. */
const DECIDED = `
  INSERT INTO decision_hours (hour, operator_id, act, reason_code, is_against_score, decisions, first_ms)
  SELECT date_trunc('hour', now(), 'UTC') - h.hour * interval '1 hour', o.id,
    CASE WHEN r.code < 4 THEN 'approve' ELSE 'reject' END,
    'code_' || r.code, r.code % 2 = 0, 5, elapsed_ms()
  FROM generate_series(0, 2159) AS h(hour), operators o, generate_series(1, 8) AS r(code) WHERE h.hour % 24 < 12`;
const ADD_DECIDERS = `
  INSERT INTO operators (login, role) SELECT 'decider' || n, 'reviewer' FROM generate_series(1, 19) AS n`;
/** 100,000 signed contracts, a quarter of them paid out, and as many decided reviews, all in the first batches. */
const SIGNED = `
  WITH signed AS (SELECT (1 + n / 60) * 128 + n % 60 AS id, n FROM generate_series(0, 99999) AS n), decided AS (
    INSERT INTO application_events (application_id, at, actor, action, from_status, to_status, reason)
    SELECT id, now() - n * interval '1 second', 'operator 1', 'approve', 'in_review', 'pending_signature', 'bench' FROM signed
  )
  INSERT INTO application_states (batch_id, application_id, status, conversation_at, signed_at, withdrawable_until)
  SELECT batch_of(id), id, (CASE WHEN n % 4 = 0 THEN 'disbursed' ELSE 'pending_signature' END)::application_status, now(),
    now() - n * interval '1 minute', CASE WHEN n % 2 = 0 THEN now() + (n % 5000 - 2500) * interval '1 minute' END
  FROM signed ON CONFLICT DO NOTHING`;

/** What waits for a person: 50,000 conversations of the first batches, four fifths unanswered, most of them in time. */
const HELD = `
  INSERT INTO conversations (application_id, partner_id, phone_index, language, partner_name, place, held_by, status, state,
    turn, began_at, heard_at, moved_at, moved_ms, waits_since)
  SELECT (1 + n / 60) * 128 + n % 60, 1, hashint8(n), 'es', 'Acme', 'documents', 'operator', 'pending_signature',
    '{"handedOver": "asked"}', 5, now() - interval '3 days', now() - n * interval '3 seconds', now(), elapsed_ms(),
    CASE WHEN n % 5 > 0 THEN now() - n * interval '3 seconds' END
  FROM generate_series(0, 49999) AS n`;

const ADD_PARTNERS = `INSERT INTO partners (name, country) SELECT 'Partner ' || n, 'CO' FROM generate_series(3, 20) AS n`;
const ADD_USAGE = 'INSERT INTO usage_totals (partner_id) SELECT id FROM partners ON CONFLICT DO NOTHING';
/** Twenty partners with two currencies each day. */
const BUSINESS = `
  INSERT INTO business_days (day, partner_id, currency, registered, approved, in_review, rejected, amount_registered,
    started, offered, signed, disbursed, amount_disbursed)
  SELECT (now() AT TIME ZONE 'UTC')::date - n, p.id, c.currency, 400, 200, 100, 100, 4000000000, 150, 120, 90, 80, 800000000
  FROM partners p, (VALUES ('COP'), ('USD')) AS c(currency), generate_series(0, 729) AS n
  ON CONFLICT DO NOTHING`;
/** 30 buckets of each step, by day and by month. */
const WAITS = `
  INSERT INTO business_waits (day, per, partner_id, step, bucket, times)
  SELECT date_trunc(u.per, now() - n * interval '1 day')::date, u.per, p.id, s.step, b, sum(1 + b % 7)
  FROM unnest('{day,month}'::text[]) AS u(per), generate_series(0, 729) AS n, partners p, unnest('{review,start,documents,offer,sign,pay}'::text[]) AS s(step),
    generate_series(20, 49) AS b
  GROUP BY 1, 2, 3, 4, 5`;
/** As many requests of a partner as are kept. */
const REQUESTS = `
  INSERT INTO partner_requests (partner_id, request_id, api_key_id, at, method, route, status, ms, replayed, registered,
    duplicate, over_quota, invalid, not_an_object, stored_ms)
  SELECT 1, (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - n * 6000), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0')
    || '8' || right(md5(n::text), 15))::uuid, 1, now() - n * interval '6 seconds', 'POST', '/PRO', 200, 12, false, 100, 0, 0, 0, 0, elapsed_ms()
  FROM generate_series(1, 100000) AS n`;

/** Fills the desk. Expects an operator, and the queue whole. */
export async function fillDesk({ admin, remac }: ServiceProcess): Promise<void> {
  await admin.query(ADD_DECIDERS);
  await remac();
  for (const statement of [SPREAD, SIGNED, DECIDED, HELD, ADD_PARTNERS, ADD_USAGE, BUSINESS, WAITS, REQUESTS])
    await admin.query(statement);
  await admin.query(`VACUUM ANALYZE review_items, application_states, application_events, decision_hours, conversations,
    business_days, business_waits, partner_requests`);
}
