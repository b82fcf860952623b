/** Everything that the page of an application shows, read with the statements of its subjects. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { heldByContract } from '../../applications/sql/desk/decision-facts.ts';
import { type Earlier, earlierApplications } from '../../applications/sql/desk/earlier-applications.ts';
import { lastEventOf } from '../../applications/sql/desk/last-event.ts';
import { conversationOf } from '../../conversation/sql/conversations.ts';
import { type ShownConversation, showConversation } from '../../conversation/uses/operate.ts';
import { canSay } from '../../conversation/uses/say-aside.ts';
import { listDocuments, type StoredDocument } from '../../documents/sql/documents.ts';
import { incomeCheckOf, type StoredIncomeCheck } from '../../income/sql/income-checks.ts';
import { type ExplainedApplication, showApplication } from '../../messages/uses/explained-application.ts';
import { readContract, type StoredContract } from '../../signing/sql/contracts.ts';
import type { Evidence } from '../rules/against.ts';
import type { HeldBy } from '../rules/conflict.ts';
import { heldBy } from '../rules/proposal.ts';
import { pendsOf, type StoredPend } from '../sql/pends.ts';
import { newestProposalOf, refusedProposalsOf, type StoredProposal } from '../sql/proposals.ts';
import { readItem, type StoredItem } from '../sql/queue.ts';
import { type ProposalFacts, proposalFactsOf, waitsForSecond } from './confirmations.ts';
import { readEvidence } from './decided-facts.ts';
import { readNotes, type ShownNote } from './notes.ts';
import { type Actor, type TimelineEntry, timelineOf } from './timeline.ts';

export { type Actor, lastEventOf };

export interface ShownApplication {
  /** The last event, read before the rest: what is shown is never older than it. */
  readonly lastEvent: string;
  readonly application: ExplainedApplication;
  readonly earlier: { readonly samePhone: Earlier; readonly sameIdNumber: Earlier };
  /** null, as the next two: there is none. */
  readonly conversation: ShownConversation | null;
  /** Whether a text of an operator can go into the chat now. */
  readonly takesText: boolean;
  readonly documents: readonly StoredDocument[];
  readonly income: StoredIncomeCheck | null;
  readonly contract: StoredContract | null;
  /** What the contract asks for before a payment, and is not there; null: nothing. */
  readonly heldBy: HeldBy | null;
  readonly notes: readonly ShownNote[];
  /** null: it is not in the queue. */
  readonly item: StoredItem | null;
  /** The open one, or else the newest. */
  readonly proposal: StoredProposal | null;
  /** What the proposal is about where it waits for a second operator; else null. */
  readonly proposalFacts: ProposalFacts | null;
  /** What the file has that the reason of a decision may contradict. */
  readonly evidence: Evidence;
  /** Oldest first. */
  readonly pends: readonly StoredPend[];
  readonly timeline: readonly TimelineEntry[];
}

/**
 * The application as this operator sees it, which the caller has found to be there by `lastEvent`. `context.actor` is
 * not used: nothing personal is shown.
 */
export async function readForPage(
  context: OperatorContext,
  operatorId: number,
  { id, lastEvent }: { readonly id: ApplicationId; readonly lastEvent: string },
): Promise<ShownApplication> {
  const { database, vault } = context;
  // Three reads at once: one after the other they take long on a busy store, and all at once they take its sessions.
  const [application, earlier, rest] = await Promise.all([
    showApplication(context, id),
    earlierApplications(database, vault, id),
    readRest(context, operatorId, id),
  ]);
  const refused = await refusedProposalsOf(database, id);
  const timeline = await timelineOf(database, application, rest.pends, refused);
  return { lastEvent, application, earlier, ...rest, timeline };
}

type Rest = Omit<ShownApplication, 'lastEvent' | 'application' | 'earlier' | 'timeline'>;

async function readRest(context: OperatorContext, operatorId: number, id: ApplicationId): Promise<Rest> {
  const { database, vault } = context;
  const conversation = await chatOf(context, id);
  const proposal = await newestProposalOf(database, id);
  const waiting = proposal !== null && waitsForSecond(proposal) ? [proposal] : [];
  return {
    conversation,
    takesText: conversation !== null && (await canSay(database, context, conversation.row)),
    documents: await documentsOf(context, id),
    income: await incomeCheckOf(database, id),
    contract: await readContract(database, id),
    heldBy: await heldByOf(context, id),
    notes: await readNotes(context, id),
    item: await readItem(database, id),
    proposal,
    proposalFacts: [...(await proposalFactsOf(database, vault, operatorId, waiting)).values()][0] ?? null,
    evidence: (await readEvidence(database, [id]))(id),
    pends: await pendsOf(database, id),
  };
}

async function heldByOf({ database }: OperatorContext, id: ApplicationId): Promise<HeldBy | null> {
  const held = await heldByContract(database, id);
  return held === null ? null : heldBy(held.until);
}

/** The newest conversation with what happened; null where the application has none. */
export async function chatOf(context: OperatorContext, id: ApplicationId): Promise<ShownConversation | null> {
  return (await conversationOf(context.database, id)) === null ? null : showConversation(context, id);
}

/** The newest ones: a person may send files that are refused without end. */
const MOST_DOCUMENTS = 100;

async function documentsOf({ database }: OperatorContext, id: ApplicationId): Promise<StoredDocument[]> {
  const documents: StoredDocument[] = [];
  for await (const document of listDocuments(database, { applicationId: id, state: null })) {
    documents.push(document);
    if (documents.length === MOST_DOCUMENTS) break;
  }
  return documents.toReversed();
}
