/**
 * The contracts of applications: reads and writes `loan_contracts`. The PDFs lie in the document store. D45 and D46
 * have the rule, docs/signing.md how long a contract stays.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ContractLanguage } from '../../../domain/loan/contract-template.ts';
import type { Offer } from '../../../domain/loan/offer.ts';
import type { CountryTerms } from '../../../domain/loan/terms.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';

/** What a contract says, without any value of the person. */
export interface ContractTerms {
  readonly country: Country;
  readonly termsVersion: string;
  /** The name and the version of the template. */
  readonly template: string;
  readonly language: ContractLanguage;
  readonly zone: string;
  readonly withdrawal: CountryTerms['withdrawal'];
  readonly offer: Offer;
  /**
   * The rate that a legal maximum limits, times 10^30 and not rounded, so that it is compared again at the payment.
   * Contracts of version 1.0 have none, and no payments either.
   */
  readonly limitedRate?: string;
  /** The rows of the schedule: in each the amounts of `PLANNED`, as exact decimals. */
  readonly payments?: readonly (readonly string[])[];
}

/** What each row of `ContractTerms.payments` has, in this order. */
export const PLANNED = ['payment', 'principal', 'interest', 'tax', 'insurance', 'fee', 'balance'] as const;

export type ContractState = 'making' | 'open' | 'signed' | 'withdrawn' | 'expired';

/** A contract as it is stored. */
export interface StoredContract {
  /** The decimal text of a bigint: the number that people read. */
  readonly id: string;
  readonly applicationId: ApplicationId;
  readonly state: ContractState;
  readonly madeAt: Date;
  readonly terms: ContractTerms;
  /** The keys of the PDFs in the store. */
  readonly shownKey: string;
  readonly signedKey: string | null;
  readonly sealed: Buffer;
  /** The hash of the shown PDF; null while it is made. */
  readonly sha256: Buffer | null;
  /** The hash of the final PDF; null until it is made. */
  readonly signedSha256: Buffer | null;
  readonly expiresAt: Date;
  readonly signedAt: Date | null;
  readonly withdrawnAt: Date | null;
  /** The day from which the installments count (YYYY-MM-DD); null: no payment is recorded. */
  readonly disbursedOn: string | null;
  /** The final schedule; null until it is made. */
  readonly scheduleKey: string | null;
  readonly scheduleSha256: Buffer | null;
  /** By the database's clock, when the row was read. */
  readonly isExpired: boolean;
  readonly now: Date;
}

/** If the clock went back to before the making of a contract, the contract's time is unknown, so it has expired. */
const COLUMNS = `id, application_id::float8 AS "applicationId", state, made_at AS "madeAt", terms, shown_key AS "shownKey",
  signed_key AS "signedKey", sealed, sha256, signed_sha256 AS "signedSha256", expires_at AS "expiresAt",
  signed_at AS "signedAt", withdrawn_at AS "withdrawnAt", to_char(disbursed_on, 'YYYY-MM-DD') AS "disbursedOn",
  schedule_key AS "scheduleKey", schedule_sha256 AS "scheduleSha256", clock_timestamp() AS now,
  NOT (clock_timestamp() >= made_at - interval '1 minute' AND clock_timestamp() < expires_at) AS "isExpired"`;

const CURRENT = `
  SELECT ${COLUMNS} FROM loan_contracts WHERE application_id = $1 AND state IN ('open', 'signed', 'withdrawn')`;

/** The contract of an application that may be signed, is signed, or was withdrawn; null: there is none. */
export async function readContract(session: Session, id: ApplicationId): Promise<StoredContract | null> {
  return (await session.query<StoredContract>(CURRENT, [id])).rows[0] ?? null;
}

/** The same, locked until the end of the transaction. The caller has locked the application (`lockState`). */
export async function lockContract(session: Transaction, id: ApplicationId): Promise<StoredContract | null> {
  return (await session.query<StoredContract>(`${CURRENT} FOR UPDATE`, [id])).rows[0] ?? null;
}

const BEGIN = `
  INSERT INTO loan_contracts (application_id, state, elapsed_ms, terms, shown_key, sealed, expires_at, id)
  SELECT $1, 'making', elapsed_ms(), $2, $3, $4::bytea, $5, $6 WHERE may_seal(get_byte($4::bytea, 0)) RETURNING id`;

/**
 * Begins a contract before its PDF is stored, so that the upkeep finds the PDF of a making that was cut off. Returns
 * the contract's id. Throws an `Error` if its secret is sealed with a retired data key.
 */
export async function beginContract(
  session: Session,
  applicationId: ApplicationId,
  made: Pick<StoredContract, 'terms' | 'shownKey' | 'sealed' | 'expiresAt'>,
): Promise<string> {
  const { terms, shownKey, sealed, expiresAt } = made;
  const { rows } = await session.query<{ id: string }>(BEGIN, [
    ...[applicationId, JSON.stringify(terms), shownKey, sealed, expiresAt],
    await takeId(session, 'loan_contracts'),
  ]);
  const [row] = rows;
  if (row === undefined) throw new Error('the data key of a contract is retired');
  return row.id;
}

