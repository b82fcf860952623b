/**
 * Drops contracts: after an erasure, after their term, and after a making that was cut off (docs/signing.md, "How long
 * it stays"). The rows in `loan_contracts` stay until the upkeep has deleted their files. Calls `drop_contracts`,
 * `forget_contracts` and `delete_dropped_contract`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { holdDebts } from './debts.ts';

const ERASE = 'SELECT id::float8 FROM drop_contracts($1, $2) AS d(id)';

/**
 * Drops the contracts, codes, evidence and debts of these applications. Signed contracts stay for the legal term, with
 * the debts that they pay. Returns the applications whose signed contract stays. After the transaction no dropped PDF
 * can be read any more; the upkeep deletes the bytes. The same transaction has stored the erasure.
 */
export async function eraseContracts(
  session: Transaction,
  ids: readonly ApplicationId[],
  erasureId: string,
): Promise<ApplicationId[]> {
  if (ids.length === 0) return [];
  await holdDebts(session, ids);
  const { rows } = await session.query<{ id: ApplicationId }>(ERASE, [ids, erasureId]);
  return rows.map(({ id }) => id);
}

const FORGET = 'SELECT forget_contracts($1) AS count';

/** Drops contracts after their term, signed ones after `years`. Returns how many. */
export async function forgetContracts(session: Session, years: number): Promise<number> {
  return (await session.query<{ count: number }>(FORGET, [years])).rows[0]?.count ?? 0;
}

/** A making takes seconds, so one that is an hour old was cut off. */
const STALE = `
  UPDATE loan_contracts SET state = 'dropped', sealed = NULL, terms = NULL
  WHERE state = 'making' AND elapsed_ms <= (SELECT e.ms FROM elapsed e) - ms_of(interval '1 hour')`;
const DROPPED = `
  SELECT c.id, array_remove(ARRAY[c.shown_key, c.signed_key, c.schedule_key]
      || ARRAY(SELECT DISTINCT d.proof_key FROM disbursements d WHERE d.contract_id = c.id), NULL) AS keys
  FROM loan_contracts c WHERE c.state = 'dropped' ORDER BY c.id LIMIT 100`;

/** The files of dropped contracts, 100 contracts at most. Drops makings that were cut off first. */
export async function droppedContracts(
  session: Session,
): Promise<{ readonly id: string; readonly keys: readonly string[] }[]> {
  await session.query(STALE);
  return (await session.query<{ id: string; keys: string[] }>(DROPPED)).rows;
}

const DELETE = 'SELECT delete_dropped_contract($1)';

/** Deletes the rows of a contract whose files are gone. */
export async function deleteDropped(session: Session, id: string): Promise<void> {
  await session.query(DELETE, [id]);
}
