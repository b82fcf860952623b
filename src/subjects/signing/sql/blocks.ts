/**
 * Which applications get no contract, and why, so that an operator mends it (D45; docs/signing.md, "Nobody gets a
 * contract"). Reads and writes the rows of `loan_contracts` in the state `blocked`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { BlockReason } from '../../../domain/loan/offer.ts';
import type { Session } from '../../../ground/postgres/database.ts';

const BLOCK = `
  INSERT INTO loan_contracts (application_id, state, reason, elapsed_ms)
  VALUES ($1, 'blocked', $2, elapsed_ms())
  ON CONFLICT (application_id) WHERE state = 'blocked' DO UPDATE SET reason = excluded.reason`;

/** Notes that an application gets no contract. `contractIsPossible` removes the note. */
export async function noteBlock(session: Session, id: ApplicationId, reason: BlockReason): Promise<void> {
  await session.query(BLOCK, [id, reason]);
}

const END = `
  SELECT state, reason FROM loan_contracts WHERE application_id = $1 AND state IN ('blocked', 'making', 'expired', 'begun')
  ORDER BY state = 'blocked' DESC, state = 'begun', id DESC LIMIT 1`;

interface End {
  readonly state: 'blocked' | 'making' | 'expired' | 'begun';
  readonly reason: string | null;
}

/** Why an application has no contract that may be signed; null: the store does not know. */
export async function readEnd(session: Session, id: ApplicationId): Promise<End | null> {
  return (await session.query<End>(END, [id])).rows[0] ?? null;
}

const BLOCKED = `
  SELECT c.application_id AS id FROM loan_contracts c WHERE c.state = 'blocked' ORDER BY c.application_id LIMIT 500`;
/**
 * A statement of its own, because on a cluster a statement about a table of the coordinator may not ask other machines.
 */
const PENDING = "SELECT id FROM applications_of($1) WHERE status = 'pending_signature'";
const CLEAR = "DELETE FROM loan_contracts WHERE application_id = ANY ($1) AND state = 'blocked'";

/** Removes the notes of applications that no longer wait for a signature. */
export async function clearBlocks(session: Session): Promise<void> {
  const ids = (await session.query<{ id: string }>(BLOCKED)).rows.map(({ id }) => id);
  if (ids.length === 0) return;
  const pending = new Set((await session.query<{ id: string }>(PENDING, [ids])).rows.map(({ id }) => id));
  await session.query(CLEAR, [ids.filter((id) => !pending.has(id))]);
}

const UNBLOCK = "DELETE FROM loan_contracts WHERE application_id = $1 AND state = 'blocked'";

/** Removes the note, because a contract is possible now. */
export async function contractIsPossible(session: Session, id: ApplicationId): Promise<void> {
  await session.query(UNBLOCK, [id]);
}
