/** The sessions of browsers. The database's clock ends them; a time in the future was written while it was ahead. */
import { timingSafeEqual } from 'node:crypto';
import type { Database, Session } from '../../postgres/database.ts';
import type { Role } from '../rules/role.ts';

/** A session that goes on, with its operator as the account is now. */
export interface BrowserSession {
  readonly operatorId: number;
  readonly login: string;
  readonly role: Role;
  /** False: only the first factor is proved, and the session may do nothing but give the code. */
  readonly isWhole: boolean;
  /** Both factors were proved in the last five minutes. */
  readonly isFresh: boolean;
  /** Since the earlier one of both proofs. */
  readonly provedSecondsAgo: number;
}

/** The cookie's two parts. The store keeps the digest of the secret. */
export interface SessionKey {
  readonly id: Buffer;
  readonly secretDigest: Buffer;
}

/**
 * The most sessions of an operator; a new one ends the oldest. Those without their second factor count apart, so that
 * the password alone ends no whole session.
 */
const MOST = 10;
/** The most wrong proofs in a session. A right one begins another session. */
const MOST_WRONG_PROOFS = 5;

/** Ends: 30 minutes without use, 12 hours after the sign-in, and 5 minutes without the second factor. */
const LIVES = `s.seen_at > now() - interval '30 minutes' AND s.started_at > now() - interval '12 hours'
  AND s.seen_at <= now() + interval '1 minute' AND s.started_at <= now() + interval '1 minute'
  AND (s.is_whole OR s.started_at > now() - interval '5 minutes') AND s.wrong_codes < ${MOST_WRONG_PROOFS}`;
const FIND = `
  SELECT s.secret, s.operator_id, o.login, o.role, s.is_whole,
    s.proved_at BETWEEN now() - interval '5 minutes' AND now() + interval '1 minute' AS is_fresh,
    greatest(0, floor(extract(epoch FROM now() - s.proved_at)))::integer AS proved_seconds_ago,
    s.seen_at < now() - interval '1 minute' AS is_due
  FROM operator_sessions s JOIN operators o ON o.id = s.operator_id
  WHERE s.id = $1 AND o.disabled_at IS NULL AND o.enrolled_at IS NOT NULL AND ${LIVES}`;
const SEEN = 'UPDATE operator_sessions SET seen_at = now() WHERE id = $1';
const START = `
  WITH old AS (
    DELETE FROM operator_sessions WHERE id IN (
      SELECT s.id FROM operator_sessions s WHERE s.operator_id = $3 AND s.is_whole = $4
      ORDER BY s.started_at DESC OFFSET ${MOST - 1})
  )
  INSERT INTO operator_sessions (id, secret, operator_id, is_whole, proved_at)
  VALUES ($1, $2, $3, $4, now() - $5 * interval '1 second')`;
const END = 'DELETE FROM operator_sessions WHERE id = $1 RETURNING operator_id, proved_at';
const END_ALL = 'DELETE FROM operator_sessions WHERE operator_id = $1';
const BEGIN_ANOTHER = `
  WITH gone AS (${END}), old AS (
    DELETE FROM operator_sessions WHERE id IN (
      SELECT s.id FROM operator_sessions s JOIN gone g ON g.operator_id = s.operator_id
      WHERE s.is_whole AND s.id <> $1 ORDER BY s.started_at DESC OFFSET ${MOST - 1})
  )
  INSERT INTO operator_sessions (id, secret, operator_id, is_whole, proved_at)
  SELECT $2, $3, g.operator_id, true, coalesce(now() - $4::float8 * interval '1 second', g.proved_at) FROM gone g`;
const HAS_WHOLE = `SELECT FROM operator_sessions s WHERE s.operator_id = $1 AND s.is_whole AND ${LIVES} LIMIT 1`;
const WRONG_PROOF = 'UPDATE operator_sessions SET wrong_codes = wrong_codes + 1 WHERE id = $1';
const FORGET = `
  DELETE FROM operator_sessions s WHERE NOT (${LIVES})`;

/**
 * The session of a cookie; null where there is none, it ended, or the account is disabled. `isUse`: somebody uses it
 * with this request, so that it does not end yet.
 */
export async function findSession(
  database: Database,
  key: SessionKey,
  isUse: boolean,
): Promise<BrowserSession | null> {
  const { rows } = await database.query<{
    secret: Buffer;
    operator_id: number;
    login: string;
    role: Role;
    is_whole: boolean;
    is_fresh: boolean;
    proved_seconds_ago: number;
    is_due: boolean;
  }>({ name: 'find_operator_session', text: FIND, values: [key.id] });
  const [row] = rows;
  if (row === undefined || !timingSafeEqual(row.secret, key.secretDigest)) return null;
  // Not at each request: reading pages would write rows.
  if (isUse && row.is_due) await database.query(SEEN, [key.id]);
  return {
    ...{ operatorId: row.operator_id, login: row.login, role: row.role },
    ...{ isWhole: row.is_whole, isFresh: row.is_whole && row.is_fresh },
    provedSecondsAgo: row.proved_seconds_ago,
  };
}

/**
 * Starts a session; an operator's oldest one ends where there are ten. `provedSecondsAgo`: since the first factor was
 * proved, or the earlier one of both.
 */
export async function startSession(
  session: Session,
  { id, secretDigest }: SessionKey,
  {
    operatorId,
    isWhole,
    provedSecondsAgo = 0,
  }: { operatorId: number; isWhole: boolean; provedSecondsAgo?: number },
): Promise<void> {
  await session.query(START, [id, secretDigest, operatorId, isWhole, provedSecondsAgo]);
}

export async function endSession(session: Session, id: Buffer): Promise<void> {
  await session.query(END, [id]);
}

/** Ends all sessions of an operator, also those without their second factor. */
export async function endSessions(session: Session, operatorId: number): Promise<void> {
  await session.query(END_ALL, [operatorId]);
}

/** Whether an operator is signed in with both factors, in any browser. */
export async function hasWholeSession(session: Session, operatorId: number): Promise<boolean> {
  return (await session.query(HAS_WHOLE, [operatorId])).rowCount === 1;
}

/**
 * Starts the whole session that follows one without its second factor, which ends. Both are proved since the first one
 * was. Returns false where the session before is over.
 */
export function completeSession(session: Session, before: Buffer, next: SessionKey): Promise<boolean> {
  return beginAnother(session, before, next, null);
}

/**
 * Starts a session in the place of a whole one, where both factors were proved again so long ago. Returns false where
 * that one is over.
 */
export function renewSession(
  session: Session,
  before: Buffer,
  next: SessionKey,
  provedSecondsAgo = 0,
): Promise<boolean> {
  return beginAnother(session, before, next, provedSecondsAgo);
}

async function beginAnother(
  session: Session,
  before: Buffer,
  { id, secretDigest }: SessionKey,
  provedSecondsAgo: number | null,
): Promise<boolean> {
  const { rowCount } = await session.query(BEGIN_ANOTHER, [before, id, secretDigest, provedSecondsAgo]);
  return rowCount === 1;
}

/** Counts a wrong password or code within a session; the fifth one ends it. */
export async function countWrongProof(session: Session, id: Buffer): Promise<void> {
  await session.query(WRONG_PROOF, [id]);
}

/** Deletes the sessions that ended. Returns their number. */
export async function forgetSessions(database: Database): Promise<number> {
  return (await database.query(FORGET)).rowCount ?? 0;
}
