/**
 * Who holds which application in review (docs/operators.md, "The review queue"). The database's clock ends a claim
 * (D39). Calls `take_claim_for`, `drop_claim_for`, `page_has_left` and `leave_page`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import {
  againAfterConflict,
  type Database,
  onlyRow,
  type Session,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { type By, by } from './names.ts';

/** Who claims: an operator, and the page of the console that uses the claim; `page` null: the claim is for no page. */
export interface Claimer {
  readonly operatorId: number;
  readonly page: string | null;
}

/** How long a claim lasts if it is not renewed. The page renews it while it is open. */
export const CLAIM_SECONDS = 120;

/** Who holds the claim, and until when. */
export interface StoredClaim {
  readonly by: By;
  readonly until: Date;
}

const TAKE = `
  SELECT t.is_held AS "isHeld", ${by('o.id', 'o')} AS by, t.until
  FROM take_claim_for($1, $2, ${CLAIM_SECONDS}, $3) AS t LEFT JOIN operators o ON o.id = t.operator_id`;
const DROP = 'SELECT drop_claim_for($1, $2, $3)';
const HAS_LEFT = 'SELECT page_has_left($1, $2) AS has_left';
const LEAVE = 'SELECT leave_page($1, $2)';

/** The result of a try to claim. `proposed`: another operator has proposed a decision. */
export type Taking =
  | { readonly is: 'held'; readonly claim: StoredClaim }
  | { readonly is: 'of another'; readonly claim: StoredClaim }
  | { readonly is: 'proposed' };

/**
 * Claims an application for an operator if nobody else holds it or has proposed a decision on it, and renews the
 * operator's own claim. For a closed page nothing changes. Null: the application is not in the queue.
 */
export async function takeClaim(
  session: Session,
  id: ApplicationId,
  { operatorId, page }: Claimer,
): Promise<Taking | null> {
  const { rows } = await session.query<{ isHeld: boolean; by: By | null; until: Date }>(TAKE, [
    id,
    operatorId,
    page,
  ]);
  const [row] = rows;
  if (row === undefined) return null;
  if (row.by === null) return { is: 'proposed' };
  return { is: row.isHeld ? 'held' : 'of another', claim: { by: row.by, until: row.until } };
}

/** Gives an application back if the operator holds it and no other page of the operator uses the claim. */
export async function dropClaim(
  session: Session,
  id: ApplicationId,
  { operatorId, page }: Claimer,
): Promise<void> {
  await session.query(DROP, [id, operatorId, page]);
}

/** Whether the page was closed. A page that was not closed cannot be closed before the transaction ends. */
export async function pageHasLeft(session: Transaction, { operatorId, page }: Claimer): Promise<boolean> {
  if (page === null) return false;
  return onlyRow((await session.query<{ has_left: boolean }>(HAS_LEFT, [operatorId, page])).rows).has_left;
}

/**
 * Closes a page: gives back the claims that only this page uses, and lets nothing be claimed for it any more. The last
 * hundred closed pages of an operator are remembered.
 */
export async function leavePage(database: Database, operatorId: number, page: string): Promise<void> {
  await againAfterConflict(() => database.query(LEAVE, [operatorId, page]));
}
