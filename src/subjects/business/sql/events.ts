/**
 * Reads what became of applications and has not been counted: the events of partners, in the order of their numbers,
 * the first offers, and when the steps before them were. Reads `partner_events`, `business_offers`, `batches`,
 * `application_states`, `application_events`, `contract_evidence` and `loan_contracts`. A partner's events have no
 * gaps, and none comes before one that is there (D41); so nothing is missed, whatever the clock does.
 */
import { partitionOf, toApplicationId } from '../../../domain/application/ids.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';

/** An event that counts; `name` null: one that does not. */
export interface CountedEvent {
  readonly partnerId: number;
  readonly number: number;
  readonly day: string;
  readonly at: Date;
  readonly applicationId: number;
  readonly name:
    | 'started'
    | 'documents'
    | 'signed'
    | 'withdrawn'
    | 'disbursed'
    | 'review_approved'
    | 'review_rejected'
    | null;
}

/** Which count an event of `partner_events e` moves. */
export const NAME_OF_EVENT = `CASE
    WHEN e.type = 'conversation.started' THEN 'started'
    WHEN e.type = 'documents.received' THEN 'documents'
    WHEN e.type = 'contract.signed' THEN 'signed'
    WHEN e.type = 'contract.withdrawn' THEN 'withdrawn'
    WHEN e.type = 'application.status_changed' AND e.to_status = 'disbursed' THEN 'disbursed'
    WHEN e.type = 'application.status_changed' AND e.from_status = 'in_review' AND e.to_status = 'pending_signature'
      THEN 'review_approved'
    WHEN e.type = 'application.status_changed' AND e.from_status = 'in_review' AND e.to_status = 'rejected'
      THEN 'review_rejected'
  END`;

/** So many partners a turn, those that are the furthest behind, with so many events each. */
const PARTNERS = 20;
const EVENTS = 100;

const READ = `
  SELECT b.partner_id AS "partnerId", e.number::float8, e.application_id::float8 AS "applicationId",
    to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, e.at, ${NAME_OF_EVENT} AS name
  FROM (
    SELECT t.partner_id, coalesce(m.next_event, 0) AS next FROM partner_event_totals t
    LEFT JOIN business_event_places m ON m.partner_id = t.partner_id
    WHERE t.last >= coalesce(m.next_event, 0) AND t.last > t.forgotten
    ORDER BY t.last - greatest(coalesce(m.next_event, 0), t.forgotten + 1) DESC, t.partner_id LIMIT ${PARTNERS}
  ) AS b
  CROSS JOIN LATERAL (
    SELECT * FROM partner_events v WHERE v.partner_id = b.partner_id AND v.number >= b.next
    ORDER BY v.number LIMIT ${EVENTS}
  ) AS e`;

/** The next events that have not been counted. */
export async function readEvents(session: Session): Promise<CountedEvent[]> {
  return (await session.query<CountedEvent & Record<string, unknown>>(READ)).rows;
}

export interface NewOffer {
  readonly applicationId: number;
  readonly day: string;
  readonly at: Date;
}

const OFFERS = `
  SELECT o.application_id::float8 AS "applicationId", to_char(o.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, o.at
  FROM business_offers o ORDER BY o.application_id LIMIT ${PARTNERS * EVENTS}`;

/** First offers that have not been counted. */
export async function readOffers(session: Session): Promise<NewOffer[]> {
  return (await session.query<NewOffer & Record<string, unknown>>(OFFERS)).rows;
}

/** What the counts need of an application. */
export interface CountedApplication {
  readonly id: number;
  readonly partnerId: number;
  readonly currency: string;
  readonly amount: number;
  readonly score: number;
  readonly isReviewed: boolean;
  readonly registeredAt: Date;
  readonly signedAt: Date | null;
}

const APPLICATIONS = `
  SELECT a.id::float8, a.partner_id AS "partnerId", a.currency, a.debt_amount AS amount, a.score,
    a.decision = 'in_review' AS "isReviewed", a.created_at AS "registeredAt", a.signed_at AS "signedAt"
  FROM applications_of($1) AS a
  WHERE a.decision IS NOT NULL AND a.debt_amount IS NOT NULL`;

/** The applications with these ids that are still there, by their id. */
export async function readApplications(
  session: Session,
  ids: readonly number[],
): Promise<Map<number, CountedApplication>> {
  const found = new Map<number, CountedApplication>();
  for (const some of byPartitions(ids.map(toApplicationId), partitionOf)) {
    const { rows } = await session.query<CountedApplication & Record<string, unknown>>(APPLICATIONS, [some]);
    for (const row of rows) found.set(row.id, row);
  }
  return found;
}

/** A contract that is withdrawn from after the payment has lent its amount all the same. */
const LENT = `
  SELECT DISTINCT ON (c.application_id) c.application_id::float8 AS id, c.terms -> 'offer' ->> 'amount' AS amount
  FROM loan_contracts c WHERE c.application_id = ANY ($1::bigint[]) AND c.state IN ('signed', 'withdrawn')
  ORDER BY c.application_id, c.id DESC`;

/** The amounts of the newest signed contracts, by application: exact decimals. */
export async function readLent(session: Session, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await session.query<{ id: number; amount: string }>(LENT, [ids]);
  return new Map(rows.map(({ id, amount }) => [id, amount]));
}

/** When a step of each application was; it is absent where nobody knows. */
type Times = ReadonlyMap<number, Date>;

async function readTimes(session: Session, text: string, ids: readonly number[]): Promise<Times> {
  if (ids.length === 0) return new Map();
  const { rows } = await session.query<{ id: number; at: Date }>(text, [ids]);
  return new Map(rows.map(({ id, at }) => [id, at]));
}

const REVIEWED = `
  SELECT e.application_id::float8 AS id, max(e.at) AS at FROM application_events e
  WHERE e.application_id = ANY ($1::bigint[]) AND e.from_status = 'in_review' AND e.to_status <> e.from_status
  GROUP BY e.application_id`;

/** When an operator decided of applications in review. */
export function readReviewed(session: Session, ids: readonly number[]): Promise<Times> {
  return readTimes(session, REVIEWED, ids);
}

const OFFERED = `
  SELECT e.application_id::float8 AS id, min(e.recorded_at) AS at FROM contract_evidence e
  WHERE e.application_id = ANY ($1::bigint[]) AND e.kind = 'offer_shown' GROUP BY e.application_id`;

/** When the first offer was shown. */
export function readOffered(session: Session, ids: readonly number[]): Promise<Times> {
  return readTimes(session, OFFERED, ids);
}

const STARTED = `
  SELECT s.application_id::float8 AS id, s.conversation_at AS at FROM application_states s
  WHERE s.batch_id = ANY (ARRAY(SELECT DISTINCT batch_of(g.id) FROM unnest($1::bigint[]) AS g(id)))
    AND s.application_id = ANY ($1::bigint[]) AND s.conversation_at IS NOT NULL`;

/** When the conversation began. */
export function readStarted(session: Session, ids: readonly number[]): Promise<Times> {
  return readTimes(session, STARTED, ids);
}
