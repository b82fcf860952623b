/**
 * Reads everything that the page of an application shows, with the statements of its subjects (docs/operators.md, "One
 * application"). Writes nothing, and opens nothing personal for display.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Terms } from '../../../domain/loan/terms.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { heldByContract } from '../../applications/sql/desk/decision-facts.ts';
import { lastEventOf } from '../../applications/sql/desk/last-event.ts';
import { conversationOf } from '../../conversation/sql/conversations.ts';
import { type ShownConversation, showConversation } from '../../conversation/uses/operate.ts';
import { canSay } from '../../conversation/uses/say-aside.ts';
import { listDocuments, type StoredDocument } from '../../documents/sql/documents.ts';
import { incomeCheckOf, type StoredIncomeCheck } from '../../income/sql/income-checks.ts';
import { type ExplainedApplication, showApplication } from '../../messages/uses/explained-application.ts';
import { readContract, type StoredContract } from '../../signing/sql/contracts.ts';
import { openDebts, type StoredDebt } from '../../signing/sql/debts.ts';
import type { Evidence } from '../rules/against.ts';
import { type Capacity, capacityOf, withContract } from '../rules/capacity.ts';
import type { HeldBy } from '../rules/conflict.ts';
import { heldBy } from '../rules/proposal.ts';
import { pendsOf, type StoredPend } from '../sql/pends.ts';
import { newestProposalOf, refusedProposalsOf, type StoredProposal } from '../sql/proposals.ts';
import { readItem, type StoredItem } from '../sql/queue.ts';
import { capacitiesOf } from './capacities.ts';
import { type ProposalFacts, proposalFactsOf, waitsForSecond } from './confirmations.ts';
import { readEvidence } from './decided-facts.ts';
import { readNotes, type ShownNote } from './notes.ts';
import { type Actor, type TimelineEntry, timelineOf } from './timeline.ts';

export { type Actor, lastEventOf };

export interface ShownApplication {
  /** The last event. It is read before the rest, so what is shown is never older. */
  readonly lastEvent: string;
  readonly application: ExplainedApplication;
  readonly capacity: Capacity;
  /** null, like the next two: there is none. */
  readonly conversation: ShownConversation | null;
  /** Whether a text of an operator can go into the chat now. */
  readonly takesText: boolean;
  readonly documents: readonly StoredDocument[];
  readonly income: StoredIncomeCheck | null;
  readonly contract: StoredContract | null;
  /** The debts that count; null: they do not open. */
  readonly debts: readonly StoredDebt[] | null;
  /** What the contract asks for before a payment and is still missing; null: nothing. */
  readonly heldBy: HeldBy | null;
  readonly notes: readonly ShownNote[];
  /** null: it is not in the queue. */
  readonly item: StoredItem | null;
  /** The open proposal, or else the newest one; null: there is none. */
  readonly proposal: StoredProposal | null;
  /** What the proposal is about, if it waits for a second operator, else null. */
  readonly proposalFacts: ProposalFacts | null;
  /** What in the file may contradict the reason of a decision. */
  readonly evidence: Evidence;
  /** Oldest first. */
  readonly pends: readonly StoredPend[];
  readonly timeline: readonly TimelineEntry[];
}

/**
 * The application as this operator sees it. The caller has found by `lastEvent` that it exists. `context.actor` is not
 * used, because nothing personal is shown.
 */
export async function readForPage(
  context: OperatorContext,
  operatorId: number,
  {
    id,
    lastEvent,
    terms,
  }: { readonly id: ApplicationId; readonly lastEvent: string; readonly terms: Terms | null },
): Promise<ShownApplication> {
  const { database, vault } = context;
  // Three reads at once. One after the other, all reads would take long on a busy store; all at once, they would take
  // up its sessions.
  const [application, capacities, rest] = await Promise.all([
    showApplication(context, id),
    capacitiesOf(database, vault, terms, [id]),
    readRest(context, operatorId, { id, terms }),
  ]);
  const refused = await refusedProposalsOf(database, id);
  const timeline = await timelineOf(database, application, rest.pends, refused);
  const capacity = capacities.get(id) ?? UNKNOWN;
  const { contract } = rest;
  const isOffered = contract !== null && isShown(contract);
  return {
    lastEvent,
    application,
    capacity: isOffered ? withContract(capacity, contract.terms.offer) : capacity,
    ...rest,
    timeline,
  };
}

/** Whether the applicant has a contract before them, or has signed one. */
export function isShown<C extends Pick<StoredContract, 'state'>>(
  contract: C,
): contract is C & { readonly state: Exclude<C['state'], 'making' | 'expired'> } {
  return contract.state !== 'making' && contract.state !== 'expired';
}

/** It was deleted after `lastEvent` was read. */
const UNKNOWN = capacityOf(
  { amount: null, months: null, unpriced: 'unreadable' },
  { observed: null, corrected: null, declared: null },
  'terms',
);

type Rest = Omit<ShownApplication, 'lastEvent' | 'application' | 'capacity' | 'timeline'>;

async function readRest(
  context: OperatorContext,
  operatorId: number,
  { id, terms }: { readonly id: ApplicationId; readonly terms: Terms | null },
): Promise<Rest> {
  const { database, vault } = context;
  const reading = { session: database, vault, terms };
  const conversation = await chatOf(context, id);
  const proposal = await newestProposalOf(database, id);
  const waiting = proposal !== null && waitsForSecond(proposal) ? [proposal] : [];
  return {
    conversation,
    takesText: conversation !== null && (await canSay(database, conversation.row)),
    documents: await documentsOf(context, id),
    income: await incomeCheckOf(database, id),
    contract: await readContract(database, id),
    debts: await openDebts(database, vault, id),
    heldBy: await heldByOf(context, id),
    notes: await readNotes(context, id),
    item: await readItem(database, id),
    proposal,
    proposalFacts: [...(await proposalFactsOf(reading, operatorId, waiting)).values()][0] ?? null,
    evidence: (await readEvidence(database, [id]))(id),
    pends: await pendsOf(database, id),
  };
}

async function heldByOf({ database }: OperatorContext, id: ApplicationId): Promise<HeldBy | null> {
  const held = await heldByContract(database, id);
  return held === null ? null : heldBy(held.until);
}

/** The newest conversation with what happened in it; null: there is none. */
export async function chatOf(context: OperatorContext, id: ApplicationId): Promise<ShownConversation | null> {
  return (await conversationOf(context.database, id)) === null ? null : showConversation(context, id);
}

/** Only the newest, because a person may send refused files without end. */
const MOST_DOCUMENTS = 100;

async function documentsOf({ database }: OperatorContext, id: ApplicationId): Promise<StoredDocument[]> {
  const documents: StoredDocument[] = [];
  for await (const document of listDocuments(database, { applicationId: id, state: null })) {
    documents.push(document);
    if (documents.length === MOST_DOCUMENTS) break;
  }
  return documents.toReversed();
}
