/**
 * The debts that loans consolidate (D52; docs/signing.md, "The debts"): reads and writes `loan_debts`, whose values are
 * sealed, and `debt_acceptances`. The values of a row never change: a change is another row.
 */
import { v7 as uuidv7 } from 'uuid';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Debt, ToldBy } from '../../../domain/loan/debt.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { takeId } from '../../../ground/postgres/ids.ts';
import type { Vault } from '../../../seal/vault.ts';

/** The identity that the values of a debt are sealed under. */
export function debtIdentity(applicationId: ApplicationId | string, sealId: string): string {
  return `debt:${applicationId}:${sealId}`;
}

/** A debt that was told about an application. */
export interface StoredDebt extends Debt {
  readonly id: number;
  readonly toldBy: ToldBy;
  readonly documentId: number | null;
  readonly addedAt: Date;
  readonly addedBy: string;
  /** null, as the next member: it counts. */
  readonly removedAt: Date | null;
  readonly removedBy: string | null;
}

/** `elapsed` makes the coordinator of a cluster take the lock. */
const HOLD = `
  SELECT pg_advisory_xact_lock(hashtext('debts of an application'), h.hash)
  FROM elapsed, (SELECT DISTINCT hashint8(u.id) AS hash FROM unnest($1::bigint[]) AS u(id) ORDER BY 1) AS h`;

/** Until the end of the transaction, nobody else changes the debts of these applications or erases them. */
export async function holdDebts(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(HOLD, [ids]);
}

interface Row extends Omit<StoredDebt, keyof Debt> {
  readonly applicationId: ApplicationId;
  readonly sealId: string;
  readonly content: Buffer;
}

const STORED = `
  SELECT d.id::float8, d.application_id::float8 AS "applicationId", d.told_by AS "toldBy",
    d.document_id::float8 AS "documentId", d.seal_id AS "sealId", d.content, d.added_at AS "addedAt",
    d.added_by AS "addedBy", d.removed_at AS "removedAt", d.removed_by AS "removedBy"
  FROM loan_debts d`;
const CURRENT = `${STORED} WHERE d.application_id = $1 AND d.removed_at IS NULL ORDER BY d.id`;
const ALL = `${STORED} WHERE d.application_id = $1 ORDER BY d.id`;
const NAMED = `${STORED} WHERE d.application_id = $1 AND d.id = ANY ($2::bigint[]) ORDER BY d.id`;

/** The debts of an application that count, in their order. Throws as `Vault.open` does. */
export async function currentDebts(session: Session, vault: Vault, id: ApplicationId): Promise<StoredDebt[]> {
  return opened(vault, (await session.query<Row>(CURRENT, [id])).rows);
}

/** As `currentDebts`; null: one of them is damaged, or its data key is missing. */
export async function openDebts(
  session: Session,
  vault: Vault,
  id: ApplicationId,
): Promise<StoredDebt[] | null> {
  const { rows } = await session.query<Row>(CURRENT, [id]);
  try {
    return opened(vault, rows);
  } catch {
    return null;
  }
}

/** All debts of an application, also those that were removed. Throws as `Vault.open` does. */
export async function allDebts(session: Session, vault: Vault, id: ApplicationId): Promise<StoredDebt[]> {
  return opened(vault, (await session.query<Row>(ALL, [id])).rows);
}

/** The debts of an application with these ids, as a contract names them. Throws as `Vault.open` does. */
export async function debtsNamed(
  session: Session,
  vault: Vault,
  id: ApplicationId,
  debts: readonly number[],
): Promise<StoredDebt[]> {
  return opened(vault, (await session.query<Row>(NAMED, [id, debts])).rows);
}

function opened(vault: Vault, rows: readonly Row[]): StoredDebt[] {
  return rows.map(({ applicationId, sealId, content, ...row }) => ({
    ...row,
    ...valuesOf(vault, { applicationId, sealId, content }),
  }));
}

function valuesOf(
  vault: Vault,
  { applicationId, sealId, content }: Pick<Row, 'applicationId' | 'sealId' | 'content'>,
) {
  return JSON.parse(vault.open(content, debtIdentity(applicationId, sealId)).toString('utf8')) as Debt;
}

