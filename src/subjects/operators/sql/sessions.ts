/**
 * The sessions of browsers: rows of `operator_sessions`. The database's clock ends them; a time in the future was
 * written while that clock was ahead. A MAC covers what a session grants, to whom, since when, and the enrolment that
 * it was made with (docs/operators.md, "The operator API").
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { BrowserSession, SessionKey, Whose } from '../../../domain/operator/session.ts';
import { checkedOrigin, type SessionOrigin } from '../../../domain/operator/session-origin.ts';
import { type Database, onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { later, micros, timeOf } from '../../../ground/postgres/database-time.ts';
import { requireIndexKey } from '../../../seal/index-key.ts';
import { isRowMac, type MacedRows, rowMac } from '../../../seal/row-macs.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type Account, type AccountRow, accountColumns, accountOf } from './account.ts';

/**
 * The most sessions of an operator; a new one ends the oldest. Sessions without their second factor count apart, so
 * that somebody with the password alone ends no whole session.
 */
const MOST = 10;
/** The most wrong proofs in a session. A right one begins another session. */
const MOST_WRONG_PROOFS = 5;

/** Ends: 30 minutes without use, 12 hours after the sign-in, and 5 minutes without the second factor. */
export const SESSION_LIVES = `seen_at > now() - interval '30 minutes' AND started_at > now() - interval '12 hours'
  AND seen_at <= now() + interval '1 minute' AND started_at <= now() + interval '1 minute'
  AND (is_whole OR started_at > now() - interval '5 minutes') AND wrong_codes < ${MOST_WRONG_PROOFS}`;
/** What the MAC of a session covers, and the MAC. Times are microseconds since 1970, as texts. */
interface StoredSession {
  readonly sessionId: Buffer;
  readonly secret: Buffer;
  readonly operatorId: number;
  readonly isWhole: boolean;
  readonly startedAt: string;
  readonly seenAt: string;
  readonly provedAt: string;
  readonly sessionMac: Buffer;
}

const KIND = 'operator session';
const COLUMNS = `s.id AS "sessionId", s.secret, s.operator_id AS "operatorId", s.is_whole AS "isWhole",
  s.mac AS "sessionMac", ${micros('s.started_at')} AS "startedAt", ${micros('s.seen_at')} AS "seenAt",
  ${micros('s.proved_at')} AS "provedAt"`;

/**
 * What the MAC covers. The count of wrong proofs is left out: it limits guesses and grants nothing. So is where and
 * with what the session began: that is for the eye alone, and the program of the release before knows nothing of it.
 */
function factsOf(row: Omit<StoredSession, 'sessionMac'>, enrolledAt: string | null) {
  return [
    ...[row.sessionId.toString('hex'), row.secret.toString('hex'), row.operatorId, row.isWhole],
    ...[row.startedAt, row.seenAt, row.provedAt, enrolledAt],
  ];
}

/** All sessions, for the check of their MACs and their replacement. */
export const SESSIONS: MacedRows<StoredSession & { enrolledAt: string | null }> = {
  kind: KIND,
  read: `
    SELECT encode(s.id, 'hex') AS name, ${COLUMNS}, s.mac, ${micros('o.enrolled_at')} AS "enrolledAt"
    FROM operator_sessions s LEFT JOIN operators o ON o.id = s.operator_id`,
  write: `
    UPDATE operator_sessions s SET mac = u.mac FROM unnest($1::text[], $2::bytea[]) AS u(name, mac)
    WHERE s.id = decode(u.name, 'hex')`,
  factsOf: (row) => factsOf(row, row.enrolledAt),
};

const FIND = `
  SELECT ${COLUMNS}, ${accountColumns('o')},
    s.proved_at BETWEEN now() - interval '5 minutes' AND now() + interval '1 minute' AS "isFresh",
    greatest(0, floor(extract(epoch FROM now() - s.proved_at)))::integer AS "provedSecondsAgo",
    s.seen_at < now() - interval '1 minute' AS "isDue"
  FROM operator_sessions s JOIN operators o ON o.id = s.operator_id
  WHERE s.id = $1 AND (o.partner_id IS NULL) = $2 AND o.disabled_at IS NULL AND o.enrolled_at IS NOT NULL AND ${SESSION_LIVES}`;
