/**
 * Reads what decisions are about, and what in the files may contradict their reasons (D48). Reads `review_items`, the
 * facts of applications, documents and income checks.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { type DecisionFacts, readDecisionFacts } from '../../applications/sql/desk/decision-facts.ts';
import { documentCountsOf } from '../../documents/sql/documents.ts';
import { incomesOf } from '../../income/sql/income-checks.ts';
import type { Evidence } from '../rules/against.ts';
import { readQueuedFacts } from '../sql/propose.ts';

export type { DecisionFacts };

const READ_AT_ONCE = 500;

/**
 * The facts of these applications; one that does not exist is absent. For applications in review they come from the
 * queue, because reading 10,000 of them from their batches takes seconds.
 */
export async function decidedFactsOf(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<ReadonlyMap<ApplicationId, DecisionFacts>> {
  const queued = await readQueuedFacts(session, ids);
  const others = ids.filter((id) => !queued.has(id));
  return new Map([...queued, ...(await readFacts(session, others))]);
}

/** The same for applications that are not in the queue. */
export async function readFacts(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<ReadonlyMap<ApplicationId, DecisionFacts>> {
  const facts = new Map<ApplicationId, DecisionFacts>();
  for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
    const read = await readDecisionFacts(session, ids.slice(from, from + READ_AT_ONCE));
    for (const [id, one] of read) facts.set(id, one);
  }
  return facts;
}

/** Reads what the files of these applications contain, and returns a function that tells it for one application. */
export async function readEvidence(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<(id: ApplicationId) => Evidence> {
  const documents = await documentCountsOf(session, ids);
  const incomes = await incomesOf(session, ids);
  return (id) => ({ documents: documents.get(id) ?? NO_DOCUMENTS, income: incomes.get(id) ?? null });
}

export const NO_DOCUMENTS = { accepted: 0, received: 0, rejected: 0 };
