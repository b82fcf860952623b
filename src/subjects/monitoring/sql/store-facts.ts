/**
 * Reads what the store tells of a running installation. No statement reads a table that grows with the applications, so
 * they take as long with twenty million applications as with twenty.
 */
import type { Database } from '../../../ground/postgres/database.ts';
import { onlyRow } from '../../../ground/postgres/only-row.ts';
import {
  type EndpointFacts,
  type JobFacts,
  type LaterFacts,
  MOST_LATER,
  type PartnerFacts,
  type StoreFacts,
} from '../rules/store-facts.ts';
import { readConversationFacts } from './conversation-facts.ts';
import { readReviewFacts } from './review-facts.ts';

/** Messages of the outbox are due at once. Batches have their numbers in the order of time. */
const STORE = `
  SELECT now() AS at, current_setting('server_version') AS server_version,
    (SELECT max(a.applied_at) FROM schema_migrations a) AS migrated_at,
    greatest(extract(epoch FROM now() - least(
      (SELECT o.created_at FROM outbox o ORDER BY o.batch_id LIMIT 1),
      (SELECT min(w.due_at) FROM waiting_messages w WHERE w.status = 'queued'))), 0)::double precision AS late_s,
    greatest(extract(epoch FROM now() - (
      SELECT min(w.due_at) FROM waiting_messages w WHERE w.status = 'uncertain')), 0)::double precision AS unsettled_s,
    s.broken_at, s.broken_reason, s.paused_at, s.paused_reason,
    (SELECT count(*)::integer FROM paused_templates) AS paused_templates,
    u.messages AS undelivered, u.since AS undelivered_since,
    partitions_ahead(),
    (SELECT count(DISTINCT o.api_key_id)::integer FROM key_outcomes o
      WHERE o.hour >= date_trunc('hour', now(), 'UTC') - interval '1 hour' AND o.sweep_at IS NOT NULL) AS sweeps,
    (SELECT greatest(extract(epoch FROM now() - r.next_at), 0)::double precision FROM reseals r
      WHERE r.finished_at IS NULL) AS reseal_late_s,
    k.sealing, k.share
  FROM sender s CROSS JOIN undelivered_messages() AS u
  CROSS JOIN (
    SELECT count(*)::integer AS sealing, coalesce(max(c.seals), 0) / 2^32 AS share FROM secret_checks c
    WHERE c.seals_at BETWEEN now() - interval '1 minute' AND now()) AS k`;

const LATER = `
  SELECT count(*)::integer AS messages, min(f.due_at) AS first, max(f.due_at) AS last FROM (
    SELECT w.due_at FROM waiting_messages w WHERE w.status = 'queued' AND w.due_at > now()
    ORDER BY w.due_at LIMIT ${MOST_LATER}) AS f`;

const MESSAGES = `
  SELECT status::text, sum(count) AS count FROM message_counts GROUP BY status HAVING sum(count) <> 0 ORDER BY 1`;

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
  SELECT n.shown, coalesce(sum(t.registered), 0) AS registered, coalesce(sum(t.duplicate), 0) AS duplicate,
    coalesce(sum(t.over_quota), 0) AS over_quota, coalesce(sum(t.invalid), 0) AS invalid,
    coalesce(sum(t.unauthorized), 0) AS unauthorized,
    coalesce(sum(u.total), 0) + coalesce(sum(f.count), 0) AS used,
    CASE WHEN n.shown IS NOT NULL THEN min(c.cap) END AS cap
  FROM known n
  LEFT JOIN totals t ON t.partner_id = n.id
  LEFT JOIN usage_totals u ON u.partner_id = n.id
  LEFT JOIN fresh f ON f.partner_id = n.id
  LEFT JOIN caps c ON c.partner_id = n.id
  GROUP BY n.shown ORDER BY n.shown`;

/** The oldest push of an endpoint has the lowest number of its partner. */
const ENDPOINTS = `
  SELECT g.status, count(*)::integer AS endpoints, coalesce(sum(g.behind), 0) AS behind,
    coalesce(max(g.waited_ms), 0) AS waited_ms
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

