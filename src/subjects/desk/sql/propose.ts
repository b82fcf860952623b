/** Makes proposals, of one application and of many at once. */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { databaseTime } from '../../../ground/postgres/database-time.ts';
import { takeIds } from '../../../ground/postgres/ids.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { DecisionFacts } from '../../applications/sql/desk/decision-facts.ts';
import type { SecondReason } from '../rules/proposal.ts';
import { CONFIRM_WITHIN_DAYS } from '../rules/returned.ts';
import { proposalMac } from './proposal-macs.ts';

/** An application with the id of the proposal that it gets, if nobody else has an open one. */
export interface Reserved {
  readonly id: ApplicationId;
  readonly proposalId: number;
}

const FACTS = `
  SELECT i.application_id AS id, i.partner_id, i.score, i.currency, i.debt_amount FROM review_items i
  WHERE i.application_id = ANY ($1::bigint[])`;

/** The facts of those that are in the queue. Who is in review has signed nothing. */
export async function readQueuedFacts(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, DecisionFacts>> {
  const { rows } = await session.query<{
    id: string;
    partner_id: number;
    score: number | null;
    currency: string | null;
    debt_amount: number | null;
  }>(FACTS, [ids]);
  return new Map(
    rows.map(({ id, partner_id, debt_amount, ...rest }) => [
      toApplicationId(id),
      { ...rest, ...IN_REVIEW, partnerId: partner_id, debtAmount: debt_amount },
    ]),
  );
}

const IN_REVIEW = { status: 'in_review', decision: 'in_review', signedAt: null } as const;

/** In the order of their keys, so that two of these wait for each other in no circle. A taken one stays as it is. */
const RESERVE = `
  INSERT INTO open_proposals (application_id, proposal_id, stamped_at, due_at, is_of_many)
  SELECT u.id, u.proposal_id, clock_timestamp(), '9999-12-31Z', $3
  FROM unnest($1::bigint[], $2::bigint[]) AS u(id, proposal_id) ORDER BY u.id
  ON CONFLICT (application_id) DO NOTHING RETURNING application_id`;

/** Takes the place of the open proposal of these applications, and returns those that had it free. */
export async function reserve(
  session: Transaction,
  ids: readonly ApplicationId[],
  isOfMany: boolean,
): Promise<Reserved[]> {
  if (ids.length === 0) return [];
  const proposalIds = await takeIds(session, 'proposals', ids.length);
  const { rows } = await session.query<{ application_id: string }>(RESERVE, [ids, proposalIds, isOfMany]);
  const reserved = new Set(rows.map(({ application_id }) => toApplicationId(application_id)));
  return ids.flatMap((id, n) => (reserved.has(id) ? [{ id, proposalId: proposalIds[n]! }] : []));
}

const FREE = 'DELETE FROM open_proposals WHERE application_id = ANY ($1::bigint[])';

/** Gives these places back, in the transaction that has taken them. */
export async function unreserve(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  if (ids.length > 0) await session.query(FREE, [ids]);
}

/** An item that was not taken: somebody else claims it, or it is pended. */
export interface NotTaken {
  readonly id: ApplicationId;
  readonly isPended: boolean;
  readonly claimedBy: number | null;
  readonly until: Date | null;
}

/** A claim is over with the decision: the state says that the application waits for nobody. */
const TAKE = `
  WITH held AS MATERIALIZED (
    SELECT i.application_id, i.state, i.claimed_by, i.claimed_until,
      i.state <> 'pended' AND (i.claimed_by = $2 OR NOT is_claimed(i.claimed_until, clock_timestamp())) AS is_free
    FROM review_items i WHERE i.application_id = ANY ($1::bigint[]) ORDER BY i.application_id FOR NO KEY UPDATE
  ), taken AS (
    UPDATE review_items i SET state = 'proposed', claimed_by = NULL, claimed_until = NULL
    FROM held h WHERE i.application_id = h.application_id AND h.is_free
  )
  SELECT h.application_id AS id, h.state = 'pended' AS is_pended, h.claimed_by, h.claimed_until
  FROM held h WHERE NOT h.is_free`;

/**
 * Takes items of the queue that the operator or nobody has claimed, and returns the others. An application whose item
 * was lost is no obstacle: one open proposal is the most that it has.
 */
export async function takeItems(
  session: Transaction,
  ids: readonly ApplicationId[],
  operatorId: number,
): Promise<NotTaken[]> {
  if (ids.length === 0) return [];
  const { rows } = await session.query<{
    id: string;
    is_pended: boolean;
    claimed_by: number | null;
    claimed_until: Date | null;
  }>(TAKE, [ids, operatorId]);
  return rows.map((row) => ({
    ...{ id: toApplicationId(row.id), isPended: row.is_pended },
    ...{ claimedBy: row.claimed_by, until: row.claimed_until },
  }));
}

/** What a proposal says of one application. */
export interface NewProposal extends Reserved {
  readonly decidedOn: string;
  readonly signedAt: Date | null;
  readonly needsSecond: SecondReason | null;
}

/** What the proposals of a request have in common. */
export interface Decision {
  readonly act: ReviewAction;
  readonly reasonCode: ReasonCode;
  readonly reason: string;
  readonly isOverride: boolean;
  readonly makerId: number;
}

const ADD = `
  INSERT INTO proposals (id, application_id, act, reason_code, reason, is_override, maker_id, decided_on, decided_signed_at,
    needs_second, created_at, apply_at, mac)
  SELECT u.id, u.application_id, $1, $2, $3, $4, $5, u.decided_on, u.signed_at, u.needs_second, $6, $7, u.mac
  FROM unnest($8::bigint[], $9::bigint[], $10::bigint[], $11::timestamptz[], $12::text[], $13::bytea[])
      AS u(id, application_id, decided_on, signed_at, needs_second, mac)`;
/** One that waits for a second operator is looked at when its time for that is over. */
const STAMP = `
  WITH stamped AS MATERIALIZED (
    SELECT p.id, p.created_at, CASE WHEN p.needs_second IS NULL THEN p.apply_at
      ELSE p.created_at + interval '${CONFIRM_WITHIN_DAYS} days' END AS due_at
    FROM proposals p WHERE p.id = ANY ($2::bigint[])
  )
  UPDATE open_proposals o SET stamped_at = p.created_at, due_at = p.due_at FROM stamped p
  WHERE o.application_id = ANY ($1::bigint[]) AND o.proposal_id = p.id`;

/** Writes proposals in the places that the transaction has taken. */
export async function addProposals(
  session: Transaction,
  vault: Vault,
  { act, reasonCode, reason, isOverride, makerId }: Decision,
  undoSeconds: number,
  some: readonly NewProposal[],
): Promise<void> {
  if (some.length === 0) return;
  const now = await databaseTime(session);
  const applyAt = new Date(now.getTime() + undoSeconds * 1_000);
  const macs = some.map((one) =>
    proposalMac(vault, {
      ...{ id: `${one.proposalId}`, application_id: `${one.id}`, act, reason_code: reasonCode },
      ...{ is_override: isOverride, maker_id: makerId, decided_on: one.decidedOn },
      ...{ decided_signed_at: one.signedAt, needs_second: one.needsSecond, apply_at: applyAt },
    }),
  );
  const column = <K extends keyof NewProposal>(name: K) => some.map((one) => one[name]);
  await session.query(ADD, [
    ...[act, reasonCode, reason, isOverride, makerId, now, applyAt],
    ...[column('proposalId'), column('id'), column('decidedOn'), column('signedAt'), column('needsSecond')],
    macs,
  ]);
  await session.query(STAMP, [column('id'), column('proposalId')]);
}

const SELECTION = `
  SELECT s.ids, s.last_events FROM selections s
  WHERE s.id = $1 AND s.operator_id = $2 AND s.ends_at > clock_timestamp()
    AND s.ends_at < clock_timestamp() + interval '1 day'`;

/** The applications of an operator's selection, each with its last event then; null: there is none, or it has ended. */
export async function readSelection(
  session: Session,
  selection: string,
  operatorId: number,
): Promise<{ readonly id: ApplicationId; readonly lastEvent: string }[] | null> {
  const [row] = (
    await session.query<{ ids: string[]; last_events: string[] }>(SELECTION, [selection, operatorId])
  ).rows;
  return row === undefined
    ? null
    : row.ids.map((id, n) => ({ id: toApplicationId(id), lastEvent: row.last_events[n]! }));
}
