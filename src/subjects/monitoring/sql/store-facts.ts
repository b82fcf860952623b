/**
 * Reads the facts that the store has about a running installation, from tables of all subjects (docs/monitoring.md). No
 * statement reads a table that grows with the applications, so all take as long with twenty million applications as
 * with twenty.
 */
import { secondsOf } from '../../../domain/application/waits.ts';
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import {
  type BlockedFacts,
  type ConversationFacts,
  type DocumentFacts,
  type HeldFacts,
  type OpenFacts,
  WORK_REASONS,
  type WorkFacts,
} from '../rules/conversation-facts.ts';
import {
  type BusinessFacts,
  type DriftFacts,
  type EndpointFacts,
  type JobFacts,
  type LaterFacts,
  MOST_LATER,
  type PartnerFacts,
  type ReviewFacts,
  type StoreFacts,
} from '../rules/store-facts.ts';

// The first part: what waits for reviewers, from kept counts and by indexes. Proposed items before the first waiting
// one are skipped up to a bound, so that a scrape costs the same however much waits. Pended items are few, because
// operators pend them one by one.

const MOST = 2_000;

/**
 * The time of the first waiting item in an order; if more than `MOST` others come before it, about the time of the last
 * of these.
 */
const firstWaiting = (column: string, order: string) => `(
    SELECT coalesce(min(f.${column}) FILTER (WHERE f.state = 'waiting'), max(f.${column})) FROM (
      SELECT i.${column}, i.state FROM review_items i WHERE i.due_at < 'infinity' ORDER BY ${order} LIMIT ${MOST}) AS f)`;
const HOUR = "(SELECT date_trunc('hour', now(), 'UTC'))";
/** Never negative, even if the clock has stepped back. */
const since = (time: string) =>
  `greatest(coalesce(extract(epoch FROM now() - ${time}), 0), 0)::double precision`;

const REVIEW = `
  WITH late AS MATERIALIZED (
    SELECT count(*) AS items FROM (
      SELECT FROM review_items i WHERE i.due_at >= ${HOUR} AND i.due_at <= now() AND i.state = 'waiting' LIMIT ${MOST}) AS l
  ), waiting AS MATERIALIZED (
    SELECT coalesce(sum(c.items), 0) AS items, coalesce(sum(c.items) FILTER (WHERE c.due_hour < ${HOUR}), 0) AS overdue
    FROM backlog_counts c
  )
  SELECT w.items::integer AS waiting, (w.overdue + l.items)::integer AS overdue,
    greatest(w.items - (
      SELECT count(*) FROM review_items i
      WHERE i.claimed_by IS NOT NULL AND i.state = 'waiting' AND is_claimed(i.claimed_until, now())), 0)::integer AS unclaimed,
    ${since(`CASE WHEN w.items > 0 THEN ${firstWaiting('created_at', 'i.application_id')} END`)} AS "oldestS",
    CASE WHEN w.overdue + l.items > 0
      THEN ${since(`${firstWaiting('due_at', 'i.due_at, i.application_id')}`)} ELSE 0 END AS "overdueS",
    (SELECT count(*) FROM (
      SELECT FROM proposals p
      WHERE p.state = 'proposed' AND p.needs_second IS NOT NULL AND p.confirmed_at IS NULL LIMIT ${MOST}) AS u)::integer
      AS unconfirmed,
    ${since(`(
      SELECT p.created_at FROM proposals p
      WHERE p.state = 'proposed' AND p.needs_second IS NOT NULL AND p.confirmed_at IS NULL ORDER BY p.id LIMIT 1)`)}
      AS "unconfirmedS",
    (SELECT count(*) FROM (
      SELECT FROM cases c WHERE c.outcome IS NULL AND c.due_at < now() LIMIT ${MOST}) AS u)::integer AS "casesOverdue",
    ${since('(SELECT min(c.due_at) FROM cases c WHERE c.outcome IS NULL)')} AS "casesOverdueS"
  FROM waiting w CROSS JOIN late l`;

/** Reads the facts. */
async function readReviewFacts(database: Session): Promise<ReviewFacts> {
  return onlyRow((await database.query<ReviewFacts & Record<string, unknown>>(REVIEW)).rows);
}

// The second part: facts about conversations. Each statement reads what waits, by an index of that alone, or kept
// counts. So conversations that are open or ended cost nothing, however many there are.

