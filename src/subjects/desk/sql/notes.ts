/**
 * The sealed notes that operators write about an application: reads and writes `application_notes` (docs/operators.md,
 * "One application").
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';

/** The identity that a note is sealed under. */
export function noteIdentity(applicationId: ApplicationId | string, sealId: string): string {
  return `note:${applicationId}:${sealId}`;
}

/**
 * Locks until the end of the transaction, so that of two notes at once the second one counts the first, and a note and
 * an erasure of one application come one after the other. `elapsed` makes the coordinator of a cluster take the lock.
 */
const HOLD_OPERATOR =
  "SELECT pg_advisory_xact_lock(hashtext('notes of an operator'), $1::integer) FROM elapsed";
const HOLD = `
  SELECT pg_advisory_xact_lock(hashtext('notes of an application'), h.hash)
  FROM elapsed, (SELECT DISTINCT hashint8(u.id) AS hash FROM unnest($1::bigint[]) AS u(id) ORDER BY 1) AS h`;

/**
 * Until the end of the transaction, no other transaction can write a note by this operator or about this application.
 */
export async function holdNotes(
  session: Transaction,
  operatorId: number,
  applicationId: ApplicationId,
): Promise<void> {
  await session.query(HOLD_OPERATOR, [operatorId]);
  await session.query(HOLD, [[applicationId]]);
}

const COUNT = `
  SELECT (SELECT count(*)::integer FROM application_notes n WHERE n.application_id = $1) AS "ofApplication",
    h.count AS "ofHour", greatest(1, ceil(extract(epoch FROM h.first + interval '1 hour' - clock_timestamp())))::integer
      AS "waitSeconds"
  FROM (
    SELECT count(*)::integer AS count, min(k.at) AS first FROM (
      SELECT n.at FROM application_notes n WHERE n.operator_id = $2
        AND n.at BETWEEN clock_timestamp() - interval '1 hour' AND clock_timestamp() + interval '1 minute'
      ORDER BY n.at DESC LIMIT $3) AS k) AS h`;

/** How many notes there are. */
export interface NoteCounts {
  readonly ofApplication: number;
  /** How many the operator wrote within the last hour, counted up to `most`. */
  readonly ofHour: number;
  /** The seconds until the first of these is an hour old; null: there is none. */
  readonly waitSeconds: number | null;
}

/** Counts the notes about an application, and those by an operator within the last hour. */
export async function countNotes(
  session: Transaction,
  { applicationId, operatorId }: { readonly applicationId: ApplicationId; readonly operatorId: number },
  most: number,
): Promise<NoteCounts> {
  return onlyRow((await session.query<NoteCounts>(COUNT, [applicationId, operatorId, most])).rows);
}

const ADD = `
  INSERT INTO application_notes (id, application_id, operator_id, seal_id, content, request_key)
  SELECT $1, $2, $3, $4, $5::bytea, $6 WHERE may_seal(get_byte($5::bytea, 0)) RETURNING at`;

/**
 * Stores a note. `key`: the Idempotency-Key of the request; null: it has none. Throws an `Error` if the note is sealed
 * with a retired data key.
 */
export async function insertNote(
  session: Transaction,
  note: Omit<StoredNote, 'id' | 'at' | 'login'>,
  key: string | null,
): Promise<{ readonly id: number; readonly at: Date }> {
  const id = await takeId(session, 'application_notes');
  const { applicationId, operatorId, sealId, content } = note;
  const values = [id, applicationId, operatorId, sealId, content, key];
  const { rows } = await session.query<{ at: Date }>(ADD, values);
  const [row] = rows;
  if (row === undefined) throw new Error('the data key of a note is retired');
  return { id, at: row.at };
}

/** A note as it is stored. */
export interface StoredNote {
  readonly id: number;
  readonly applicationId: ApplicationId;
  readonly operatorId: number;
  readonly login: string;
  readonly at: Date;
  readonly sealId: string;
  readonly content: Buffer;
}

const STORED = `
  SELECT n.id::float8, n.application_id::float8 AS "applicationId", n.operator_id AS "operatorId", o.login, n.at,
    n.seal_id AS "sealId", n.content
  FROM application_notes n JOIN operators o ON o.id = n.operator_id`;
const OF_APPLICATION = `${STORED} WHERE n.application_id = $1 ORDER BY n.id`;
const OF_REQUEST = `${STORED} WHERE n.operator_id = $1 AND n.request_key = $2`;

/** The notes of an application, the oldest first. */
export async function notesOf(session: Session, applicationId: ApplicationId): Promise<StoredNote[]> {
  return (await session.query<StoredNote>(OF_APPLICATION, [applicationId])).rows;
}

/** The note that the operator wrote with a request with this key; null: there is none. */
export async function noteOfRequest(
  session: Session,
  operatorId: number,
  key: string,
): Promise<StoredNote | null> {
  return (await session.query<StoredNote>(OF_REQUEST, [operatorId, key])).rows[0] ?? null;
}

const DELETE = 'DELETE FROM application_notes WHERE application_id = ANY ($1::bigint[])';

/**
 * Deletes the notes about these applications. A note that is being written at the same time commits first, and is
 * deleted too.
 */
export async function eraseNotes(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(HOLD, [ids]);
  await session.query(DELETE, [ids]);
}
