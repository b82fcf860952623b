/** Who holds which application in review. The database's clock ends a claim (D39). */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import type { Session } from '../../postgres/database.ts';

/** How long a claim holds without being renewed. The page renews it as long as it is open. */
export const CLAIM_SECONDS = 120;

/** Whose claim it is, until when. */
export interface StoredClaim {
  readonly by: { readonly id: number; readonly login: string };
  readonly until: Date;
}

const TAKE = `
  SELECT t.is_held, o.id AS by_id, o.login AS by_login, t.until
  FROM take_claim($1, $2, ${CLAIM_SECONDS}) AS t JOIN operators o ON o.id = t.operator_id`;
const DROP = 'SELECT drop_claim($1, $2)';
const DROP_ALL = `
  WITH held AS MATERIALIZED (
    SELECT i.application_id FROM review_items i WHERE i.claimed_by = $1 ORDER BY i.application_id FOR NO KEY UPDATE
  )
  UPDATE review_items i SET claimed_by = NULL, claimed_until = NULL FROM held h WHERE i.application_id = h.application_id`;

/**
 * Claims an application for an operator where nobody else holds it, and renews the operator's own claim. `isHeld` false
 * tells whose it is; null: it is not in the queue.
 */
export async function takeClaim(
  session: Session,
  id: ApplicationId,
  operatorId: number,
): Promise<{ readonly isHeld: boolean; readonly claim: StoredClaim } | null> {
  const { rows } = await session.query<{ is_held: boolean; by_id: number; by_login: string; until: Date }>(
    TAKE,
    [id, operatorId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return { isHeld: row.is_held, claim: { by: { id: row.by_id, login: row.by_login }, until: row.until } };
}

/** Gives an application back, where the operator holds it. */
export async function dropClaim(session: Session, id: ApplicationId, operatorId: number): Promise<void> {
  await session.query(DROP, [id, operatorId]);
}

/** Gives everything back that an operator holds. */
export async function dropClaims(session: Session, operatorId: number): Promise<void> {
  await session.query(DROP_ALL, [operatorId]);
}
