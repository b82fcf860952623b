/**
 * Rounds of proof: the last four characters of the ID number, then a code (D46; docs/signing.md, "The signature" has
 * the limits). Reads and writes `signing_codes`. The database's clock counts. If that clock went back to before the
 * beginning of a round, the time of the round is unknown, so the round is over.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import { onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';

/** A round of proof. */
export interface Round {
  readonly id: string;
  /** `expired`: its ten minutes are over. `spent`: its tries are used up, or its code was used for a signature. */
  readonly state: 'live' | 'expired' | 'spent';
  /** When the last four characters were right; null: not yet, or over an hour ago. */
  readonly idCheckedAt: Date | null;
  /** null: no code was sent yet. */
  readonly codeMac: Buffer | null;
  readonly way: string | null;
}

/** The wrong answers that end a round. */
export const MOST_TRIES = 5;
/** The most rounds of an application in an hour. */
export const MOST_ROUNDS = 5;
/** The most codes of a phone in 24 hours, over all its applications and partners: 50 guesses out of a million. */
export const MOST_CODES_A_DAY = 10;

const ID_COUNTS = `id_checked_at BETWEEN clock_timestamp() - interval '1 hour'
  AND clock_timestamp() + interval '1 minute'`;
const LATEST = `
  SELECT id, CASE WHEN ${ID_COUNTS} THEN id_checked_at END AS "idCheckedAt", code_mac AS "codeMac", way,
    CASE WHEN used_at IS NOT NULL OR tries >= ${MOST_TRIES} THEN 'spent'
      WHEN clock_timestamp() >= began_at - interval '1 minute' AND clock_timestamp() < ends_at THEN 'live'
      ELSE 'expired' END AS state
  FROM signing_codes WHERE application_id = $1 AND contract_id = $2 ORDER BY id DESC LIMIT 1 FOR UPDATE`;

/** The newest round of a contract, locked; null: there was none. */
export async function latestRound(
  session: Transaction,
  applicationId: ApplicationId,
  contractId: string,
): Promise<Round | null> {
  return (await session.query<Round>(LATEST, [applicationId, contractId])).rows[0] ?? null;
}

const COUNT = `
  SELECT count(*)::integer AS rounds FROM signing_codes
  WHERE application_id = $1 AND began_at > clock_timestamp() - interval '1 hour'`;
const BEGIN = `
  INSERT INTO signing_codes (id, application_id, contract_id, ends_at, id_checked_at, elapsed_ms)
  VALUES ($4, $1, $2, clock_timestamp() + interval '10 minutes', $3, elapsed_ms()) RETURNING id`;

/**
 * Begins a round. Null if the application has had its rounds of this hour. The caller has locked the contract, so that
 * no two calls count the same rounds. `idCheckedAt`: when an earlier round proved the last four characters.
 */
export async function beginRound(
  session: Transaction,
  applicationId: ApplicationId,
  contractId: string,
  idCheckedAt: Date | null,
): Promise<Round | null> {
  const { rows: counted } = await session.query<{ rounds: number }>(COUNT, [applicationId]);
  if ((counted[0]?.rounds ?? 0) >= MOST_ROUNDS) return null;
  const values = [applicationId, contractId, idCheckedAt, await takeId(session, 'signing_codes')];
  const [row] = (await session.query<{ id: string }>(BEGIN, values)).rows;
  return { id: row?.id as string, state: 'live', idCheckedAt, codeMac: null, way: null };
}

/**
 * The codes of a country are counted under a lock until the transaction ends, so that two calls cannot both take the
 * last one. `elapsed` has one row and makes the coordinator of a cluster take the lock for all machines.
 */
const LOCK = "SELECT pg_advisory_xact_lock(hashtext('signing codes'), hashtext($1)) FROM elapsed";
/** A statement of its own, so that it sees what others wrote before they let go of the lock. */
const SENT_CODES = `
  SELECT
    (SELECT count(*)::integer FROM signing_codes
      WHERE phone_mac = $1 AND coded_at > clock_timestamp() - interval '24 hours') AS "ofPhone",
    (SELECT count(*)::integer FROM (
      SELECT FROM signing_codes WHERE country = $2 AND coded_at > clock_timestamp() - interval '1 hour' LIMIT $3) AS c
    ) AS "ofCountry"`;