/** Never negative, even if the clock has stepped back. */
const ageOf = (time: string) =>
  `coalesce(greatest(extract(epoch FROM now() - min(${time})), 0), 0)::double precision`;

const OPEN = `
  SELECT c.step, c.holder, sum(c.conversations)::double precision AS conversations
  FROM conversation_counts c GROUP BY 1, 2 HAVING sum(c.conversations) <> 0 ORDER BY 1, 2`;

const HELD = `
  SELECT coalesce(c.state ->> 'handedOver', 'operator') AS reason, count(*)::integer AS conversations,
    ${ageOf('c.waits_since')} AS "oldestS"
  FROM conversations c WHERE c.waits_since IS NOT NULL GROUP BY 1 ORDER BY 1`;

const WORK = `
  SELECT w.work, CASE WHEN w.reason IS NULL THEN 'none' WHEN w.reason = ANY ($1::text[]) THEN w.reason ELSE 'other' END
    AS reason, count(*)::integer AS waiting, ${ageOf('w.queued_at')} AS "oldestS"
  FROM conversation_work w GROUP BY 1, 2 ORDER BY 1, 2`;

const DOCUMENTS = `
  SELECT d.state, sum(d.documents)::double precision AS documents, sum(d.bytes)::double precision AS bytes
  FROM document_counts d GROUP BY 1 ORDER BY 1`;

const BLOCKED = `
  SELECT c.reason, count(*)::integer AS applications
  FROM loan_contracts c WHERE c.state = 'blocked' GROUP BY 1 ORDER BY 1`;

const WAITING = `
  SELECT to_json(i) AS inputs, to_json(p) AS replies, to_json(u) AS uncertain, d."missingFiles", n."notRead",
    to_json(f) AS unfinished
  FROM (
    SELECT count(*)::integer AS waiting, ${ageOf('i.stored_at')} AS "oldestS"
    FROM conversation_inputs i WHERE i.turn IS NULL) AS i
  CROSS JOIN (
    SELECT (count(*) FILTER (WHERE r.status = 'queued'))::integer AS queued,
      (count(*) FILTER (WHERE r.status = 'sending'))::integer AS sending, ${ageOf('r.created_at')} AS "oldestS"
    FROM replies r WHERE r.status IN ('queued', 'sending')) AS p
  CROSS JOIN (
    SELECT count(*)::integer AS replies, ${ageOf('r.changed_at')} AS "oldestS"
    FROM replies r WHERE r.status = 'uncertain' AND r.window_until > now()) AS u
  CROSS JOIN (
    SELECT count(*)::integer AS "missingFiles" FROM documents d WHERE d.missing_at IS NOT NULL) AS d
  CROSS JOIN (
    SELECT count(*)::integer AS "notRead" FROM documents d
    WHERE d.state = 'received' AND d.reason = 'reader_off') AS n
  CROSS JOIN (
    SELECT count(*)::integer AS contracts, ${ageOf('c.signed_at')} AS "oldestS"
    FROM loan_contracts c WHERE c.state IN ('signed', 'withdrawn') AND c.signed_sha256 IS NULL) AS f`;

/** Reads the facts. */
export async function readConversationFacts(database: Session): Promise<ConversationFacts> {
  type Waiting = Omit<ConversationFacts, 'open' | 'held' | 'work' | 'documents' | 'blocked'>;
  const waiting = onlyRow((await database.query<Waiting & Record<string, unknown>>(WAITING)).rows);
  return {
    ...waiting,
    open: (await database.query<OpenFacts>(OPEN)).rows,
    held: (await database.query<HeldFacts>(HELD)).rows,
    work: (await database.query<WorkFacts>(WORK, [WORK_REASONS])).rows,
    documents: (await database.query<DocumentFacts>(DOCUMENTS)).rows,
    blocked: (await database.query<BlockedFacts>(BLOCKED)).rows,
  };
}