/** The values of each debt of an application; null: they do not open. */
export async function readableDebts(
  session: Session,
  vault: Vault,
  id: ApplicationId,
): Promise<{ readonly id: number; readonly values: Debt | null }[]> {
  return (await session.query<Row>(ALL, [id])).rows.map((row) => {
    try {
      return { id: row.id, values: valuesOf(vault, row) };
    } catch {
      return { id: row.id, values: null };
    }
  });
}

const CURRENT_IDS = `
  SELECT d.id::float8 FROM loan_debts d WHERE d.application_id = $1 AND d.removed_at IS NULL ORDER BY d.id`;

/** The ids of the debts that count, in their order. */
export async function currentDebtIds(session: Session, id: ApplicationId): Promise<number[]> {
  return (await session.query<{ id: number }>(CURRENT_IDS, [id])).rows.map((row) => row.id);
}

const ADD = `
  INSERT INTO loan_debts (id, application_id, told_by, document_id, seal_id, content, added_by, elapsed_ms)
  SELECT $1, $2, $3, $4, $5, $6::bytea, $7, elapsed_ms() WHERE may_seal(get_byte($6::bytea, 0))`;

/** Adds a debt of an application that the transaction holds. Returns its id. Throws if its data key is retired. */
export async function insertDebt(
  session: Transaction,
  vault: Vault,
  applicationId: ApplicationId,
  { creditor, reference, balance, asOf, overdueSince }: Debt,
  {
    toldBy,
    documentId = null,
    addedBy,
  }: { readonly toldBy: ToldBy; readonly documentId?: number | null; readonly addedBy: string },
): Promise<number> {
  const id = await takeId(session, 'loan_debts');
  const sealId = uuidv7();
  const values = JSON.stringify({ creditor, reference, balance, asOf, overdueSince });
  const content = vault.seal(values, debtIdentity(applicationId, sealId));
  const { rowCount } = await session.query(ADD, [
    ...[id, applicationId, toldBy, documentId, sealId, content, addedBy],
  ]);
  if (rowCount !== 1) throw new Error('a debt is sealed with a data key that is retired');
  return id;
}

const REMOVE = `
  UPDATE loan_debts SET removed_at = $4, removed_by = $3
  WHERE application_id = $1 AND id = ANY ($2::bigint[]) AND removed_at IS NULL`;

/**
 * Takes debts out of the list of an application that the transaction holds. `at` is the database's time. Returns how
 * many counted before.
 */
export async function removeDebts(
  session: Transaction,
  id: ApplicationId,
  debts: readonly number[],
  { by, at }: { readonly by: string; readonly at: Date },
): Promise<number> {
  return (await session.query(REMOVE, [id, debts, by, at])).rowCount ?? 0;
}

const CLOSE = "UPDATE loan_contracts SET state = 'expired' WHERE application_id = $1 AND state = 'open'";

/** Ends the time of a contract that is shown, because it would not pay the list of this moment. */
export async function closeShown(session: Transaction, id: ApplicationId): Promise<void> {
  await session.query(CLOSE, [id]);
}

const SIGN = 'UPDATE loan_debts SET contract_id = $2 WHERE application_id = $1 AND removed_at IS NULL';

/** Notes which signed contract pays the debts that count. */
export async function bindDebts(session: Transaction, id: ApplicationId, contractId: string): Promise<void> {
  await session.query(SIGN, [id, contractId]);
}

const ACCEPT = `
  INSERT INTO debt_acceptances (id, application_id, debts, elapsed_ms) VALUES ($1, $2, $3, elapsed_ms())`;

/** Notes that an operator accepts the difference between this list and the declared amount. */
export async function noteAcceptance(
  session: Transaction,
  id: ApplicationId,
  debts: readonly number[],
): Promise<void> {
  await session.query(ACCEPT, [await takeId(session, 'debt_acceptances'), id, debts]);
}

const ACCEPTED = `
  SELECT count(*) > 0 AS accepted FROM debt_acceptances a WHERE a.application_id = $1 AND a.debts = $2::bigint[]`;

/** Whether an operator has accepted this list. */
export async function isAccepted(
  session: Session,
  id: ApplicationId,
  debts: readonly number[],
): Promise<boolean> {
  const { rows } = await session.query<{ accepted: boolean }>(ACCEPTED, [id, debts]);
  return rows[0]?.accepted === true;
}
