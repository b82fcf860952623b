/**
 * What follows an applied decision of the desk: the count by hour (`count_decision` writes `decision_hours`), and, if
 * the decision is drawn, a second look (reads and writes `second_looks`). Decisions of the command line have neither
 * (docs/operators.md, "The lead's view and second looks").
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';

/** A decision that waits for its look. */
export interface WaitingLook {
  readonly proposalId: number;
  readonly applicationId: ApplicationId;
  readonly act: ReviewAction;
  readonly reasonCode: ReasonCode;
  readonly at: Date;
}

/** A drawn decision, with the operators who decided. */
export interface Drawn extends Omit<WaitingLook, 'at'> {
  readonly makerId: number;
  /** null: the maker decided alone. */
  readonly checkerId: number | null;
}

const ADD = `
  INSERT INTO second_looks (proposal_id, application_id, act, reason_code, maker_id, checker_id)
  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (proposal_id) DO NOTHING`;

/** Lets a decision wait for a look, in the transaction that applies it. */
export async function addSecondLook(session: Transaction, drawn: Drawn): Promise<void> {
  const { proposalId, applicationId, act, reasonCode, makerId, checkerId } = drawn;
  await session.query(ADD, [proposalId, applicationId, act, reasonCode, makerId, checkerId]);
}

const WAITING = `
  SELECT l.proposal_id::float8 AS "proposalId", l.application_id::float8 AS "applicationId", l.act,
    l.reason_code AS "reasonCode", l.at
  FROM second_looks l
  WHERE l.looked_at IS NULL AND l.maker_id <> $1 AND l.checker_id IS DISTINCT FROM $1
  ORDER BY l.proposal_id LIMIT $2`;

/** The oldest decisions that wait, without those that this admin made or confirmed. */
export async function waitingLooks(session: Session, lookerId: number, most: number): Promise<WaitingLook[]> {
  return (await session.query<WaitingLook>(WAITING, [lookerId, most])).rows;
}

const LOCK = `
  SELECT l.application_id::float8 AS "applicationId", l.maker_id AS "makerId", l.checker_id AS "checkerId",
    CASE WHEN l.looker_id IS NOT NULL
      THEN json_build_object('lookerId', l.looker_id, 'agrees', l.agrees, 'note', l.note) END AS look
  FROM second_looks l WHERE l.proposal_id = $1 FOR UPDATE`;

/** What an admin says about a decision. */
export interface Look {
  readonly lookerId: number;
  readonly agrees: boolean;
  readonly note: string | null;
}

/** A drawn decision, with its look. */
export interface LockedLook extends Pick<Drawn, 'applicationId' | 'makerId' | 'checkerId'> {
  /** null: nobody has looked yet. */
  readonly look: Look | null;
}

/** The drawn decision, locked until the end of the transaction; null: it was not drawn. */
export async function lockLook(session: Transaction, proposalId: number): Promise<LockedLook | null> {
  return (await session.query<LockedLook>(LOCK, [proposalId])).rows[0] ?? null;
}

const LOOK = `
  UPDATE second_looks SET looker_id = $2, looked_at = t.now, agrees = $3, note = $4
  FROM (SELECT clock_timestamp() AS now) AS t WHERE proposal_id = $1`;

/** Writes what the admin said about a decision that the transaction has locked. */
export async function writeLook(session: Transaction, proposalId: number, look: Look): Promise<void> {
  await session.query(LOOK, [proposalId, look.lookerId, look.agrees, look.note]);
}

const ERASE = 'DELETE FROM second_looks WHERE application_id = ANY ($1::bigint[]) AND looked_at IS NULL';
const ERASE_NOTES = `
  UPDATE second_looks SET note = 'erased' WHERE application_id = ANY ($1::bigint[]) AND note IS NOT NULL`;

/** Removes waiting decisions about erased persons, and what admins wrote in their notes. */
export async function eraseLooks(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(ERASE, [ids]);
  await session.query(ERASE_NOTES, [ids]);
}

const COUNT_DECISION = 'SELECT count_decision($1, $2, $3, $4)';

/** Counts a decision, in the transaction that applies it. */
export async function countDecision(
  session: Transaction,
  decision: {
    readonly operatorId: number;
    readonly act: ReviewAction;
    readonly reasonCode: ReasonCode;
    readonly isAgainstScore: boolean;
  },
): Promise<void> {
  const { operatorId, act, reasonCode, isAgainstScore } = decision;
  await session.query(COUNT_DECISION, [operatorId, act, reasonCode, isAgainstScore]);
}
