/** The lists of proposals, page by page. */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { type DecisionFacts, readDecisionFacts } from '../../applications/sql/desk/decision-facts.ts';
import type { Session } from '../../postgres/database.ts';
import { countToConfirm, listProposals, type ProposalList, type StoredProposal } from '../sql/proposals.ts';
import { Refusal } from './refusal.ts';

export type { StoredProposal };

/** What a decision is about; null: it cannot be read. */
export type DecidedOn = Pick<DecisionFacts, 'currency' | 'debtAmount'>;

const PAGE = 50;
/** The page of the console tells 99, and more of them as `99+`. */
const MOST_COUNTED = 100;

/** A page of a list. */
export interface ShownProposals {
  readonly proposals: readonly StoredProposal[];
  /** Of `to_confirm`, so that nobody confirms an amount unseen; null for the other lists. */
  readonly facts: ReadonlyMap<ApplicationId, DecidedOn> | null;
  /** The cursor of the next page; null after the last. */
  readonly next: string | null;
  /** How many wait for the operator to confirm them, whatever the list; counted up to 100. */
  readonly toConfirm: number;
}

/** A page of a list after the one that the cursor names. Throws a `Refusal` for a wrong cursor. */
export async function proposalsOf(
  { database }: { readonly database: Session },
  operatorId: number,
  { list, cursor, limit = PAGE }: { list: ProposalList; cursor?: string; limit?: number },
): Promise<ShownProposals> {
  const after = cursor === undefined ? null : placeOf(cursor);
  const [found, toConfirm] = await Promise.all([
    listProposals(database, list, { operatorId, after, limit: limit + 1 }),
    countToConfirm(database, operatorId, MOST_COUNTED),
  ]);
  const proposals = found.slice(0, limit);
  const ids = proposals.map(({ applicationId }) => applicationId);
  const facts = list === 'to_confirm' ? await readDecisionFacts(database, ids) : null;
  return { proposals, facts, toConfirm, next: found.length > limit ? `p${proposals.at(-1)!.id}` : null };
}

function placeOf(cursor: string): number {
  const [, id] = /^p(\d{1,15})$/.exec(cursor) ?? [];
  if (id === undefined) throw new Refusal(400, 'query: cursor is none of this list');
  return Number(id);
}