const JOBS = 'SELECT job, succeeded_at, took_ms, failed_at, failed_why FROM upkeep_jobs ORDER BY job';

/** Reads the facts, with a row for each of the first `partners` partners. */
export async function readStoreFacts(database: Database, partners: number): Promise<StoreFacts> {
  const store = onlyRow((await database.query<StoreRow>(STORE)).rows);
  const messages = (await database.query<{ status: string; count: string }>(MESSAGES)).rows;
  const jobs = (await database.query<JobRow>(JOBS)).rows;
  const endpoints = (await database.query<EndpointRow>(ENDPOINTS)).rows;
  return {
    at: store.at,
    serverVersion: store.server_version,
    migratedAt: store.migrated_at,
    messages: new Map(messages.map(({ status, count }) => [status, Number(count)])),
    lateS: store.late_s ?? 0,
    later: onlyRow((await database.query<LaterFacts & Record<string, unknown>>(LATER)).rows),
    review: await readReviewFacts(database),
    conversations: await readConversationFacts(database),
    unsettledS: store.unsettled_s ?? 0,
    sender: {
      brokenAt: store.broken_at,
      brokenReason: store.broken_reason,
      pausedAt: store.paused_at,
      pausedReason: store.paused_reason,
      pausedTemplates: store.paused_templates,
    },
    undelivered: Number(store.undelivered),
    undeliveredSince: store.undelivered_since,
    partitionsAhead: store.partitions_ahead,
    sweeps: store.sweeps,
    keys: { sealing: store.sealing, share: Number(store.share), resealLateS: store.reseal_late_s ?? 0 },
    partners: (await database.query<PartnerRow>(PARTNERS, [partners])).rows.map(partnerOf),
    endpoints: endpoints.map(endpointOf),
    jobs: jobs.map(jobOf),
  };
}

interface StoreRow {
  at: Date;
  server_version: string;
  migrated_at: Date;
  late_s: number | null;
  unsettled_s: number | null;
  broken_at: Date | null;
  broken_reason: string | null;
  paused_at: Date | null;
  paused_reason: string | null;
  paused_templates: number;
  undelivered: string;
  undelivered_since: Date | null;
  partitions_ahead: number;
  sweeps: number;
  sealing: number;
  share: number;
  reseal_late_s: number | null;
}

interface PartnerRow {
  shown: number | null;
  registered: string;
  duplicate: string;
  over_quota: string;
  invalid: string;
  unauthorized: string;
  used: string;
  cap: number | null;
}

function partnerOf(row: PartnerRow): PartnerFacts {
  return {
    partner: row.shown === null ? 'other' : String(row.shown),
    registered: Number(row.registered),
    duplicate: Number(row.duplicate),
    overQuota: Number(row.over_quota),
    invalid: Number(row.invalid),
    unauthorized: Number(row.unauthorized),
    used: Number(row.used),
    dailyCap: row.cap === null ? null : Number(row.cap),
  };
}

interface EndpointRow {
  status: EndpointFacts['status'];
  endpoints: number;
  behind: string;
  waited_ms: string;
}

function endpointOf({ status, endpoints, behind, waited_ms }: EndpointRow): EndpointFacts {
  return { status, endpoints, behind: Number(behind), oldestS: Number(waited_ms) / 1000 };
}

interface JobRow {
  job: string;
  succeeded_at: Date | null;
  took_ms: number;
  failed_at: Date | null;
  failed_why: string | null;
}

function jobOf(row: JobRow): JobFacts {
  const { job, succeeded_at: succeededAt, took_ms: tookMs, failed_at: failedAt, failed_why: failedWhy } = row;
  return { job, succeededAt, tookMs, failedAt, failedWhy };
}
