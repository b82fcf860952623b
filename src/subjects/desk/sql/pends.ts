/**
 * Pended applications: their time stands still until the applicant answers, or the hours are over (docs/operators.md,
 * "Pended applications"). Reads `pends` and `open_pends`, and calls `begin_pend`, `end_pend`, `end_due_pends` and
 * `erase_pends`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { type Database, onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';
import type { Missing, PendEnd, PendMessage } from '../rules/pend.ts';
import { type By, by } from './names.ts';

/** A pend as it is stored. */
export interface StoredPend {
  readonly applicationId: ApplicationId;
  readonly missing: readonly Missing[];
  readonly by: By;
  readonly at: Date;
  readonly endsAt: Date;
  readonly message: PendMessage;
  /** null, like the next one: the pend is open. */
  readonly endedAt: Date | null;
  readonly end: PendEnd | null;
  /** The operator who resumed the application; null: nobody did. */
  readonly resumedBy: By | null;
}

const LOCK = 'SELECT FROM open_pends o WHERE o.application_id = $1 FOR UPDATE';

/** Locks the open pend of an application until the end of the transaction; false: there is none. */
export async function lockOpenPend(session: Transaction, id: ApplicationId): Promise<boolean> {
  return (await session.query(LOCK, [id])).rowCount === 1;
}

const BEGIN = 'SELECT begin_pend($1, $2, $3, $4, $5, $6, $7, $8) AS result';

/** What a new pend is made from. */
export interface NewPend {
  readonly applicationId: ApplicationId;
  readonly operatorId: number;
  readonly missing: readonly Missing[];
  readonly hours: number;
  readonly message: PendMessage;
  /** The Idempotency-Key of the request; null: it has none. */
  readonly key: string | null;
}

/**
 * Pends an application that the operator has claimed in this transaction, and gives the claim back. Otherwise says why
 * not: a decision is proposed, it is pended already, or it has had `most` pends.
 */
export async function beginPend(
  session: Transaction,
  { applicationId, operatorId, missing, hours, message, key }: NewPend,
  most: number,
): Promise<'begun' | 'proposed' | 'pended' | 'too_many'> {
  const id = await takeId(session, 'pends');
  const values = [id, applicationId, operatorId, missing, hours, message, most, key];
  return onlyRow(
    (await session.query<{ result: 'begun' | 'proposed' | 'pended' | 'too_many' }>(BEGIN, values)).rows,
  ).result;
}

const RESUME = "SELECT end_pend($1, 'resumed', $2)";

/** Ends the pend of an application because an operator resumes it. The transaction has locked the pend. */
export async function resumePend(session: Transaction, id: ApplicationId, operatorId: number): Promise<void> {
  await session.query(RESUME, [id, operatorId]);
}

const END_DUE = 'SELECT end_due_pends($1) AS ended';
const AT_ONCE = 200;

/**
 * Ends pends whose time or reason is over, a limited number at a time. Returns how many. Any number of processes may do
 * this.
 */
export async function endDuePends(database: Database): Promise<number> {
  return onlyRow((await database.query<{ ended: number }>(END_DUE, [AT_ONCE])).rows).ended;
}

const STORED = `
  SELECT p.application_id::float8 AS "applicationId", p.missing, ${by('p.operator_id', 'o')} AS by, p.at,
    p.ends_at AS "endsAt", p.message, p.ended_at AS "endedAt", p.ending AS "end", ${by('p.resumed_by', 'r')} AS "resumedBy"
  FROM pends p JOIN operators o ON o.id = p.operator_id LEFT JOIN operators r ON r.id = p.resumed_by`;
const NEWEST = `${STORED} WHERE p.application_id = $1 ORDER BY p.id DESC LIMIT 1`;

/** The newest pend of an application; null: there is none. */
export async function newestPendOf(
  session: Session,
  applicationId: ApplicationId,
): Promise<StoredPend | null> {
  return (await session.query<StoredPend>(NEWEST, [applicationId])).rows[0] ?? null;
}

const ALL = `${STORED} WHERE p.application_id = $1 ORDER BY p.id`;

/** Every pend of an application, oldest first; at most 100. */
export async function pendsOf(session: Session, applicationId: ApplicationId): Promise<StoredPend[]> {
  return (await session.query<StoredPend>(ALL, [applicationId])).rows;
}

/** `elapsed` makes the coordinator of a cluster take the lock. */
const HOLD = "SELECT pg_advisory_xact_lock(hashtext('pends of an operator'), $1::integer) FROM elapsed";
const OF_REQUEST = `${STORED} WHERE p.operator_id = $1 AND p.request_key = $2`;

/**
 * The pend that the operator began with a request with this key; null: there is none. Until the end of the transaction
 * no other request of this operator with a key can begin one.
 */
export async function pendOfRequest(
  session: Transaction,
  operatorId: number,
  key: string,
): Promise<StoredPend | null> {
  await session.query(HOLD, [operatorId]);
  return (await session.query<StoredPend>(OF_REQUEST, [operatorId, key])).rows[0] ?? null;
}

const ERASE = 'SELECT erase_pends($1, $2)';

/** Ends the open pends of erased persons. A pend has nothing about the person, and stays with the application. */
export async function endErasedPends(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(ERASE, [ids, false]);
}

/** Deletes the pends of applications that are deleted. */
export async function deletePends(session: Session, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(ERASE, [ids, true]);
}
