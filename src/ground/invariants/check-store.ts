/**
 * Checks a whole restored store: PostgreSQL's own checks of its files, and the invariants, each a rule with its
 * statement. Reads all tables, so it is never for a service's own connections. Each rule cites its source.
 */
import type pg from 'pg';

/** A rule, and the statement that counts its violations in `broken`. */
interface Invariant {
  readonly name: string;
  /** The rule with its source. */
  readonly rule: string;
  readonly sql: string;
}

export const INVARIANTS: readonly Invariant[] = [
  {
    name: 'held phones',
    rule: 'every held phone is that of an open application (contract, "Duplicate rule")',
    sql: `
      SELECT count(*) AS broken FROM open_phones o LEFT JOIN applications a ON a.id = o.application_id
      WHERE (a.phone_index = o.phone_index AND is_open(a.status)) IS NOT TRUE`,
  },
  {
    name: 'one open application a phone',
    rule: 'an open application holds its phone, unless an operator freed it (contract, "Duplicate rule")',
    sql: `
      SELECT count(*) AS broken FROM applications a
      WHERE is_open(a.status) AND a.phone_index IS NOT NULL
        AND NOT EXISTS (SELECT FROM open_phones o WHERE o.phone_index = a.phone_index AND o.application_id = a.id)
        AND NOT EXISTS (SELECT FROM application_events e WHERE e.application_id = a.id AND e.action = 'free_phone')`,
  },
  {
    name: 'usage',
    rule: "a partner's total is the sum of its counted seconds (D18, D39)",
    sql: `
      SELECT count(*) AS broken FROM usage_totals t
      LEFT JOIN LATERAL (
        SELECT sum(c.count) AS total FROM usage_counted c WHERE c.partner_id = t.partner_id AND c.second > t.since
      ) AS counted ON true
      WHERE t.total <> coalesce(counted.total, 0)`,
  },
  {
    name: 'one message an application',
    rule: 'every applicant with consent and a phone has the message of the registration, and no other has one (D33)',
    sql: `
      SELECT count(*) AS broken
      FROM (SELECT a.id FROM applications a WHERE a.messaging_optin AND a.phone_index IS NOT NULL) AS due
      FULL JOIN (SELECT m.message_id FROM messages m WHERE m.message_id = m.application_id) AS made
        ON made.message_id = due.id
      WHERE due.id IS NULL OR made.message_id IS NULL`,
  },
  {
    name: 'one row a message',
    rule: 'no message is in two tables that wait for a send (D33)',
    sql: 'SELECT count(*) - count(DISTINCT m.message_id) AS broken FROM messages m',
  },
  {
    name: 'replies to the applicant',
    rule: 'every reply goes to the phone of its application, and one that the channel knows had a send (D43)',
    sql: `
      SELECT count(*) AS broken FROM replies r LEFT JOIN applications a ON a.id = r.application_id
      WHERE a.phone_index <> r.phone_index OR r.channel_message_id IS NOT NULL AND r.attempts = 0`,
  },
  {
    name: 'events without gaps',
    rule: "a partner's events have the numbers after the forgotten ones up to the last (D41)",
    sql: `
      SELECT count(*) AS broken FROM partner_event_totals t
      FULL JOIN (
        SELECT e.partner_id, count(*) AS events, min(e.number) AS first, max(e.number) AS last
        FROM partner_events e GROUP BY e.partner_id
      ) AS kept ON kept.partner_id = t.partner_id
      WHERE t.partner_id IS NULL OR t.last - t.forgotten <> coalesce(kept.events, 0)
        OR kept.first <> t.forgotten + 1 OR kept.last <> t.last`,
  },
  {
    name: 'history',
    rule: 'an application has the status of the last move in its history (D34)',
    sql: `
      SELECT count(*) AS broken FROM (
        SELECT DISTINCT ON (e.application_id) e.application_id, e.to_status FROM application_events e
        WHERE e.from_status <> e.to_status ORDER BY e.application_id, e.id DESC
      ) AS last JOIN applications a ON a.id = last.application_id
      WHERE a.status IS DISTINCT FROM last.to_status`,
  },
  {
    name: 'reviews',
    rule: 'the queue of reviews has the applications in review, and no others (D34)',
    sql: `
      SELECT count(*) AS broken
      FROM (SELECT a.id FROM applications a WHERE a.status = 'in_review') AS due
      FULL JOIN (
        SELECT application_id_at(q.batch_id, p.position) AS id FROM review_queue q, unnest(q.positions) AS p(position)
      ) AS queued ON queued.id = due.id
      WHERE due.id IS NULL OR queued.id IS NULL`,
  },
  {
    name: 'items of the queue',
    rule: 'the desk has an item for each application in review whose batch is expanded, and no others (D48)',
    sql: `
      SELECT count(*) AS broken FROM review_items i
      FULL JOIN (
        SELECT application_id_at(q.batch_id, p.position) AS id FROM review_queue q, unnest(q.positions) AS p(position)
        WHERE q.is_expanded
      ) AS queued ON queued.id = i.application_id
      WHERE i.application_id IS NULL OR queued.id IS NULL`,
  },
  {
    name: 'backlog counts',
    rule: 'the kept counts of the backlog are those of the items that wait (D48)',
    sql: `
      SELECT count(*) AS broken FROM (
        SELECT date_trunc('hour', i.created_at, 'UTC') AS created_hour, date_trunc('hour', i.due_at, 'UTC') AS due_hour,
          count(*) AS items
        FROM review_items i WHERE i.state = 'waiting' GROUP BY 1, 2) AS due
      FULL JOIN (
        SELECT c.created_hour, c.due_hour, sum(c.items) AS items FROM backlog_counts c GROUP BY 1, 2
        HAVING sum(c.items) <> 0) AS kept USING (created_hour, due_hour)
      WHERE due.items IS DISTINCT FROM kept.items`,
  },
  {
    name: 'open proposals',
    rule: 'a proposal that has not ended is the open one of its application, and no other one is (D48)',
    sql: `
      SELECT count(*) AS broken FROM (
        SELECT p.id, p.application_id FROM proposals p WHERE p.state = 'proposed') AS due
      FULL JOIN open_proposals o ON o.proposal_id = due.id AND o.application_id = due.application_id
      WHERE due.id IS NULL OR o.proposal_id IS NULL`,
  },
  {
    name: 'live policy',
    rule: 'the live policy is that of the last activation (D51)',
    sql: `
      SELECT count(*) AS broken FROM policy_live l
      LEFT JOIN policy_activations a ON a.id = (SELECT max(o.id) FROM policy_activations o)
      WHERE (l.activation_id, l.policy_id) IS DISTINCT FROM (a.id, a.policy_id)`,
  },
  {
    name: 'activations',
    rule: 'every activation of a policy has its act in the record, and every such act its activation (D51)',
    sql: `
      SELECT count(*) AS broken FROM (
        SELECT 'policy ' || p.version AS target, v.actor, v.reason, count(*) AS activations
        FROM policy_activations v LEFT JOIN policies p ON p.id = v.policy_id GROUP BY 1, 2, 3) AS done
      FULL JOIN (
        SELECT substring(e.target FROM '^policy [a-z0-9.-]+') AS target, e.actor, e.reason, count(*) AS acts
        FROM operator_events e WHERE e.act = 'policy activate' GROUP BY 1, 2, 3) AS recorded USING (target, actor, reason)
      WHERE done.activations IS DISTINCT FROM recorded.acts`,
  },
];

