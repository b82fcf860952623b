/**
 * Lists proposals page by page, with facts for those to confirm (docs/operators.md, "Proposals"). Reads `proposals`,
 * and by `confirmations.ts` what a second operator has to see, with the lines of payments.
 */
import type { Terms } from '../../../domain/loan/terms.ts';
import type { Role } from '../../../domain/operator/authority.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { countActivationsToConfirm } from '../../policies/sql/proposals.ts';
import { countToConfirm, listProposals, type ProposalList, type StoredProposal } from '../sql/proposals.ts';
import { type ProposalFacts, proposalFactsOf } from './confirmations.ts';
import { Refusal } from './refusal.ts';

export type { ProposalFacts, StoredProposal };

const PAGE = 50;
/** The page of the console shows up to 99, and more as `99+`. */
const MOST_COUNTED = 100;

/** A page of a list. */
export interface ShownProposals {
  readonly proposals: readonly StoredProposal[];
  /**
   * The facts of the proposals in `to_confirm`, by their ids, so that nobody confirms anything unseen. Other lists have
   * none.
   */
  readonly facts: ReadonlyMap<number, ProposalFacts>;
  /** The cursor of the next page; null: this is the last one. */
  readonly next: string | null;
  /** How many proposals wait for the operator to confirm them, in whatever list; counted up to 100. */
  readonly toConfirm: number;
  /** How many activations of policies wait for the operator; 0: the operator is no admin. */
  readonly activationsToConfirm: number;
}

/** A page of a list after the one that the cursor names. Throws a `Refusal` for a wrong cursor. */
export async function proposalsOf(
  {
    database,
    vault,
    terms,
  }: {
    readonly database: Session;
    readonly vault: Vault;
    readonly terms: () => Promise<Terms | null>;
  },
  { operatorId, role }: { readonly operatorId: number; readonly role: Role },
  { list, cursor, limit = PAGE }: { list: ProposalList; cursor?: string; limit?: number },
): Promise<ShownProposals> {
  const after = cursor === undefined ? null : placeOf(cursor);
  const [found, toConfirm, activationsToConfirm] = await Promise.all([
    listProposals(database, list, { operatorId, after, limit: limit + 1 }),
    countToConfirm(database, operatorId, MOST_COUNTED),
    role === 'admin' ? countActivationsToConfirm(database, operatorId) : 0,
  ]);
  const proposals = found.slice(0, limit);
  const reading = { session: database, vault, terms: await terms() };
  const facts = await proposalFactsOf(reading, operatorId, list === 'to_confirm' ? proposals : []);
  const counts = { toConfirm, activationsToConfirm };
  return { proposals, facts, ...counts, next: found.length > limit ? `p${proposals.at(-1)!.id}` : null };
}

function placeOf(cursor: string): number {
  const [, id] = /^p(\d{1,15})$/.exec(cursor) ?? [];
  if (id === undefined) throw new Refusal(400, 'query: cursor is none of this list');
  return Number(id);
}