/** Writes nothing if another request has changed the session meanwhile. */
const SEEN = `UPDATE operator_sessions SET seen_at = ${timeOf('$2')}, mac = $3 WHERE id = $1 AND mac = $4`;
const NOW = `SELECT ${micros('now()')} AS now`;
const START = `
  WITH old AS (
    DELETE FROM operator_sessions WHERE id IN (
      SELECT s.id FROM operator_sessions s WHERE s.operator_id = $3 AND s.is_whole = $4
      ORDER BY s.started_at DESC OFFSET ${MOST - 1})
  )
  INSERT INTO operator_sessions (id, secret, operator_id, is_whole, started_at, seen_at, proved_at, mac, network, browser)
  VALUES ($1, $2, $3, $4, ${timeOf('$5')}, ${timeOf('$5')}, ${timeOf('$6')}, $7, $8, $9)`;
const END = 'DELETE FROM operator_sessions WHERE id = $1';
/** A cluster takes no `extract` of a time in a RETURNING. */
const TAKE = `
  WITH s AS (DELETE FROM operator_sessions WHERE id = $1 RETURNING *) SELECT ${COLUMNS} FROM s`;
const END_ALL = 'DELETE FROM operator_sessions WHERE operator_id = $1';
const HAS_WHOLE = `SELECT FROM operator_sessions s WHERE s.operator_id = $1 AND s.is_whole AND ${SESSION_LIVES} LIMIT 1`;
const WRONG_PROOF = 'UPDATE operator_sessions SET wrong_codes = wrong_codes + 1 WHERE id = $1';

/**
 * The session of a cookie. Null if there is none, if it ended, if its account is not of `whose` or is disabled, or if
 * the session or the account is forged. `isUse`: somebody uses the session with this request, so its idle time begins
 * again.
 */
export async function findSession(
  database: Database,
  vault: Vault,
  key: SessionKey,
  { whose, isUse }: { whose: Whose; isUse: boolean },
): Promise<BrowserSession | null> {
  const { rows } = await database.query<
    StoredSession & AccountRow & { isFresh: boolean; provedSecondsAgo: number; isDue: boolean }
  >({ name: 'find_operator_session', text: FIND, values: [key.id, whose === 'operator'] });
  const [row] = rows;
  if (row === undefined || !timingSafeEqual(row.secret, key.secretDigest)) return null;
  const account = accountOf(vault, row);
  if (account === null || !isRowMac(vault, KIND, factsOf(row, account.enrolledAt), row.sessionMac)) {
    // A process that still has the index key from before a reindex can check no MAC. It must not say that the session
    // is over.
    await requireIndexKey(database, vault);
    return null;
  }
  // Not at each request, because then each read of a page would write a row.
  if (isUse && row.isDue) {
    const mac = rowMac(vault, KIND, factsOf({ ...row, seenAt: account.now }, account.enrolledAt));
    await database.query(SEEN, [key.id, account.now, mac, row.sessionMac]);
  }
  const { id: operatorId, login, partnerId, role } = account;
  const { isWhole, isFresh, provedSecondsAgo } = row;
  return { operatorId, login, partnerId, role, isWhole, isFresh: isWhole && isFresh, provedSecondsAgo };
}

/**
 * Starts a session of a locked account. The oldest one ends if there are ten. `provedSecondsAgo`: how long ago the
 * first factor was proved; if both were proved at different times, the earlier one counts.
 */
export async function startSession(
  session: Session,
  vault: Vault,
  key: SessionKey,
  {
    account,
    isWhole,
    provedSecondsAgo = 0,
    origin = NOT_KNOWN,
  }: { account: Account; isWhole: boolean; provedSecondsAgo?: number; origin?: SessionOrigin },
): Promise<void> {
  const { now } = onlyRow((await session.query<{ now: string }>(NOW)).rows);
  const provedAt = later(now, -provedSecondsAgo * 1000);
  await add(session, vault, key, { account, isWhole, now, provedAt, origin });
}

const NOT_KNOWN: SessionOrigin = { network: null, browser: null };

