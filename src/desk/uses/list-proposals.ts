/** The lists of proposals, page by page. */
import type { Session } from '../../postgres/database.ts';
import { listProposals, type ProposalList, type StoredProposal } from '../sql/proposals.ts';
import { Refusal } from './refusal.ts';

export type { StoredProposal };

const PAGE = 50;

/** A page of a list, and the cursor of the next one, null after the last. Throws a `Refusal` for a wrong cursor. */
export async function proposalsOf(
  { database }: { readonly database: Session },
  operatorId: number,
  { list, cursor, limit = PAGE }: { list: ProposalList; cursor?: string; limit?: number },
): Promise<{ readonly proposals: readonly StoredProposal[]; readonly next: string | null }> {
  const after = cursor === undefined ? null : placeOf(cursor);
  const found = await listProposals(database, list, { operatorId, after, limit: limit + 1 });
  const proposals = found.slice(0, limit);
  return { proposals, next: found.length > limit ? `p${proposals.at(-1)!.id}` : null };
}

function placeOf(cursor: string): number {
  const [, id] = /^p(\d{1,15})$/.exec(cursor) ?? [];
  if (id === undefined) throw new Refusal(400, 'query: cursor is none of this list');
  return Number(id);
}