/** To whom a code goes. */
export interface CodeTarget {
  /** A keyed hash of the phone. */
  readonly phoneMac: Buffer;
  readonly country: Country;
}

/**
 * Whether a phone has had its codes of 24 hours, or its country those of an hour; null: neither. Other codes of the
 * same country wait until the transaction ends.
 */
export async function codesUsedUp(
  session: Transaction,
  { phoneMac, country }: CodeTarget,
  mostOfCountry: number,
): Promise<'phone' | 'country' | null> {
  await session.query(LOCK, [country]);
  const values = [phoneMac, country, mostOfCountry];
  const { rows } = await session.query<{ ofPhone: number; ofCountry: number }>(SENT_CODES, values);
  const { ofPhone, ofCountry } = onlyRow(rows);
  if (ofPhone >= MOST_CODES_A_DAY) return 'phone';
  return ofCountry >= mostOfCountry ? 'country' : null;
}

const SET_CODE = `
  UPDATE signing_codes SET code_mac = $2, way = $3, phone_mac = $4, country = $5, coded_at = now(),
    ends_at = now() + interval '10 minutes'
  WHERE id = $1 RETURNING ends_at AS "endsAt"`;

/** Puts a code into a round, before it is sent. Its ten minutes begin. */
export async function setCode(
  session: Transaction,
  id: string,
  { codeMac, way, target }: { codeMac: Buffer; way: string; target: CodeTarget },
): Promise<Date> {
  const values = [id, codeMac, way, target.phoneMac, target.country];
  return (await session.query<{ endsAt: Date }>(SET_CODE, values)).rows[0]?.endsAt as Date;
}

const CLEAR = `
  UPDATE signing_codes SET code_mac = NULL, way = NULL, phone_mac = NULL, country = NULL, coded_at = NULL
  WHERE id = $1 AND code_mac = $2`;

/** Removes a code that did not go out from its round, so that it does not count against any limit. */
export async function clearCode(session: Session, id: string, codeMac: Buffer): Promise<void> {
  await session.query(CLEAR, [id, codeMac]);
}

const SENT = 'UPDATE signing_codes SET sent_at = now() WHERE id = $1';

/** Notes that the way has taken the code. */
export async function noteSent(session: Session, id: string): Promise<void> {
  await session.query(SENT, [id]);
}

const WRONG = 'UPDATE signing_codes SET tries = tries + 1 WHERE id = $1 RETURNING tries';

/** Counts a wrong answer. True if it was the last one of the round. */
export async function countWrong(session: Transaction, id: string): Promise<boolean> {
  return ((await session.query<{ tries: number }>(WRONG, [id])).rows[0]?.tries ?? 0) >= MOST_TRIES;
}

const ID_RIGHT = 'UPDATE signing_codes SET id_checked_at = now() WHERE id = $1';
const CODE_RIGHT = 'UPDATE signing_codes SET used_at = now() WHERE id = $1';

/** Notes a right answer. A round with a right code is good for one signature. */
export async function noteRight(session: Transaction, id: string, what: 'id' | 'code'): Promise<void> {
  await session.query(what === 'id' ? ID_RIGHT : CODE_RIGHT, [id]);
}

const PROOF = `
  SELECT way, sent_at AS "sentAt", id_checked_at AS "idCheckedAt", used_at AS "usedAt" FROM signing_codes
  WHERE application_id = $1 AND contract_id = $2 AND ${ID_COUNTS}
    AND used_at BETWEEN clock_timestamp() - interval '10 minutes' AND clock_timestamp() + interval '1 minute'
  ORDER BY id DESC LIMIT 1`;

/**
 * What was proven for a contract: the code within ten minutes, and the ID number within an hour. Null if one of them is
 * missing.
 */
export async function readProof(session: Transaction, applicationId: ApplicationId, contractId: string) {
  type Proof = { way: string; sentAt: Date | null; idCheckedAt: Date; usedAt: Date };
  return (await session.query<Proof>(PROOF, [applicationId, contractId])).rows[0] ?? null;
}