async function add(
  session: Session,
  vault: Vault,
  { id, secretDigest }: SessionKey,
  {
    account,
    isWhole,
    now,
    provedAt,
    origin: { network, browser },
  }: { account: Account; isWhole: boolean; now: string; provedAt: string; origin: SessionOrigin },
): Promise<void> {
  const operatorId = account.id;
  const times = { startedAt: now, seenAt: now, provedAt };
  const row = { sessionId: id, secret: secretDigest, operatorId, isWhole, ...times };
  await session.query(START, [
    ...[id, secretDigest, operatorId, isWhole, now, provedAt],
    rowMac(vault, KIND, factsOf(row, account.enrolledAt)),
    ...[network, browser],
  ]);
}

/** A session as operators see it. Its name is a hash of its id, so that no answer has a part of a cookie. */
export interface ShownSession extends SessionOrigin {
  /** 16 hexadecimal digits. */
  readonly id: string;
  readonly operatorId: number;
  /** False: the second factor is missing. */
  readonly isWhole: boolean;
  readonly startedAt: Date;
  /** When somebody used it last. */
  readonly seenAt: Date;
}

const NAME = "left(encode(sha256(s.id), 'hex'), 16)";
const LIVING = `
  SELECT ${NAME} AS id, s.operator_id AS "operatorId", s.is_whole AS "isWhole", s.started_at AS "startedAt",
    s.seen_at AS "seenAt", s.network, s.browser
  FROM operator_sessions s
  WHERE ${SESSION_LIVES} AND ($1::integer IS NULL OR s.operator_id = $1) ORDER BY s.operator_id, s.started_at DESC`;
/** An operator has 20 sessions at most, so the name needs no index. */
const END_NAMED = `
  DELETE FROM operator_sessions s WHERE s.operator_id = $1 AND ${NAME} = $2
    AND NOT EXISTS (SELECT FROM operators o WHERE o.id = $1 AND o.partner_id IS NOT NULL)`;

/** The name by which admins see a session. */
export function sessionName(id: Buffer): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 16);
}

/** The sessions of an operator, or of all (null), that are not over. */
export async function readLivingSessions(
  session: Session,
  operatorId: number | null,
): Promise<ShownSession[]> {
  const { rows } = await session.query<ShownSession & Record<string, unknown>>(LIVING, [operatorId]);
  return rows.map((row) => ({ ...row, ...checkedOrigin(row) }));
}

/** Ends the session of an operator with this name. False: there is none. */
export async function endNamedSession(session: Session, operatorId: number, name: string): Promise<boolean> {
  return (await session.query(END_NAMED, [operatorId, name])).rowCount === 1;
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
 * Starts the whole session that replaces one without its second factor. The time of its proof is that of the first
 * factor. Returns false if the session before is over. The account is locked.
 */
export function completeSession(
  session: Session,
  vault: Vault,
  account: Account,
  [before, next]: readonly [before: Buffer, next: SessionKey],
  origin: SessionOrigin,
): Promise<boolean> {
  return beginAnother(session, vault, account, { before, next, provedSecondsAgo: null, origin });
}

/**
 * Starts a session in the place of a whole one. Both factors were proved again `provedSecondsAgo` seconds ago. Returns
 * false if the session before is over. The account is locked.
 */
export function renewSession(
  session: Session,
  vault: Vault,
  account: Account,
  [before, next]: readonly [before: Buffer, next: SessionKey],
  origin: SessionOrigin,
  provedSecondsAgo = 0,
): Promise<boolean> {
  return beginAnother(session, vault, account, { before, next, provedSecondsAgo, origin });
}

async function beginAnother(
  session: Session,
  vault: Vault,
  account: Account,
  {
    before,
    next,
    provedSecondsAgo,
    origin,
  }: { before: Buffer; next: SessionKey; provedSecondsAgo: number | null; origin: SessionOrigin },
): Promise<boolean> {
  const [gone] = (await session.query<StoredSession>(TAKE, [before])).rows;
  if (gone?.operatorId !== account.id) return false;
  if (!isRowMac(vault, KIND, factsOf(gone, account.enrolledAt), gone.sessionMac)) return false;
  const { now } = onlyRow((await session.query<{ now: string }>(NOW)).rows);
  const provedAt = provedSecondsAgo === null ? gone.provedAt : later(now, -provedSecondsAgo * 1000);
  await add(session, vault, next, { account, isWhole: true, now, provedAt, origin });
  return true;
}

/** Counts a wrong password or code within a session; the fifth one ends it. */
export async function countWrongProof(session: Session, id: Buffer): Promise<void> {
  await session.query(WRONG_PROOF, [id]);
}
