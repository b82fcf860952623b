/** Activations that are proposed in the console (D48, D51). Reads and writes `policy_proposals`. */
import { onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';

export type ProposalState = 'proposed' | 'activated' | 'undone' | 'declined' | 'returned';

/** An operator with the present login. */
export interface By {
  readonly id: number;
  readonly login: string;
}

export interface PolicyProposal {
  readonly id: number;
  readonly version: string;
  /** The digest of the content that the maker saw, in hexadecimal digits. */
  readonly sha256: string;
  /** The activation that it would follow. */
  readonly afterActivation: number;
  readonly accepted: readonly string[];
  readonly maker: By;
  readonly reason: string;
  readonly createdAt: Date;
  /** An open one that is older than `KEPT_OPEN` is `returned`. */
  readonly state: ProposalState;
  readonly second: By | null;
  readonly endedAt: Date | null;
  /** The reason of a decline; the code of a return. */
  readonly outcome: string | null;
  /** Whether the maker's time to undo is over, and when it is. */
  readonly isDue: boolean;
  readonly dueAt: Date;
}

/** Nobody confirms an older one. */
const KEPT_OPEN = "interval '7 days'";
const IS_EXPIRED = `p.state = 'proposed' AND p.created_ms <= elapsed_ms() - ms_of(${KEPT_OPEN})`;
const named = (id: string) =>
  `CASE WHEN ${id} IS NOT NULL THEN json_build_object('id', ${id}, 'login', coalesce((
     SELECT o.login FROM operators o WHERE o.id = ${id}), ${id}::text)) END`;
/** A time of creation in the future is of a clock that was ahead: nobody waits for it (D39). */
const COLUMNS = `
  p.id::float8, p.version, encode(p.sha256, 'hex') AS sha256, p.after_activation::float8 AS "afterActivation", p.accepted,
  ${named('p.maker_id')} AS maker, p.reason, p.created_at AS "createdAt",
  CASE WHEN ${IS_EXPIRED} THEN 'returned' ELSE p.state END AS state, ${named('p.second_id')} AS second,
  p.ended_at AS "endedAt", CASE WHEN ${IS_EXPIRED} THEN 'expired' ELSE p.outcome END AS outcome,
  clock_timestamp() NOT BETWEEN p.created_at AND p.created_at + $1 * interval '1 second' AS "isDue",
  p.created_at + $1 * interval '1 second' AS "dueAt"`;

const LIST = `SELECT ${COLUMNS} FROM policy_proposals p ORDER BY p.id DESC LIMIT $2`;
const FIND = `SELECT ${COLUMNS} FROM policy_proposals p WHERE p.id = $2`;
const LOCK = 'SELECT FROM policy_proposals p WHERE p.id = $1 FOR UPDATE';

/** The newest proposals, the last one first; `undoSeconds` is the time in which a maker may undo one. */
export async function listProposals(
  session: Session,
  undoSeconds: number,
  most: number,
): Promise<PolicyProposal[]> {
  return (await session.query<PolicyProposal>(LIST, [undoSeconds, most])).rows;
}

/** An expired one counts for nobody. */
const TO_CONFIRM = `
  SELECT count(*)::integer AS count FROM policy_proposals p
  WHERE p.state = 'proposed' AND p.maker_id <> $1 AND NOT (${IS_EXPIRED})`;

/** How many activations wait for an admin to confirm them. Each version has one open proposal at most. */
export async function countActivationsToConfirm(session: Session, operatorId: number): Promise<number> {
  return onlyRow((await session.query<{ count: number }>(TO_CONFIRM, [operatorId])).rows).count;
}

/** Locks a proposal up to the end of the transaction, and reads it; null: there is none. */
export async function lockProposal(
  session: Transaction,
  undoSeconds: number,
  id: number,
): Promise<PolicyProposal | null> {
  await session.query(LOCK, [id]);
  return (await session.query<PolicyProposal>(FIND, [undoSeconds, id])).rows[0] ?? null;
}

const END_EXPIRED = `
  UPDATE policy_proposals p SET state = 'returned', outcome = 'expired', ended_at = (SELECT clock_timestamp())
  WHERE p.version = $1 AND ${IS_EXPIRED}`;
const OPEN = `SELECT ${COLUMNS} FROM policy_proposals p WHERE p.version = $2 AND p.state = 'proposed'`;
const ADD = `
  INSERT INTO policy_proposals (id, version, sha256, after_activation, accepted, maker_id, reason, created_ms)
  VALUES ($1, $2, decode($3, 'hex'), $4, $5, $6, $7, $8)`;
const ELAPSED = 'SELECT elapsed_ms()::float8 AS ms';

export interface NewProposal
  extends Pick<PolicyProposal, 'version' | 'sha256' | 'afterActivation' | 'accepted' | 'reason'> {
  readonly makerId: number;
}

/** The open proposal of a version; null: there is none. One that nobody confirmed in time ends here. */
export async function openProposalOf(
  session: Session,
  undoSeconds: number,
  version: string,
): Promise<PolicyProposal | null> {
  await session.query(END_EXPIRED, [version]);
  return (await session.query<PolicyProposal>(OPEN, [undoSeconds, version])).rows[0] ?? null;
}

/** Adds a proposal, and returns its id. Fails (23505) where the version has an open one. */
export async function addProposal(
  session: Session,
  { version, sha256, afterActivation, accepted, makerId, reason }: NewProposal,
): Promise<number> {
  const id = await takeId(session, 'policy_proposals');
  const { ms } = onlyRow((await session.query<{ ms: number }>(ELAPSED)).rows);
  await session.query(ADD, [id, version, sha256, afterActivation, accepted, makerId, reason, ms]);
  return id;
}

const END = `
  UPDATE policy_proposals p SET state = $2, second_id = $3, outcome = $4, ended_at = (SELECT clock_timestamp())
  WHERE p.id = $1`;

/** How a proposal ends. */
export interface ProposalEnd {
  readonly state: Exclude<ProposalState, 'proposed'>;
  readonly secondId?: number;
  readonly outcome?: string;
}

/** Ends a proposal that the transaction has locked. */
export async function endProposal(
  session: Transaction,
  id: number,
  { state, secondId, outcome }: ProposalEnd,
): Promise<void> {
  await session.query(END, [id, state, secondId ?? null, outcome ?? null]);
}
