/**
 * Open proposals: locks, confirms, puts off and ends them (D48; docs/operators.md, "Proposals"). Reads and writes
 * `open_proposals` and `proposals`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { type Database, onlyRow, type Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { ProposalState } from '../rules/proposal.ts';
import type { ReturnCode } from '../rules/returned.ts';
import { confirmationMac, isOwnProposal, MACED_PROPOSAL, type MacedProposal } from './proposal-macs.ts';

/** Two statements, so that the second one sees what the transaction that had the lock has committed. */
const APPLICATION = 'SELECT p.application_id AS id FROM proposals p WHERE p.id = $1';
const LOCK = 'SELECT FROM open_proposals o WHERE o.application_id = $1 AND o.proposal_id = $2 FOR UPDATE';

/** Locks a proposal until the end of the transaction; false: it is not open, or there is none. */
export async function lockOpen(session: Transaction, proposalId: number): Promise<boolean> {
  const [found] = (await session.query<{ id: string }>(APPLICATION, [proposalId])).rows;
  if (found === undefined) return false;
  return (await session.query(LOCK, [found.id, proposalId])).rowCount === 1;
}

/**
 * Here and below, times come from a subquery, because Citus refuses `clock_timestamp()` and sums of times in an UPDATE.
 */
const CONFIRM = `
  WITH confirmed AS (
    UPDATE proposals p SET second_id = $2, confirmed_at = t.now, second_mac = $3 FROM (SELECT clock_timestamp() AS now) AS t
    WHERE p.id = $1 RETURNING p.id, p.application_id, p.apply_at, p.confirmed_at
  )
  UPDATE open_proposals o SET stamped_at = c.confirmed_at, due_at = c.apply_at
  FROM confirmed c WHERE o.application_id = c.application_id AND o.proposal_id = c.id`;

/** Writes who confirmed a proposal that the transaction has locked. It is applied when its time comes. */
export async function writeConfirmation(
  session: Transaction,
  vault: Vault,
  proposalId: number,
  secondId: number,
): Promise<void> {
  await session.query(CONFIRM, [proposalId, secondId, confirmationMac(vault, proposalId, secondId)]);
}

/** The MACs are deleted, so that somebody who writes the database cannot open the row again. */
const END = `
  WITH gone AS (DELETE FROM open_proposals WHERE application_id = $2 AND proposal_id = $1)
  UPDATE proposals p SET state = $3, outcome = $4, second_id = coalesce($5, p.second_id), returned_for = $6,
    ended_at = t.now, ended_ms = t.ms, mac = '', second_mac = '', lines = NULL
  FROM (SELECT clock_timestamp() AS now, elapsed_ms() AS ms) AS t WHERE p.id = $1`;

/** How a proposal ends. `secondId`: who declined it. `returnedFor`: the reason if it is returned. */
export interface ProposalEnd {
  readonly state: Exclude<ProposalState, 'proposed'>;
  readonly outcome?: string;
  readonly secondId?: number;
  readonly returnedFor?: ReturnCode;
}

/** Ends a proposal that the transaction has locked. Its item in the queue has to be changed before. */
export async function endProposal(
  session: Transaction,
  { proposalId, applicationId }: { readonly proposalId: number; readonly applicationId: ApplicationId },
  { state, outcome, secondId, returnedFor }: ProposalEnd,
): Promise<void> {
  await session.query(END, [
    ...[proposalId, applicationId, state, outcome ?? null, secondId ?? null],
    returnedFor ?? null,
  ]);
}

const WAIT = "SELECT set_item_state($1, 'waiting')";

/** Lets an application wait for reviewers again, if it is still in the queue. */
export async function backToQueue(session: Transaction, id: ApplicationId): Promise<void> {
  await session.query(WAIT, [id]);
}

/** A due proposal, which the transaction has locked. */
export interface DueProposal extends MacedProposal {
  readonly proposalId: number;
  /** The number of failed tries. */
  readonly tries: number;
  /** The row is forged. */
  readonly isForged: boolean;
}

/** A row of `open_proposals` whose proposal does not exist. */
export interface LostProposal {
  readonly proposalId: number;
  readonly applicationId: ApplicationId;
  readonly isLost: true;
}

/** A proposal that is lost has `tries` and its place alone. */
interface DueRow extends Omit<DueProposal, 'isForged'> {
  /** The time to undo is over. If the row is due before that, somebody else has changed it. */
  readonly isOver: boolean;
}

/** Single decisions are applied before those on many. */
const LOCK_DUE = `
  SELECT o.application_id::float8 AS "applicationId" FROM open_proposals o WHERE o.due_at <= now()
  ORDER BY o.is_of_many, o.due_at LIMIT 1 FOR UPDATE SKIP LOCKED`;
/** A statement of its own, so that it sees what was committed before the lock, such as a confirmation. */
const READ_DUE = `
  SELECT d.proposal_id::float8 AS "proposalId", d.tries, p.apply_at <= now() AS "isOver", ${MACED_PROPOSAL}
  FROM open_proposals d LEFT JOIN proposals p ON p.id = d.proposal_id AND p.application_id = d.application_id
  WHERE d.application_id = $1`;

/** Locks a due proposal that no other process has locked, until the end of the transaction; empty: none is due. */
export async function takeDue(
  session: Transaction,
  vault: Vault,
): Promise<readonly [] | readonly [DueProposal | LostProposal]> {
  const [due] = (await session.query<Pick<DueProposal, 'applicationId'>>(LOCK_DUE)).rows;
  if (due === undefined) return [];
  const { isOver, ...row } = onlyRow((await session.query<DueRow>(READ_DUE, [due.applicationId])).rows);
  if (row.id === null) return [{ ...due, proposalId: row.proposalId, isLost: true }];
  return [{ ...row, isForged: !isOver || !isOwnProposal(vault, row) }];
}

const DROP = 'DELETE FROM open_proposals WHERE application_id = $1 AND proposal_id = $2';

/** Removes a row of `open_proposals` whose proposal does not exist. */
export async function dropLost(
  session: Transaction,
  { applicationId, proposalId }: LostProposal,
): Promise<void> {
  await session.query(DROP, [applicationId, proposalId]);
}

const PUT_OFF = `
  UPDATE open_proposals o SET tries = least(o.tries + 1, 1000), stamped_at = t.now, due_at = t.due_at
  FROM (SELECT clock_timestamp() AS now, clock_timestamp() + $3 * interval '1 millisecond' AS due_at) AS t
  WHERE o.application_id = $1 AND o.proposal_id = $2`;

/** Puts a proposal off for another try, if it is still open. */
export async function putOff(
  database: Database,
  { applicationId, proposalId }: { readonly applicationId: ApplicationId; readonly proposalId: number },
  afterMs: number,
): Promise<void> {
  await database.query(PUT_OFF, [applicationId, proposalId, afterMs]);
}

const LOOK = `
  SELECT clock_timestamp() AS now, EXISTS (
      SELECT FROM open_proposals o WHERE o.is_of_many = ANY ('{false,true}') AND o.due_at <= now()) AS "isDue",
    EXISTS (SELECT FROM open_proposals o WHERE o.stamped_at > now()) AS "isAhead"`;

/** What a look at the open proposals finds. */
export interface Look {
  /** The database's clock. */
  readonly now: Date;
  /** At least one is due. */
  readonly isDue: boolean;
  /** At least one has a time that was written while the clock was ahead. */
  readonly isAhead: boolean;
}

/** Looks whether there is something to do. */
export async function lookAtOpen(database: Database): Promise<Look> {
  return onlyRow((await database.query<Look>(LOOK)).rows);
}
