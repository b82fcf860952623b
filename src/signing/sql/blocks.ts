/** Applications that get no contract, and why: what an operator has to mend (D45). */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import type { Session } from '../../postgres/database.ts';
import type { BlockReason } from '../rules/offer.ts';

const BLOCK = `
  INSERT INTO loan_contracts (application_id, state, reason, elapsed_ms)
  VALUES ($1, 'blocked', $2, elapsed_ms())
  ON CONFLICT (application_id) WHERE state = 'blocked' DO UPDATE SET reason = excluded.reason`;

/** Notes that an application gets no contract; `contractIsPossible` takes the note away. */
export async function noteBlock(session: Session, id: ApplicationId, reason: BlockReason): Promise<void> {
  await session.query(BLOCK, [id, reason]);
}

const UNBLOCK = "DELETE FROM loan_contracts WHERE application_id = $1 AND state = 'blocked'";

/** Takes the note away: the terms have been mended. */
export async function contractIsPossible(session: Session, id: ApplicationId): Promise<void> {
  await session.query(UNBLOCK, [id]);
}