/** Messages of the outbox are due at once. Batches have their numbers in the order of time. */
const STORE = `
  SELECT now() AS at, current_setting('server_version') AS "serverVersion",
    (SELECT max(a.applied_at) FROM schema_migrations a) AS "migratedAt",
    greatest(extract(epoch FROM now() - least(
      (SELECT o.created_at FROM outbox o ORDER BY o.batch_id LIMIT 1),
      (SELECT min(w.due_at) FROM waiting_messages w WHERE w.status = 'queued'))), 0)::double precision AS "lateS",
    greatest(extract(epoch FROM now() - (
      SELECT min(w.due_at) FROM waiting_messages w WHERE w.status = 'uncertain')), 0)::double precision AS "unsettledS",
    s.broken_at AS "brokenAt", s.broken_reason AS "brokenReason", s.paused_at AS "pausedAt",
    s.paused_reason AS "pausedReason", (SELECT count(*)::integer FROM paused_templates) AS "pausedTemplates",
    u.messages::float8 AS undelivered, u.since AS "undeliveredSince", partitions_ahead() AS "partitionsAhead",
    (SELECT count(DISTINCT o.api_key_id)::integer FROM key_outcomes o
      WHERE o.hour >= date_trunc('hour', now(), 'UTC') - interval '1 hour' AND o.sweep_at IS NOT NULL) AS sweeps,
    (SELECT json_build_object('searched', coalesce(sum(c.searched), 0), 'refused', coalesce(sum(c.refused), 0))
      FROM operator_searches c) AS searches,
    json_build_object('sealing', k.sealing, 'share', k.share, 'resealLateS', coalesce((
      SELECT greatest(extract(epoch FROM now() - r.next_at), 0)::double precision FROM reseals r
      WHERE r.finished_at IS NULL), 0)) AS keys
  FROM sender s CROSS JOIN undelivered_messages() AS u
  CROSS JOIN (
    SELECT count(*)::integer AS sealing, coalesce(max(c.seals), 0) / 2^32 AS share FROM secret_checks c
    WHERE c.seals_at BETWEEN now() - interval '1 minute' AND now()) AS k`;

const LATER = `
  SELECT count(*)::integer AS messages, min(f.due_at) AS first, max(f.due_at) AS last FROM (
    SELECT w.due_at FROM waiting_messages w WHERE w.status = 'queued' AND w.due_at > now()
    ORDER BY w.due_at LIMIT ${MOST_LATER}) AS f`;

const MESSAGES = `
  SELECT status::text, sum(count)::float8 AS count FROM message_counts GROUP BY status HAVING sum(count) <> 0 ORDER BY 1`;

/** The first $1 partners by id have a row of their own. */
const PARTNERS = `
  WITH known AS (
    SELECT p.id, CASE WHEN row_number() OVER (ORDER BY p.id) <= $1 THEN p.id END AS shown FROM partners p
  ), fresh AS (
    SELECT e.partner_id, sum(e.count) AS count FROM usage_entries e
    WHERE e.second > now() - usage_window() GROUP BY e.partner_id
  ), caps AS (
    SELECT k.partner_id, min(k.daily_cap) AS cap FROM api_keys k
    WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) GROUP BY k.partner_id
  ), totals AS (
    SELECT k.partner_id, sum(t.registered) AS registered, sum(t.duplicate) AS duplicate,
      sum(t.over_quota) AS over_quota, sum(t.invalid) AS invalid, sum(t.unauthorized) AS unauthorized
    FROM key_totals t JOIN api_keys k ON k.id = t.api_key_id GROUP BY k.partner_id
  )
  SELECT coalesce(n.shown::text, 'other') AS partner, coalesce(sum(t.registered), 0)::float8 AS registered,
    coalesce(sum(t.duplicate), 0)::float8 AS duplicate, coalesce(sum(t.over_quota), 0)::float8 AS "overQuota",
    coalesce(sum(t.invalid), 0)::float8 AS invalid, coalesce(sum(t.unauthorized), 0)::float8 AS unauthorized,
    (coalesce(sum(u.total), 0) + coalesce(sum(f.count), 0))::float8 AS used,
    CASE WHEN n.shown IS NOT NULL THEN min(c.cap) END::float8 AS "dailyCap"
  FROM known n
  LEFT JOIN totals t ON t.partner_id = n.id
  LEFT JOIN usage_totals u ON u.partner_id = n.id
  LEFT JOIN fresh f ON f.partner_id = n.id
  LEFT JOIN caps c ON c.partner_id = n.id
  GROUP BY n.shown ORDER BY n.shown`;

