/** Fills a store with conversations, documents, checks of incomes, contracts and evidence, as if over two years. */
import type pg from 'pg';
import { DEFAULT_FLOW } from '../src/domain/conversation/default-flow.ts';
import { newState } from '../src/domain/conversation/state.ts';

/** The tables that grow with conversations. */
export const GROWING = [
  ...['conversations', 'conversation_inputs', 'replies', 'documents', 'document_inputs', 'income_checks'],
  ...['loan_contracts', 'contract_evidence'],
] as const;

/** Conversations that are open, however many there were before. */
export const OPEN = 7_000;
/** An id of an application as the store numbers them: 100 a batch. */
const APPLICATION = '((n / 100 + 1) * 128 + n % 100)';
/** The time of the conversation $1 of $2, two years long; it began in `elapsed` as well. */
const AGO = "(($2::bigint - n) * (interval '730 days' / $2::float8))";
/** 64 bytes that the data key 1 has sealed, by their first byte. */
const SEALED = "decode('01' || repeat(md5(n::text || k::text), 4), 'hex')";

/** Each statement has the conversations from $1 to $2; $3: how many of the last ones are open. */
const CONVERSATIONS = `
  INSERT INTO conversations (id, application_id, partner_id, phone_index, flow_id, language, locale, partner_name, place,
    held_by, status, state, turn, began_at, heard_at, moved_at, timer, due_at, ended_at, waits_since, ended_ms)
  SELECT n, ${APPLICATION}, 1, hashint8extended(n, 1), 1, 'es', 'es-CO', 'Acme',
    CASE WHEN o.is_open THEN (ARRAY['data_consent', 'earnings', 'debts', 'checking'])[n % 4 + 1]
      ELSE (ARRAY['signed', 'declined', 'closed', 'expired', 'expired', 'expired', 'expired', 'expired', 'expired', 'expired'])[n % 10 + 1] END,
    CASE WHEN o.is_open AND n % 100 = 0 THEN 'operator' ELSE 'service' END, 'pending_signature', $4::jsonb, 8,
    now() - ${AGO}, now() - ${AGO}, now() - ${AGO}, CASE WHEN o.is_open THEN 'expire' END,
    CASE WHEN o.is_open THEN now() + interval '1 day' END, CASE WHEN NOT o.is_open THEN now() - ${AGO} + interval '1 hour' END,
    CASE WHEN o.is_open AND n % 100 = 0 THEN now() - interval '1 hour' END,
    CASE WHEN NOT o.is_open THEN elapsed_ms() - ms_of(${AGO}) END
  FROM generate_series($1::bigint, $2::bigint) AS n, LATERAL (SELECT n > $2 - $3::bigint AS is_open) AS o`;
const INPUTS = `
  INSERT INTO conversation_inputs (conversation_id, application_id, source, seal_id, message_index, at, stored_at, settles_at,
    content, turn)
  SELECT n, ${APPLICATION}, 'person', gen_random_uuid(), hashint8extended(n * 16 + k, 2), t.at, t.at, t.at, ${SEALED}, k
  FROM generate_series($1::bigint, $2::bigint) AS n, generate_series(1, 10) AS k, LATERAL (SELECT now() - ${AGO} AS at) AS t
  WHERE $3::bigint >= 0`;
const REPLIES = `
  INSERT INTO replies (application_id, turn, partner_id, phone_index, content, window_until, due_at, status,
    channel_message_id, created_at, sent_at)
  SELECT ${APPLICATION}, k, 1, hashint8extended(n, 1), ${SEALED}, t.at + interval '1 day', t.at, 'delivered',
    hashint8extended(n * 16 + k, 3), t.at, t.at
  FROM generate_series($1::bigint, $2::bigint) AS n, generate_series(1, 8) AS k, LATERAL (SELECT now() - ${AGO} AS at) AS t
  WHERE $3::bigint >= 0`;
/** One in ten wrote before the tap. */
const ANSWERS = `
  INSERT INTO replies (application_id, turn, partner_id, phone_index, content, window_until, due_at, status, seen_ms)
  SELECT ${APPLICATION}, -1, 1, hashint8extended(n, 1), ${SEALED}, t.at + interval '1 day', t.at, 'delivered',
    elapsed_ms() - ms_of(${AGO})
  FROM generate_series($1::bigint, $2::bigint) AS n, generate_series(1, 1) AS k, LATERAL (SELECT now() - ${AGO} AS at) AS t
  WHERE n % 10 = 5 AND $3::bigint >= 0`;
const DOCUMENTS = `
  INSERT INTO documents (application_id, partner_id, purpose, state, reason, received_at, received_ms, decided_at, content_type,
    bytes, sha256, file_key, sealed_secret, reading)
  SELECT ${APPLICATION}, 1, 'earnings', CASE WHEN n > $2 - $3::bigint AND n % 50 = 0 THEN 'received' ELSE 'accepted' END, 'read',
    now() - ${AGO}, elapsed_ms() - ms_of(${AGO}), now() - ${AGO}, 'application/pdf', 100000, sha256(${SEALED}),
    'document/' || substr(md5(n::text || k::text), 1, 2) || '/' || md5(k::text || n::text), ${SEALED}, ${SEALED}
  FROM generate_series($1::bigint, $2::bigint) AS n, generate_series(1, 3) AS k`;
