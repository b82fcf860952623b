/**
 * Erases applications in one transaction, by the functions of all subjects that own something about them
 * (docs/subject.md, "Erase" has the list). The order of its steps is the order of locks
 * (`migrations/0004_messages.sql`).
 */
import { v7 as uuidv7 } from 'uuid';
import type { ApplicationId, BatchId } from '../../../domain/application/ids.ts';
import { isOpen, TRANSITIONS } from '../../../domain/application/lifecycle.ts';
import { inTransaction } from '../../../ground/postgres/database.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { moveApplication } from '../../applications/sql/applications.ts';
import { eraseCorrections } from '../../applications/sql/corrections.ts';
import { eraseApplicants, holdForErasure } from '../../applications/sql/erasure.ts';
import { eraseConversations, lockConversations } from '../../conversation/sql/retention.ts';
import { eraseNotes } from '../../desk/sql/notes.ts';
import { endErasedPends } from '../../desk/sql/pends.ts';
import { eraseProposals } from '../../desk/sql/proposals.ts';
import { eraseLooks } from '../../desk/sql/second-looks.ts';
import { eraseDocuments } from '../../documents/sql/erasure.ts';
import { eraseSentFiles } from '../../documents/sql/sent-files.ts';
import { eraseIncomeEvidence } from '../../income/sql/income-checks.ts';
import { dropSteps } from '../../income/sql/income-steps.ts';
import { eraseMessages } from '../../messages/sql/erasure.ts';
import { eraseCases } from '../../reconsiderations/sql/cases.ts';
import { eraseContracts } from '../../signing/sql/dropped.ts';
import { addErasure } from '../sql/erasures.ts';

interface ErasureOptions {
  /** Open applications are rejected first. Without it, open applications refuse the erasure. */
  readonly close: boolean;
  /** No worker runs on the database, so a send that was under way when a backup was made is over. */
  readonly nobodySends: boolean;
  /** The id of an erasure that is done again; undefined: this is a new one. */
  readonly erasureId?: string;
}

/** What one transaction has erased. */
export interface Erased {
  readonly applications: readonly ApplicationId[];
  /** Those of the applications that were open. */
  readonly closed: readonly ApplicationId[];
  /** Those of the applications whose signed contract stays for the legal term. */
  readonly contracts: readonly ApplicationId[];
  /** Batches whose envelope does not open. Nobody can read it, and it stays. */
  readonly unopened: readonly BatchId[];
}

/** How long an erasure waits for a lock. The rewriting of a partition waits half as long for an erasure. */
const LIMIT = "SET LOCAL lock_timeout = '1s'";
/** What the history says in the place of each reason, because reasons are free text. */
const ERASED = 'erased';

/**
 * Erases those of the applications that are not erased yet, and what delivery has under their phones and under `phones`
 * (blind indexes, each as the decimal text of a bigint). Partner events come last, as the order of locks asks
 * (`migrations/0004_messages.sql`). Throws `OperatorError` if an application is open and `close` is false, and an error
 * of `isBeingSent` while a worker sends to the person.
 */
export function eraseApplications(
  { database, vault, actor }: OperatorContext,
  ids: readonly ApplicationId[],
  phones: readonly string[],
  { close, nobodySends, erasureId = uuidv7() }: ErasureOptions,
): Promise<Erased> {
  return inTransaction(database, async (session) => {
    await session.query(LIMIT);
    await lockConversations(session, ids, phones);
    const held = ids.length === 0 ? [] : await holdForErasure(session, ids);
    const open = held.filter(({ status }) => isOpen(status)).map(({ id }) => id);
    if (open.length > 0 && !close) throw openError(open);
    const applications = held.map(({ id }) => id);
    const found = held.flatMap(({ phone }) => (phone === null ? [] : [phone]));
    const suppressed = [...new Set([...phones, ...found])];
    // The erasure is stored first, because the functions that delete rows look for it.
    const erasure = { id: erasureId, at: null, applications: held, phones: suppressed };
    if (held.length > 0 || suppressed.length > 0) await addErasure(session, erasure);
    // Before the replies: a case that is being opened commits its reply first, and none is opened afterwards.
    await eraseCases(session, applications);
    await eraseConversations(session, applications, [...new Set([...phones, ...found])]);
    await eraseMessages(session, applications, suppressed, { nobodySends, erasureId });
    await eraseDocuments(session, applications);
    await eraseSentFiles(session, applications);
    await eraseNotes(session, applications);
    await endErasedPends(session, applications);
    await eraseLooks(session, applications);
    const contracts = await eraseContracts(session, applications, erasureId);
    await eraseIncomeEvidence(session, applications);
    await dropSteps(session, applications);
    const unopened = await eraseApplicants(session, vault, applications, erasureId);
    // After the batches are locked: a correction that came first is stored by then, and none comes afterwards.
    await eraseCorrections(session, applications);
    const { from, to } = TRANSITIONS.reject;
    const rejection = { from, to, action: 'reject', reason: ERASED, reasonCode: 'data_erased' } as const;
    // The phone is gone by now, so the rejection queues no message.
    for (const id of open) await moveApplication(session, id, { ...rejection, actor });
    // After the reviews, because the loop that applies proposals locks in this order.
    await eraseProposals(session, applications);
    return { applications, closed: open, contracts, unopened };
  });
}

/** The refusal of open applications. */
export function openError(ids: readonly ApplicationId[]): OperatorError {
  const some = ids.slice(0, 10).join(', ') + (ids.length > 10 ? ' …' : '');
  return new OperatorError(
    `open applications are not erased (${some}): reject or disburse them first, or add --close, which rejects them with the code data_erased`,
  );
}