/** The oldest push of an endpoint has the lowest number of its partner. */
const ENDPOINTS = `
  SELECT g.status, count(*)::integer AS endpoints, coalesce(sum(g.behind), 0)::float8 AS behind,
    coalesce(max(g.waited_ms), 0)::float8 / 1000 AS "oldestS"
  FROM (
    SELECT CASE WHEN e.disabled_at IS NOT NULL THEN 'disabled' WHEN e.broken_at IS NOT NULL THEN 'broken'
        ELSE 'enabled' END AS status,
      t.last - o.number + 1 AS behind, greatest(elapsed_ms() - o.queued_ms, 0) AS waited_ms
    FROM partner_endpoints e
    LEFT JOIN partner_event_totals t ON t.partner_id = e.partner_id
    LEFT JOIN LATERAL (
      SELECT q.number, q.queued_ms FROM pushes q WHERE q.partner_id = e.partner_id ORDER BY q.number LIMIT 1
    ) AS o ON true
    WHERE e.disabled_reason IS DISTINCT FROM 'operator'
  ) AS g GROUP BY g.status`;

const JOBS = `
  SELECT job, succeeded_at AS "succeededAt", took_ms AS "tookMs", failed_at AS "failedAt", failed_why AS "failedWhy"
  FROM upkeep_jobs ORDER BY job`;

/** The upkeep computes the indexes, at most five for each of 20 partners. Those of another live policy tell nothing. */
const DRIFT = `
  SELECT CASE WHEN p.partner_id <> 0 THEN p.partner_id::text END AS partner, p.characteristic, p.psi, p.threshold
  FROM policy_psi p CROSS JOIN policy_drift d JOIN policy_live l ON l.activation_id = d.activation_id
  ORDER BY p.partner_id, p.characteristic`;

/** The upkeep counts (docs/business.md). A row a partner, of which each column but the first is an event. */
const BUSINESS = `
  SELECT CASE WHEN k.n <= $1 THEN t.partner_id::text ELSE 'other' END AS partner, e.key AS event,
    sum(e.value::bigint)::float8 AS times
  FROM business_totals t
  JOIN (SELECT p.id, row_number() OVER (ORDER BY p.id) AS n FROM partners p) AS k ON k.id = t.partner_id
  CROSS JOIN LATERAL jsonb_each_text(to_jsonb(t) - 'partner_id') AS e
  GROUP BY 1, 2 HAVING sum(e.value::bigint) > 0 ORDER BY 1, 2`;

const MEDIANS = 'SELECT m.step, m.bucket::integer FROM step_medians m ORDER BY m.step';

type ReadApart =
  | 'sender'
  | 'messages'
  | 'later'
  | 'review'
  | 'conversations'
  | 'partners'
  | 'endpoints'
  | 'drift'
  | 'business'
  | 'medians'
  | 'jobs';
type StoreRow = Omit<StoreFacts, ReadApart> & StoreFacts['sender'];

/** Reads the facts, with a row for each of the first `partners` partners. */
export async function readStoreFacts(database: Session, partners: number): Promise<StoreFacts> {
  const { brokenAt, brokenReason, pausedAt, pausedReason, pausedTemplates, ...store } = onlyRow(
    (await database.query<StoreRow>(STORE)).rows,
  );
  const messages = (await database.query<{ status: string; count: number }>(MESSAGES)).rows;
  return {
    ...store,
    sender: { brokenAt, brokenReason, pausedAt, pausedReason, pausedTemplates },
    messages: new Map(messages.map(({ status, count }) => [status, count])),
    later: onlyRow((await database.query<LaterFacts & Record<string, unknown>>(LATER)).rows),
    review: await readReviewFacts(database),
    conversations: await readConversationFacts(database),
    partners: (await database.query<PartnerFacts>(PARTNERS, [partners])).rows,
    endpoints: (await database.query<EndpointFacts>(ENDPOINTS)).rows,
    drift: (await database.query<DriftFacts>(DRIFT)).rows,
    business: (await database.query<BusinessFacts & Record<string, unknown>>(BUSINESS, [partners])).rows,
    medians: (await database.query<{ step: string; bucket: number }>(MEDIANS)).rows.map(
      ({ step, bucket }) => ({ step, seconds: secondsOf(bucket) }),
    ),
    jobs: (await database.query<JobFacts>(JOBS)).rows,
  };
}
