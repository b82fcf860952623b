/**
 * Sign-ins under way at the identity provider: rows of `operator_pending_sign_ins`. The database's clock ends them
 * after ten minutes, and a MAC covers what each one is for (docs/operators.md, "Sign-in by OpenID Connect").
 */
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';
import { micros, timeOf } from '../../../ground/postgres/database-time.ts';
import { isRowMac, type MacedRows, rowMac } from '../../../seal/row-macs.ts';
import type { Vault } from '../../../seal/vault.ts';

/** What a sign-in is for. */
export type Purpose =
  | { readonly kind: 'sign in' }
  /** By the link whose token has this digest. */
  | { readonly kind: 'enrol'; readonly linkDigest: Buffer }
  /** A sign-in again in this session; `hasCode`: a code of the app was right before. */
  | { readonly kind: 'again'; readonly sessionId: Buffer; readonly hasCode: boolean };

export interface PendingSignIn {
  readonly purpose: Purpose;
  /** How long it has been under way. */
  readonly seconds: number;
  /** The database's time, in milliseconds. */
  readonly nowMs: number;
}

/** What the MAC of a row covers, and the MAC. */
interface MacedRow {
  id: Buffer;
  /** In microseconds since 1970. */
  startedAt: string;
  kind: Purpose['kind'];
  linkDigest: Buffer | null;
  sessionId: Buffer | null;
  hasCode: boolean;
  mac: Buffer;
}

const KIND = 'operator sign-in under way';
const COLUMNS = `p.id, ${micros('p.started_at')} AS "startedAt", p.purpose AS kind, p.enrolment AS "linkDigest",
  p.session_id AS "sessionId", p.has_code AS "hasCode", p.mac`;

function factsOf({ id, startedAt, kind, linkDigest, sessionId, hasCode }: Omit<MacedRow, 'mac'>) {
  const [link, session] = [linkDigest, sessionId].map((bytes) => bytes?.toString('hex') ?? null);
  return [id.toString('hex'), startedAt, kind, link!, session!, hasCode];
}

/** All pending sign-ins, for the check of their MACs and their replacement. */
export const PENDING_SIGN_INS: MacedRows<MacedRow> = {
  kind: KIND,
  read: `SELECT encode(p.id, 'hex') AS name, ${COLUMNS} FROM operator_pending_sign_ins p`,
  write: `
    UPDATE operator_pending_sign_ins p SET mac = u.mac FROM unnest($1::text[], $2::bytea[]) AS u(name, mac)
    WHERE p.id = decode(u.name, 'hex')`,
  factsOf,
};

/** A start in the future was written while the clock was ahead. */
export const PENDING_LIVES = `started_at BETWEEN now() - interval '10 minutes' AND now() + interval '1 minute'`;
const NOW = `SELECT ${micros('now()')} AS now`;
const BEGIN = `
  INSERT INTO operator_pending_sign_ins (id, started_at, purpose, enrolment, session_id, has_code, mac)
  VALUES ($1, ${timeOf('$2')}, $3, $4, $5, $6, $7)`;
/** Citus computes no times in RETURNING. */
const TAKE = `
  WITH taken AS (
    DELETE FROM operator_pending_sign_ins WHERE id = $1 AND ${PENDING_LIVES} RETURNING *
  )
  SELECT ${COLUMNS}, greatest(0, extract(epoch FROM clock_timestamp() - p.started_at))::float8 AS seconds,
    extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"
  FROM taken p`;

/** `id` is the digest of the secret in the browser's cookie. */
export async function beginPending(
  database: Database,
  vault: Vault,
  id: Buffer,
  purpose: Purpose,
): Promise<void> {
  const { kind, linkDigest, sessionId, hasCode } = {
    linkDigest: null,
    sessionId: null,
    hasCode: false,
    ...purpose,
  };
  const { now } = onlyRow((await database.query<{ now: string }>(NOW)).rows);
  const mac = rowMac(vault, KIND, factsOf({ id, startedAt: now, kind, linkDigest, sessionId, hasCode }));
  await database.query(BEGIN, [id, now, kind, linkDigest, sessionId, hasCode, mac]);
}

/** Takes a pending sign-in away, because it counts once. Null if there is none, if it is over, or if it is forged. */
export async function takePending(
  database: Database,
  vault: Vault,
  id: Buffer,
): Promise<PendingSignIn | null> {
  const [row] = (await database.query<MacedRow & Omit<PendingSignIn, 'purpose'>>(TAKE, [id])).rows;
  if (row === undefined || !isRowMac(vault, KIND, factsOf(row), row.mac)) return null;
  return { purpose: purposeOf(row), seconds: row.seconds, nowMs: row.nowMs };
}

function purposeOf({ kind, linkDigest, sessionId, hasCode }: MacedRow): Purpose {
  if (kind === 'enrol') return { kind, linkDigest: linkDigest! };
  if (kind === 'again') return { kind, sessionId: sessionId!, hasCode };
  return { kind };
}
