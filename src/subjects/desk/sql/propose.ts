/**
 * Makes proposals on one application or on many, reads what they are based on, and takes those on many back (D48;
 * docs/operators.md, "Proposals"). Calls `place_proposals` and `write_proposals`; reads `review_items`,
 * `open_proposals`, `application_events`, `selections` and `operators`.
 */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import type { PaidLine } from '../../../domain/loan/disbursement.ts';
import type { Authority } from '../../../domain/operator/authority.ts';
import { DAY_MS } from '../../../ground/base/clock.ts';
import { onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { DecisionFacts } from '../../applications/sql/desk/decision-facts.ts';
import { type AccountRow, accountColumns, operatorOf, toAccount } from '../../operators/sql/account.ts';
import type { BulkResult, SecondReason } from '../rules/proposal.ts';
import { CONFIRM_WITHIN_DAYS } from '../rules/returned.ts';
import {
  type Before,
  beforeOf,
  type KeyedRequest,
  REQUEST_BEFORE,
  type RequestBefore,
  type SpentKey,
} from './desk-requests.ts';
import { proposalMac } from './proposal-macs.ts';

/** What the queue knows about an application. */
type QueuedFacts = Pick<DecisionFacts, 'partnerId' | 'score' | 'currency' | 'debtAmount'>;

const FACTS = `
  SELECT i.application_id AS id, i.partner_id AS "partnerId", i.score, i.currency, i.debt_amount AS "debtAmount"
  FROM review_items i
  WHERE i.application_id = ANY ($1::bigint[])`;

/** The facts of those applications that are in the queue. An application in review has no signature. */
export async function readQueuedFacts(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, DecisionFacts>> {
  const { rows } = await session.query<QueuedFacts & { id: string }>(FACTS, [ids]);
  return new Map(rows.map(({ id, ...rest }) => [toApplicationId(id), queuedFacts(rest)]));
}

function queuedFacts({ partnerId, score, currency, debtAmount }: QueuedFacts): DecisionFacts {
  // In JSON the amount is a text if the stored amount is no number.
  const amount = debtAmount === null ? null : Number(debtAmount);
  return { partnerId, score, currency, debtAmount: amount, ...IN_REVIEW };
}

const IN_REVIEW = { status: 'in_review', decision: 'in_review', signedAt: null } as const;

/**
 * What a decision on the applications $4 is based on. $5 names a sequence, as in `takeIds`. Each application is looked
 * up by the keys of `review_items` and `open_proposals`, and its last event by `application_events_application`.
 */
const STAND = `
  SELECT ${accountColumns('o')}, (
      SELECT json_agg(json_build_object('id', u.id, 'proposalId', nextval($5::text),
        'lastEvent', coalesce((SELECT max(e.id) FROM application_events e WHERE e.application_id = u.id), 0)::text,
        'isProposed', p.application_id IS NOT NULL, 'isQueued', i.application_id IS NOT NULL,
        'partnerId', i.partner_id, 'score', i.score, 'currency', i.currency, 'debtAmount', i.debt_amount))
      FROM elapsed CROSS JOIN unnest($4::bigint[]) AS u(id) LEFT JOIN review_items i ON i.application_id = u.id
      LEFT JOIN open_proposals p ON p.application_id = u.id
    ) AS applications,
    (SELECT ${REQUEST_BEFORE} FROM desk_requests r WHERE r.operator_id = $1 AND r.request_key = $2) AS before
  FROM operators o WHERE o.id = $1`;

/** An application that a decision is about. */
export interface ApplicationStand {
  readonly id: ApplicationId;
  /** The id of the proposal, if one is made. */
  readonly proposalId: number;
  readonly lastEvent: string;
  /** Whether a proposal on it is open. */
  readonly isProposed: boolean;
}

/** What a decision is based on, at one moment. */
export interface Stand {
  readonly now: Date;
  readonly maker: { readonly id: number; readonly login: string; readonly authority: Authority };
  readonly applications: readonly ApplicationStand[];
  /** The facts of those applications that are in the queue. */
  readonly queued: ReadonlyMap<ApplicationId, DecisionFacts>;
  /** What became of the request with the key; null: there was none. */
  readonly before: SpentKey | Before | null;
}

/** Reads what an operator's decision on these applications is based on, and whether the request came before. */
export async function readStand(
  session: Session,
  vault: Vault,
  makerId: number,
  ids: readonly ApplicationId[],
  request: KeyedRequest | null,
): Promise<Stand> {
  type Read = ApplicationStand & QueuedFacts & { readonly isQueued: boolean };
  const { rows } = await session.query<
    AccountRow & { applications: Read[] | null; before: RequestBefore | null }
  >(STAND, [makerId, request?.key, request?.digest, ids, 'proposals_id_seq']);
  const row = onlyRow(rows);
  const applications = row.applications ?? [];
  const queued = applications.filter(({ isQueued }) => isQueued);
  return {
    now: new Date(toAccount(row).nowMs),
    maker: { id: makerId, login: row.login, authority: operatorOf(vault, row)?.authority ?? new Map() },
    applications,
    queued: new Map(queued.map((one) => [one.id, queuedFacts(one)])),
    before: row.before && beforeOf(row.before),
  };
}

/** What the proposals of a request have in common. */
export interface OperatorDecision {
  readonly act: ReviewAction;
  readonly reasonCode: ReasonCode;
  readonly reason: string;
  readonly isOverride: boolean;
  readonly makerId: number;
  /** What a payment pays to whom. */
  readonly lines: readonly PaidLine[];
}

/** A decision on one application: what is proposed, or why nothing is proposed. */
export type Candidate =
  | { readonly id: ApplicationId; readonly objection: BulkResult }
  | {
      readonly id: ApplicationId;
      readonly objection: null;
      readonly proposalId: number;
      readonly decidedOn: string;
      readonly signedAt: Date | null;
      readonly needsSecond: SecondReason | null;
      /** The sealed lines of a payment; null: it has none. */
      readonly lines: Buffer | null;
    };

/**
 * How the proposals of a request are made. A proposal that waits for a second operator is looked at when its time is
 * over.
 */
export interface Proposing {
  readonly at: Date;
  readonly applyAt: Date;
  readonly request: KeyedRequest | null;
}

const PLACE = `
  SELECT p.results, p.claimed_by AS "claimedBy", p.claimed_until AS "claimedUntil", clock_timestamp() AS now
  FROM place_proposals($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS p`;
const WRITE = 'SELECT write_proposals($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)';
/** Both statements in one, which saves a round trip. */
const PROPOSE = `${PLACE}, write_proposals(p.results, $1, $13, $14, $15, $16, $5, $6, $8, $10, $11, $17, $12, $18, $19)`;

/** What became of a request. */
export interface Proposed {
  /** In the order of the candidates. `illegal` without an objection means that the application is pended. */
  readonly results: readonly BulkResult[];
  /** If there is only one candidate: who claims it. */
  readonly claimedBy: number | null;
  readonly claimedUntil: Date | null;
  readonly now: Date;
}

/**
 * Makes the proposal of a decision on one application, and stores the key of the request unless the proposal is
 * refused. Throws a conflict if the basis of the decision has to be read again.
 */
export async function addProposal(
  session: Session,
  vault: Vault,
  decision: OperatorDecision,
  how: Proposing,
  candidate: Candidate,
): Promise<Proposed> {
  const { act, reasonCode, reason, isOverride } = decision;
  const columns = proposalColumns(vault, decision, how, [candidate]);
  const placing = placingOf(decision, how, columns, false);
  const values = [
    ...placing,
    act,
    reasonCode,
    reason,
    isOverride,
    columns.signedAt,
    columns.macs,
    columns.lines,
  ];
  return onlyRow((await session.query<Proposed>(PROPOSE, values)).rows);
}

/** The same for a decision on many, in two statements, because the time of each is limited. */
export async function addProposals(
  session: Transaction,
  vault: Vault,
  decision: OperatorDecision,
  how: Proposing,
  candidates: readonly Candidate[],
): Promise<Proposed> {
  const { act, reasonCode, reason, isOverride, makerId } = decision;
  const columns = proposalColumns(vault, decision, how, candidates);
  const made = onlyRow((await session.query<Proposed>(PLACE, placingOf(decision, how, columns, true))).rows);
  const { ids, proposalIds, decidedOn, signedAt, needsSecond, macs, lines } = columns;
  await session.query(WRITE, [
    ...[made.results, makerId, act, reasonCode, reason, isOverride, how.at, how.applyAt],
    ...[ids, proposalIds, decidedOn, signedAt, needsSecond, macs, lines],
  ]);
  return made;
}

const NOTHING_PROPOSED = {
  ...{ proposalId: null, decidedOn: null, signedAt: null, needsSecond: null, mac: null, lines: null },
};

/** The values of the proposals, column by column. A candidate with an objection has only its id and the objection. */
function proposalColumns(
  vault: Vault,
  { act, reasonCode, isOverride, makerId }: OperatorDecision,
  { applyAt }: Proposing,
  candidates: readonly Candidate[],
) {
  const macOf = (one: Extract<Candidate, { objection: null }>) =>
    proposalMac(vault, {
      ...one,
      id: one.proposalId,
      applicationId: one.id,
      act,
      reasonCode,
      isOverride,
      makerId,
      applyAt,
    });
  const rows = candidates.map((one) =>
    one.objection === null ? { ...one, mac: macOf(one) } : { ...NOTHING_PROPOSED, ...one },
  );
  return {
    ids: rows.map(({ id }) => id),
    objections: rows.map(({ objection }) => objection),
    proposalIds: rows.map(({ proposalId }) => proposalId),
    decidedOn: rows.map(({ decidedOn }) => decidedOn),
    signedAt: rows.map(({ signedAt }) => signedAt),
    needsSecond: rows.map(({ needsSecond }) => needsSecond),
    macs: rows.map(({ mac }) => mac),
    lines: rows.map(({ lines }) => lines),
  };
}

/** The values of `PLACE`. */
function placingOf(
  { makerId }: OperatorDecision,
  { at, applyAt, request }: Proposing,
  { ids, objections, proposalIds, decidedOn, needsSecond }: ReturnType<typeof proposalColumns>,
  isOfMany: boolean,
): unknown[] {
  const confirmBy = new Date(at.getTime() + CONFIRM_WITHIN_DAYS * DAY_MS);
  return [
    ...[makerId, isOfMany, request?.key, request?.digest, at, applyAt, confirmBy],
    ...[ids, objections, proposalIds, decidedOn, needsSecond],
  ];
}

const SELECTION = `
  SELECT s.ids, s.last_events AS "lastEvents" FROM selections s
  WHERE s.id = $1 AND s.operator_id = $2 AND s.ends_at > clock_timestamp()
    AND s.ends_at < clock_timestamp() + interval '1 day'`;

/**
 * The applications of an operator's selection, each with its last event at that time; null: there is no selection, or
 * it has ended.
 */
export async function readSelection(
  session: Session,
  selection: string,
  operatorId: number,
): Promise<{ readonly id: ApplicationId; readonly lastEvent: string }[] | null> {
  const [row] = (
    await session.query<{ ids: string[]; lastEvents: string[] }>(SELECTION, [selection, operatorId])
  ).rows;
  return row === undefined
    ? null
    : row.ids.map((id, n) => ({ id: toApplicationId(id), lastEvent: row.lastEvents[n]! }));
}

/** Locks in the order of the keys. Proposals that were applied or ended meanwhile are left out. */
const HOLD_UNDONE = `
  SELECT o.application_id AS id, o.proposal_id AS "proposalId" FROM open_proposals o
  WHERE (o.application_id, o.proposal_id) IN (
    SELECT u.id, u.proposal_id FROM desk_requests r, unnest(r.ids, r.proposal_ids) AS u(id, proposal_id)
    WHERE r.operator_id = $1 AND r.request_key = $2)
  ORDER BY o.application_id FOR UPDATE`;
/** A statement of its own, because Citus passes no locked rows on to several updates. */
const UNDO = `
  WITH items AS MATERIALIZED (
    SELECT i.application_id FROM review_items i
    WHERE i.application_id = ANY ($2::bigint[]) AND i.state = 'proposed'
    ORDER BY i.application_id FOR NO KEY UPDATE
  ), waiting AS (
    UPDATE review_items i SET state = 'waiting' FROM items h WHERE i.application_id = h.application_id
  ), gone AS (
    DELETE FROM open_proposals o WHERE o.application_id = ANY ($2::bigint[])
  )
  UPDATE proposals p SET state = 'undone', ended_at = t.now, ended_ms = t.ms, mac = '', second_mac = ''
  FROM (SELECT clock_timestamp() AS now, elapsed_ms() AS ms) AS t
  WHERE p.id = ANY ($3::bigint[]) AND p.maker_id = $1`;
/** In the order of the request, with those that an earlier try took back. */
const UNDONE = `
  SELECT p.application_id::float8 AS id FROM desk_requests r,
    unnest(r.proposal_ids) WITH ORDINALITY AS u(proposal_id, place)
  JOIN proposals p ON p.id = u.proposal_id
  WHERE r.operator_id = $1 AND r.request_key = $2 AND p.state = 'undone'
  ORDER BY u.place`;

/**
 * Ends the open proposals of a request, so that their applications wait for reviewers again. Returns the applications
 * whose proposals of this request are undone by now.
 */
export async function undoRequest(
  session: Transaction,
  operatorId: number,
  key: string,
): Promise<ApplicationId[]> {
  const { rows } = await session.query<{ id: string; proposalId: string }>(HOLD_UNDONE, [operatorId, key]);
  await session.query(UNDO, [operatorId, rows.map(({ id }) => id), rows.map(({ proposalId }) => proposalId)]);
  const undone = await session.query<{ id: ApplicationId }>(UNDONE, [operatorId, key]);
  return undone.rows.map(({ id }) => id);
}
