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
  FROM take_claim($1, $2, ${CLAIM_SECONDS}) AS t LEFT JOIN operators o ON o.id = t.operator_id`;
const DROP = 'SELECT drop_claim($1, $2)';

/** What became of a try to claim; `proposed`: a decision of another operator is. */
export type Taking =
  | { readonly is: 'held'; readonly claim: StoredClaim }
  | { readonly is: 'of another'; readonly claim: StoredClaim }
  | { readonly is: 'proposed' };

/**
 * Claims an application for an operator where nobody else holds it or has proposed a decision on it, and renews the
 * operator's own claim. null: it is not in the queue.
 */
export async function takeClaim(
  session: Session,
  id: ApplicationId,
  operatorId: number,
): Promise<Taking | null> {
  const { rows } = await session.query<{
    is_held: boolean;
    by_id: number | null;
    by_login: string;
    until: Date;
  }>(TAKE, [id, operatorId]);
  const [row] = rows;
  if (row === undefined) return null;
  if (row.by_id === null) return { is: 'proposed' };
  const claim = { by: { id: row.by_id, login: row.by_login }, until: row.until };
  return { is: row.is_held ? 'held' : 'of another', claim };
}

/** Gives an application back, where the operator holds it. */
export async function dropClaim(session: Session, id: ApplicationId, operatorId: number): Promise<void> {
  await session.query(DROP, [id, operatorId]);
}