const DOCUMENT_INPUTS = `
  INSERT INTO document_inputs (input_index, document_id)
  SELECT hashint8extended(d.id, 4), d.id FROM documents d WHERE d.application_id >= (SELECT ${APPLICATION} FROM (SELECT $1::bigint AS n) AS o)
    AND $2::bigint + $3::bigint >= 0`;
const CHECKS = `
  INSERT INTO income_checks (application_id, checked_at, digest, method, outcome, reason, currency, declared, observed, months,
    confidence, layouts, reader, rules, evidence)
  SELECT ${APPLICATION}, now() - ${AGO}, sha256(n::text::bytea), 'documents', 'confirmed', 'confirmed', 'COP', 1, 1, 3, 1, '{}',
    'unpdf', '{}', ${SEALED}
  FROM generate_series($1::bigint, $2::bigint) AS n, generate_series(1, 1) AS k WHERE n % 10 < 6 AND $3::bigint >= 0`;
/** One in ten signs. Of the others of 120 days one in two has evidence and no contract, one in ten an expired one. */
const CONTRACTS = `
  INSERT INTO loan_contracts (application_id, state, made_at, elapsed_ms, terms, shown_key, signed_key, sealed, sha256,
    signed_sha256, expires_at, signed_at)
  SELECT ${APPLICATION}, s.state, now() - ${AGO}, elapsed_ms() - ms_of(${AGO}), '{}', 'contract/' || n,
    CASE WHEN s.state = 'signed' THEN 'final/' || n END, ${SEALED}, sha256(n::text::bytea),
    CASE WHEN s.state = 'signed' THEN sha256(n::text::bytea) END, now() - ${AGO} + interval '5 days',
    CASE WHEN s.state = 'signed' THEN now() - ${AGO} END
  FROM generate_series($1::bigint, $2::bigint) AS n, generate_series(1, 1) AS k, LATERAL (SELECT CASE WHEN n % 10 = 0 THEN 'signed'
    WHEN n < $2 - $2 * 120 / 730 OR n % 10 > 6 THEN NULL WHEN n % 10 = 1 THEN 'expired' ELSE 'begun' END AS state) AS s
  WHERE s.state IS NOT NULL AND $3::bigint >= 0`;
const EVIDENCE = `
  INSERT INTO contract_evidence (application_id, number, recorded_at, kind, facts, key_number, mac)
  SELECT ${APPLICATION}, k, now() - ${AGO}, 'text_shown', '{}', 0, sha256(n::text::bytea)
  FROM generate_series($1::bigint, $2::bigint) AS n, generate_series(1, 15) AS k WHERE n % 10 = 0 AND $3::bigint >= 0`;

const INDEXES = `
  SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS make FROM pg_index i
  WHERE i.indrelid = ANY ($1::text[]::regclass[]) AND NOT EXISTS (
    SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)`;

/** Makes the conversations of a fresh store so many. */
export async function fillTwoYears(admin: pg.Client, conversations: number): Promise<void> {
  const { rows: indexes } = await admin.query<{ name: string; make: string }>(INDEXES, [GROWING]);
  await admin.query(
    "SET session_replication_role = replica; SET maintenance_work_mem = '1GB'; SET synchronous_commit = off",
  );
  for (const { name } of indexes) await admin.query(`DROP INDEX ${name}`);
  await admin.query(`TRUNCATE ${GROWING.join(', ')}`);
  await admin.query("UPDATE elapsed SET ms = ms_of(interval '731 days')");
  await admin.query('INSERT INTO flows (id, hash, content) VALUES (1, $1, $2) ON CONFLICT DO NOTHING', [
    Buffer.alloc(32, 1),
    JSON.stringify(DEFAULT_FLOW),
  ]);
  const state = JSON.stringify({ ...newState('pending_signature'), place: 'earnings', nonce: 2 });
  const values = [1, conversations, OPEN];
  await admin.query(CONVERSATIONS, [...values, state]);
  for (const text of [INPUTS, REPLIES, ANSWERS, DOCUMENTS, DOCUMENT_INPUTS, CHECKS, CONTRACTS, EVIDENCE])
    await admin.query(text, values);
  for (const { make } of indexes) await admin.query(make);
  for (const table of ['conversations', 'conversation_inputs', 'replies', 'loan_contracts']) {
    await admin.query(`SELECT setval(pg_get_serial_sequence($1, 'id'), (SELECT max(id) FROM ${table}))`, [
      table,
    ]);
  }
  await admin.query('SET session_replication_role = origin');
  for (const table of GROWING) await admin.query(`VACUUM ANALYZE ${table}`);
  await admin.query('CHECKPOINT');
}
