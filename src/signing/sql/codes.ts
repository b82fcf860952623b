/**
 * Rounds of proof: the last four characters of the ID number, then a code (D46). The database's clock counts. A clock
 * that went back before the beginning of a round tells nothing about its time: the round is over.
 */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import type { Session, Transaction } from '../../postgres/database.ts';

/** A round that goes on. */
export interface Round {
  readonly id: string;
  readonly isIdChecked: boolean;
  /** null: no code was sent yet. */
  readonly codeMac: Buffer | null;
  readonly way: string | null;
  readonly endsAt: Date;
}

/** Tries in a round: the one after these finds the round over. */
export const MOST_TRIES = 5;
/** Rounds of an application in an hour. */
export const MOST_ROUNDS = 5;

interface Row {
  id: string;
  id_checked_at: Date | null;
  code_mac: Buffer | null;
  way: string | null;
  ends_at: Date;
  is_live: boolean;
  tries: number;
  used_at: Date | null;
}

const LATEST = `
  SELECT id, id_checked_at, code_mac, way, ends_at, tries, used_at,
    clock_timestamp() >= began_at - interval '1 minute' AND clock_timestamp() < ends_at AS is_live
  FROM signing_codes WHERE application_id = $1 AND contract_id = $2 ORDER BY id DESC LIMIT 1 FOR UPDATE`;

/** The newest round of a contract. `none`: there was no round; a round that was signed with counts as spent. */
export async function latestRound(
  session: Transaction,
  applicationId: ApplicationId,
  contractId: string,
): Promise<Round | 'none' | 'expired' | 'spent'> {
  const [row] = (await session.query<Row>(LATEST, [applicationId, contractId])).rows;
  if (row === undefined) return 'none';
  if (row.used_at !== null || row.tries >= MOST_TRIES) return 'spent';
  if (!row.is_live) return 'expired';
  const { id, way, code_mac: codeMac, ends_at: endsAt } = row;
  return { id, isIdChecked: row.id_checked_at !== null, codeMac, way, endsAt };
}

const COUNT = `
  SELECT count(*)::integer AS rounds FROM signing_codes
  WHERE application_id = $1 AND began_at > clock_timestamp() - interval '1 hour'`;
const BEGIN = `
  INSERT INTO signing_codes (application_id, contract_id, ends_at, id_checked_at)
  VALUES ($1, $2, clock_timestamp() + interval '10 minutes', CASE WHEN $3 THEN clock_timestamp() END)
  RETURNING id, ends_at`;

/**
 * Begins a round; null where the application has had its rounds of this hour. The caller has locked the contract, so
 * that no two calls count the same rounds.
 */
export async function beginRound(
  session: Transaction,
  applicationId: ApplicationId,
  contractId: string,
  isIdChecked: boolean,
): Promise<Round | null> {
  const { rows: counted } = await session.query<{ rounds: number }>(COUNT, [applicationId]);
  if ((counted[0]?.rounds ?? 0) >= MOST_ROUNDS) return null;
  const values = [applicationId, contractId, isIdChecked];
  const [row] = (await session.query<{ id: string; ends_at: Date }>(BEGIN, values)).rows;
  return { id: row?.id as string, isIdChecked, codeMac: null, way: null, endsAt: row?.ends_at as Date };
}

const SET_CODE = `
  UPDATE signing_codes SET code_mac = $2, way = $3, ends_at = clock_timestamp() + interval '10 minutes'
  WHERE id = $1 RETURNING ends_at`;

/** Puts a code into a round, before it is sent. Its ten minutes begin. */
export async function setCode(session: Transaction, id: string, codeMac: Buffer, way: string): Promise<Date> {
  return (await session.query<{ ends_at: Date }>(SET_CODE, [id, codeMac, way])).rows[0]?.ends_at as Date;
}

const SENT = 'UPDATE signing_codes SET sent_at = clock_timestamp() WHERE id = $1';

/** Notes that the way has taken the code. */
export async function noteSent(session: Session, id: string): Promise<void> {
  await session.query(SENT, [id]);
}

const WRONG = 'UPDATE signing_codes SET tries = tries + 1 WHERE id = $1 RETURNING tries';

/** Counts a wrong answer; true where it was the last one of the round. */
export async function countWrong(session: Transaction, id: string): Promise<boolean> {
  return ((await session.query<{ tries: number }>(WRONG, [id])).rows[0]?.tries ?? 0) >= MOST_TRIES;
}

const ID_RIGHT = 'UPDATE signing_codes SET id_checked_at = clock_timestamp() WHERE id = $1';
const CODE_RIGHT = 'UPDATE signing_codes SET used_at = clock_timestamp() WHERE id = $1';

/** Notes a right answer. A round whose code was right is good for one signature. */
export async function noteRight(session: Transaction, id: string, what: 'id' | 'code'): Promise<void> {
  await session.query(what === 'id' ? ID_RIGHT : CODE_RIGHT, [id]);
}

const PROOF = `
  SELECT way, sent_at, id_checked_at, used_at FROM signing_codes
  WHERE application_id = $1 AND contract_id = $2 AND id_checked_at IS NOT NULL
    AND used_at BETWEEN clock_timestamp() - interval '10 minutes' AND clock_timestamp() + interval '1 minute'
  ORDER BY id DESC LIMIT 1`;

/** What was proven for a contract in the last ten minutes; null: not everything. */
export async function readProof(session: Transaction, applicationId: ApplicationId, contractId: string) {
  const { rows } = await session.query<{
    way: string;
    sent_at: Date | null;
    id_checked_at: Date;
    used_at: Date;
  }>(PROOF, [applicationId, contractId]);
  return rows[0] ?? null;
}

const FORGET = "DELETE FROM signing_codes WHERE began_at < clock_timestamp() - interval '1 day'";

/** Deletes rounds that nothing counts any more. */
export async function forgetCodes(session: Session): Promise<void> {
  await session.query(FORGET);
}