/** What one check found. */
export interface Finding {
  readonly name: string;
  readonly rule: string;
  /** 0: all is well. */
  readonly broken: number;
}

/** Reading a large store takes long. */
const CHECK_TIMEOUT_MS = 6 * 60 * 60_000;

const HEAPS = `
  SELECT count(*) AS broken FROM pg_class c, LATERAL verify_heapam(c.oid) WHERE c.relkind IN ('r', 't', 'm')
    AND c.relpersistence = 'p'`;
/** bt_index_check fails at the first damage. */
const INDEXES = `
  SELECT bt_index_check(i.indexrelid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_am a ON a.oid = c.relam
  WHERE a.amname = 'btree' AND c.relkind = 'i' AND c.relpersistence = 'p' AND i.indisvalid`;

/** The class of PostgreSQL's errors that report damaged data. */
const DAMAGE = /^XX/;

/**
 * Runs all checks in a session of the superuser of a store that nobody else needs: it adds PostgreSQL's extension
 * `amcheck` to the database.
 */
export async function checkStore(client: pg.Client): Promise<Finding[]> {
  await client.query('CREATE EXTENSION IF NOT EXISTS amcheck');
  const findings: Finding[] = [
    { name: 'tables', rule: 'every table can be read whole', broken: await count(client, HEAPS) },
    { name: 'indexes', rule: 'every index has the rows of its table', broken: await count(client, INDEXES) },
  ];
  for (const { name, rule, sql } of INVARIANTS) {
    findings.push({ name, rule, broken: await count(client, sql) });
  }
  return findings;
}

async function count(client: pg.Client, text: string): Promise<number> {
  try {
    // The driver reads the limit from the query; its types do not know that.
    const query = { text, query_timeout: CHECK_TIMEOUT_MS };
    const { rows } = await client.query<{ broken?: string }>(query);
    return Number(rows[0]?.broken ?? 0);
  } catch (error) {
    if (DAMAGE.test((error as { code?: string }).code ?? '')) return 1;
    throw error;
  }
}