const OPEN = `
  UPDATE loan_contracts SET state = 'open', sha256 = $2 WHERE id = $1 AND state = 'making' AND NOT EXISTS (
    SELECT FROM loan_contracts o
    WHERE o.application_id = loan_contracts.application_id AND o.state IN ('open', 'signed', 'withdrawn'))`;

/** Lets a contract be shown. False if the application has another contract by now. */
export async function openContract(session: Session, id: string, sha256: Buffer): Promise<boolean> {
  return (await session.query(OPEN, [id, sha256])).rowCount === 1;
}

const DROP = `
  UPDATE loan_contracts SET state = 'dropped', sealed = NULL, terms = NULL WHERE id = $1 AND state = 'making'`;

/** Drops a contract that was never shown; the upkeep deletes its PDF. */
export async function dropContract(session: Session, id: string): Promise<void> {
  await session.query(DROP, [id]);
}

const EXPIRE = `
  UPDATE loan_contracts SET state = 'expired'
  WHERE state = 'open' AND (expires_at <= now() OR made_at > now() + interval '1 minute')
    AND ($1::bigint IS NULL OR application_id = $1)`;

/** Marks contracts whose time is over as expired: of one application, or of all. */
export async function expireContracts(session: Session, id: ApplicationId | null): Promise<void> {
  await session.query(EXPIRE, [id]);
}

const SIGN = `UPDATE loan_contracts SET state = 'signed', signed_at = $2, elapsed_ms = elapsed_ms()
  WHERE id = $1 AND state = 'open'`;
const WITHDRAW = `
  UPDATE loan_contracts SET state = 'withdrawn', withdrawn_at = $2 WHERE id = $1 AND state = 'signed'`;

/** Marks a locked contract as signed, or as withdrawn. */
export async function markContract(
  session: Transaction,
  id: string,
  state: 'signed' | 'withdrawn',
  at: Date,
): Promise<void> {
  const { rowCount } = await session.query(state === 'signed' ? SIGN : WITHDRAW, [id, at]);
  if (rowCount !== 1) throw new Error(`contract ${id} cannot be ${state}`);
}

const UNFINISHED = `
  SELECT application_id::float8 AS id FROM loan_contracts WHERE state IN ('signed', 'withdrawn') AND signed_sha256 IS NULL
  ORDER BY loan_contracts.id LIMIT 20`;

/** Applications whose signed contract has no final PDF yet. */
export async function unfinished(session: Session): Promise<ApplicationId[]> {
  return (await session.query<{ id: ApplicationId }>(UNFINISHED)).rows.map(({ id }) => id);
}

/** The PDFs that are made after the signature, one after the other: the final contract, and the final schedule. */
export type FinalPdf = 'signed' | 'schedule';

const claimOf = (pdf: FinalPdf) => `
  UPDATE loan_contracts c SET finishing_at = now(), ${pdf}_key = $2
  FROM (SELECT id, ${pdf}_key FROM loan_contracts WHERE id = $1 FOR UPDATE) AS b
  WHERE c.id = b.id AND c.state IN ('signed', 'withdrawn') AND c.${pdf}_sha256 IS NULL
    AND (c.finishing_at IS NULL OR c.finishing_at NOT BETWEEN now() - interval '1 minute' AND now() + interval '1 minute')
  RETURNING b.${pdf}_key AS before`;
const CLAIM = { signed: claimOf('signed'), schedule: claimOf('schedule') } as const;

/**
 * Begins to make a final PDF under a new key of the store. Returns the key of a making that was cut off; null: there is
 * none. `busy`: another process is making one of the PDFs, or has made this one.
 */
export async function claimFinish(
  session: Session,
  pdf: FinalPdf,
  id: string,
  key: string,
): Promise<{ readonly before: string | null } | 'busy'> {
  return (await session.query<{ before: string | null }>(CLAIM[pdf], [id, key])).rows[0] ?? 'busy';
}

const finishOf = (pdf: FinalPdf) => `
  UPDATE loan_contracts SET ${pdf}_sha256 = $3, finishing_at = NULL
  WHERE id = $1 AND ${pdf}_key = $2 AND ${pdf}_sha256 IS NULL`;
const FINISH = { signed: finishOf('signed'), schedule: finishOf('schedule') } as const;

/** Notes a final PDF. False if another process has taken the work over. */
export async function noteFinish(
  session: Session,
  pdf: FinalPdf,
  id: string,
  key: string,
  sha256: Buffer,
): Promise<boolean> {
  return (await session.query(FINISH[pdf], [id, key, sha256])).rowCount === 1;
}

const UNSCHEDULED = `
  SELECT application_id::float8 AS id FROM loan_contracts
  WHERE disbursed_on IS NOT NULL AND schedule_sha256 IS NULL AND state = 'signed' AND terms ? 'payments'
  ORDER BY loan_contracts.id LIMIT 20`;

/** Applications whose loan is paid out and has no final schedule yet. */
export async function unscheduled(session: Session): Promise<ApplicationId[]> {
  return (await session.query<{ id: ApplicationId }>(UNSCHEDULED)).rows.map(({ id }) => id);
}
