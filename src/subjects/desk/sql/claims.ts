/** Who holds which application in review. The database's clock ends a claim (D39). */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import {
  againAfterConflict,
  type Database,
  onlyRow,
  type Session,
  type Transaction,
} from '../../../ground/postgres/database.ts';
import { type By, by } from './by.ts';

/** Who claims: an operator, and the page of the console that uses the claim; null: a program that is no page. */
export interface Claimer {
  readonly operatorId: number;
  readonly page: string | null;
}

/** How long a claim holds without being renewed. The page renews it as long as it is open. */
export const CLAIM_SECONDS = 120;

/** Whose claim it is, until when. */
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

/** What became of a try to claim; `proposed`: a decision of another operator is. */
export type Taking =
  | { readonly is: 'held'; readonly claim: StoredClaim }
  | { readonly is: 'of another'; readonly claim: StoredClaim }
  | { readonly is: 'proposed' };

/**
 * Claims an application for an operator where nobody else holds it or has proposed a decision on it, and renews the
 * operator's own claim. For a page that was closed nothing changes. null: it is not in the queue.
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

/** Gives an application back, where the operator holds it and no other page of the operator uses it. */
export async function dropClaim(
  session: Session,
  id: ApplicationId,
  { operatorId, page }: Claimer,
): Promise<void> {
  await session.query(DROP, [id, operatorId, page]);
}

/** Whether the page was closed; one that was not is not closed before the transaction ends. */
export async function pageHasLeft(session: Transaction, { operatorId, page }: Claimer): Promise<boolean> {
  if (page === null) return false;
  return onlyRow((await session.query<{ has_left: boolean }>(HAS_LEFT, [operatorId, page])).rows).has_left;
}

/**
 * Closes a page: gives back what it alone uses, and lets nothing be claimed for it any more. Of an operator the last
 * hundred pages are remembered.
 */
export async function leavePage(database: Database, operatorId: number, page: string): Promise<void> {
  await againAfterConflict(() => database.query(LEAVE, [operatorId, page]));
}
