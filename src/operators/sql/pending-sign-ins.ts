/** Sign-ins under way at the identity provider. The database's clock ends them. */
import type { Database } from '../../postgres/database.ts';

/** What a sign-in is for. */
export type Purpose =
  | { readonly kind: 'sign in' }
  /** By the link whose token has this digest. */
  | { readonly kind: 'enrol'; readonly linkDigest: Buffer }
  /** In this session; `hasCode`: a code of the app was right before. */
  | { readonly kind: 'again'; readonly sessionId: Buffer; readonly hasCode: boolean };

export interface PendingSignIn {
  readonly purpose: Purpose;
  /** How long it has been under way. */
  readonly seconds: number;
  /** The database's time, in milliseconds. */
  readonly nowMs: number;
}

interface Row {
  purpose: Purpose['kind'];
  enrolment: Buffer | null;
  session_id: Buffer | null;
  has_code: boolean;
  seconds: number;
  now_ms: number;
}

/** A start in the future was written while the clock was ahead. */
const LIVES = `started_at BETWEEN now() - interval '10 minutes' AND now() + interval '1 minute'`;
const BEGIN = `
  INSERT INTO operator_pending_sign_ins (id, purpose, enrolment, session_id, has_code)
  VALUES ($1, $2, $3, $4, $5)`;
/** Citus computes no times in RETURNING. */
const TAKE = `
  WITH taken AS (
    DELETE FROM operator_pending_sign_ins WHERE id = $1 AND ${LIVES}
    RETURNING purpose, enrolment, session_id, has_code, started_at
  )
  SELECT t.purpose, t.enrolment, t.session_id, t.has_code,
    greatest(0, extract(epoch FROM clock_timestamp() - t.started_at))::float8 AS seconds,
    extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms
  FROM taken t`;
const FORGET = `DELETE FROM operator_pending_sign_ins WHERE NOT (${LIVES})`;

/** `id` is the digest of the secret in the browser's cookie. */
export async function beginPending(database: Database, id: Buffer, purpose: Purpose): Promise<void> {
  const { linkDigest, sessionId, hasCode } = {
    ...{ linkDigest: null, sessionId: null, hasCode: false },
    ...purpose,
  };
  await database.query(BEGIN, [id, purpose.kind, linkDigest, sessionId, hasCode]);
}

/** Takes a sign-in, which counts once; null: there is none, or it is over. */
export async function takePending(database: Database, id: Buffer): Promise<PendingSignIn | null> {
  const [row] = (await database.query<Row>(TAKE, [id])).rows;
  return row === undefined ? null : { purpose: purposeOf(row), seconds: row.seconds, nowMs: row.now_ms };
}

/** Deletes those that are over. Returns their number. */
export async function forgetPending(database: Database): Promise<number> {
  return (await database.query(FORGET)).rowCount ?? 0;
}

function purposeOf({ purpose, enrolment, session_id, has_code }: Row): Purpose {
  if (purpose === 'enrol') return { kind: purpose, linkDigest: enrolment! };
  if (purpose === 'again') return { kind: purpose, sessionId: session_id!, hasCode: has_code };
  return { kind: purpose };
}
