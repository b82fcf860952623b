/**
 * Writes what changes on an application beside its status: it leaves its phone, it has a conversation, its phone is
 * somebody else's, it is signed (D35, D43, D46). By the conversation and the signature `move_application` knows when it
 * may be paid out. Reads and writes `open_phones`, `application_states` and `application_events`.
 */

import {
  type ApplicationId,
  type BlindIndex,
  batchAndPositionOf,
  partitionOf,
  toApplicationId,
} from '../../../domain/application/ids.ts';
import type { ApplicationStatus, NotedAction } from '../../../domain/application/lifecycle.ts';
import {
  type Database,
  inTransaction,
  type Session,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';
import { toBigint } from '../../../seal/blind-indexes.ts';
import { byPartitions } from './partition-runs.ts';

const FREE = 'DELETE FROM open_phones WHERE phone_index = $1 AND application_id = $2';
/** A statement of its own: on a cluster, the other tables here are on different machines. */
const NOTE = `
  INSERT INTO application_events (application_id, at, actor, action, from_status, to_status, reason, id)
  VALUES ($1, clock_timestamp(), $2, $6, $3, $3, $4, $5)`;

/** An entry of the history that changes no status. */
interface HistoryEntry {
  readonly actor: string;
  readonly action: NotedAction;
  readonly status: ApplicationStatus;
  readonly reason: string;
}

/** Writes an entry of an application's history that changes no status. */
export async function addToHistory(
  session: Session,
  id: ApplicationId,
  { actor, action, status, reason }: HistoryEntry,
): Promise<void> {
  const values = [id, actor, status, reason, await takeId(session, 'application_events'), action];
  await session.query(NOTE, values);
}

/**
 * Takes the phone's blind index from an open application, and writes its history. Returns false if it does not hold the
 * index.
 */
export function freePhoneIndex(
  database: Database,
  id: ApplicationId,
  phoneIndex: BlindIndex<'phone'>,
  { actor, status, reason }: { actor: string; status: ApplicationStatus; reason: string },
): Promise<boolean> {
  return inTransaction(database, async (session) => {
    if ((await session.query(FREE, [toBigint(phoneIndex), id])).rowCount !== 1) return false;
    await addToHistory(session, id, { actor, action: 'free_phone', status, reason });
    return true;
  });
}

const MARK = 'SELECT id FROM mark_conversations($1) AS m(id)';

/**
 * Notes that conversations of these applications begin, and returns those that are open and have a conversation now
 * (D43). From then on a payment needs the signature. It may be called again. On a cluster, call it first: a transaction
 * that has written tables of the coordinator may not run it any more (docs/scale.md).
 */
export async function markConversations(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<ApplicationId[]> {
  if (ids.length === 0) return [];
  const { rows } = await session.query<{ id: string }>(MARK, [ids]);
  return rows.map(({ id }) => toApplicationId(id));
}

const NOTE_WRONG_PERSON = 'SELECT note_wrong_person($1, $2)';

/**
 * Notes whether the phone of applications is somebody else's (D43). While it is, no message of the application is sent
 * there.
 */
export async function noteWrongPerson(
  session: Session,
  ids: readonly ApplicationId[],
  isWrong: boolean,
): Promise<void> {
  for (const some of byPartitions(ids, partitionOf)) await session.query(NOTE_WRONG_PERSON, [some, isWrong]);
}

const WRONG_PERSONS = `
  SELECT application_id AS id FROM application_states WHERE wrong_person ORDER BY application_id`;
const SEAL_IDS = `
  SELECT g.id, b.seal_id FROM unnest($1::bigint[]) AS g(id)
  JOIN batches b ON b.id = batch_of(g.id) AND b.id = ANY ($2::bigint[])`;

/** The applications whose phone is somebody else's, as `stillStored` finds them in another state of the store. */
export async function readWrongPersons(
  session: Session,
): Promise<{ readonly id: ApplicationId; readonly sealId: string }[]> {
  const { rows: all } = await session.query<{ id: string }>(WRONG_PERSONS);
  const found: { id: ApplicationId; sealId: string }[] = [];
  const wrong = all.map(({ id }) => toApplicationId(id));
  for (const ids of byPartitions(wrong, partitionOf)) {
    const batches = [...new Set(ids.map((id) => batchAndPositionOf(id).batchId))];
    const { rows } = await session.query<{ id: string; seal_id: string }>(SEAL_IDS, [ids, batches]);
    found.push(...rows.map(({ id, seal_id: sealId }) => ({ id: toApplicationId(id), sealId })));
  }
  return found;
}

/** The state of an application that the transaction has locked. */
interface LockedState {
  readonly status: ApplicationStatus;
  readonly signedAt: Date | null;
  readonly withdrawableUntil: Date | null;
  /** Its phone is somebody else's. */
  readonly isWrongPerson: boolean;
  /** The database's clock. */
  readonly now: Date;
}

const LOCK = `
  SELECT status, signed_at, withdrawable_until, wrong_person, clock_timestamp() AS now FROM application_states
  WHERE batch_id = batch_of($1) AND application_id = $1 FOR UPDATE`;

/** Locks an application that has a conversation, against every review; null if it has none. */
export async function lockState(session: Transaction, id: ApplicationId): Promise<LockedState | null> {
  const { rows } = await session.query<{
    status: ApplicationStatus;
    signed_at: Date | null;
    withdrawable_until: Date | null;
    wrong_person: boolean;
    now: Date;
  }>(LOCK, [id]);
  const [row] = rows;
  if (row === undefined) return null;
  const { status, now, signed_at: signedAt, withdrawable_until: withdrawableUntil } = row;
  return { status, signedAt, withdrawableUntil, isWrongPerson: row.wrong_person, now };
}

const SIGN = `
  UPDATE application_states SET signed_at = $2, withdrawable_until = $3
  WHERE batch_id = batch_of($1) AND application_id = $1 AND status = 'pending_signature' AND signed_at IS NULL`;

/** Writes the signature of an application that the transaction has locked; false if it may not be signed. */
export async function writeSignature(
  session: Transaction,
  id: ApplicationId,
  signedAt: Date,
  withdrawableUntil: Date | null,
): Promise<boolean> {
  return (await session.query(SIGN, [id, signedAt, withdrawableUntil])).rowCount === 1;
}
