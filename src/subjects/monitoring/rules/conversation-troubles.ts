/** What is wrong with conversations, documents and contracts, by what the store tells. */
import { counted } from '../../../ground/base/counted.ts';
import type { ConversationFacts, HeldFacts, WorkFacts } from './conversation-facts.ts';
import { duration } from './duration.ts';
import { BOUNDS, type Trouble, type TroubleCode } from './trouble.ts';

/** Conversations that were handed over because the service could not go on. */
const FAILURES: readonly string[] = ['failure', 'unreadable'];

/** The troubles that the facts show, the worst first. */
export function conversationTroubles(facts: ConversationFacts): Trouble[] {
  const troubles: Trouble[] = [];
  const add = (code: TroubleCode, text: string) => troubles.push({ code, text });
  const { inputs, held, work, replies, uncertain, blocked, unfinished, missingFiles, notRead } = facts;
  if (inputs.oldestS > BOUNDS.inputWaitsS) {
    const waiting = `inputs of conversations wait for a turn: ${inputs.waiting}, the oldest for ${duration(inputs.oldestS)}`;
    add('inputs_late', `${waiting}: does a service or worker run, with every data key?`);
  }
  if (replies.oldestS > BOUNDS.replyWaitsS) {
    const waiting = replies.queued + replies.sending;
    add('replies_late', `replies to persons wait: ${waiting}, the oldest for ${duration(replies.oldestS)}`);
  }
  if (uncertain.oldestS > BOUNDS.replyUncertainS) {
    const text = `replies may not have arrived: ${uncertain.replies}, the oldest since ${duration(uncertain.oldestS)}`;
    add('replies_uncertain', `${text}: "reply list", then "reply retry" or "reply cancel"`);
  }
  const scans = work.filter(({ reason }) => reason === 'scanner');
  if (oldestOf(scans) > BOUNDS.scannerAwayS) {
    add(
      'scanner_away',
      `the virus scanner does not answer: ${counted(sumOf(scans), 'file waits', 'files wait')}; start it, or see CLAMD`,
    );
  }
  if (oldestOf(work) > BOUNDS.workWaitsS) add('work_late', lateText(work));
  const failed = held.filter(({ reason }) => FAILURES.includes(reason));
  if (sumOfHeld(failed) > BOUNDS.workFailed) {
    const text = `work of conversations failed for good: ${sumOfHeld(failed)}`;
    add('work_failed', `${text}; the log says why, and "conversation give-back" tries again`);
  }
  if (oldestOf(held) > BOUNDS.heldS) {
    const waiting = `conversations wait for an operator: ${sumOfHeld(held)}, the oldest for ${duration(oldestOf(held))}`;
    add('conversations_held', `${waiting}: "conversation list --held-by operator"`);
  }
  const without = blocked.reduce((sum, { applications }) => sum + applications, 0);
  if (without > BOUNDS.contractsBlocked) {
    const reasons = blocked.map(({ reason, applications }) => `${reason} ${applications}`).join(', ');
    add(
      'contracts_blocked',
      `applications get no contract: ${without} (${reasons}): mend the terms or the certificate`,
    );
  }
  if (unfinished.oldestS > BOUNDS.unfinishedS) {
    const text = `signed contracts without their final PDF: ${unfinished.contracts}`;
    add('contracts_unfinished', `${text}, the oldest for ${duration(unfinished.oldestS)}; the log says why`);
  }
  if (missingFiles > BOUNDS.missingFiles) {
    add('documents_missing', `documents whose file is gone: ${missingFiles}: put the files back from a copy`);
  }
  if (notRead > BOUNDS.notRead) {
    const text = `documents wait for an operator because nothing reads them here: ${notRead}`;
    add('documents_not_read', `${text}: let the machine isolate the reader, or see DOCUMENT_READER`);
  }
  return troubles;
}

function lateText(work: readonly WorkFacts[]): string {
  const reasons = new Map<string, number>();
  for (const { reason, waiting } of work) {
    if (reason !== 'none') reasons.set(reason, (reasons.get(reason) ?? 0) + waiting);
  }
  const why = [...reasons].map(([reason, waiting]) => `${reason} ${waiting}`).join(', ');
  const text = `work of conversations waits: ${sumOf(work)}, the oldest for ${duration(oldestOf(work))}`;
  return why === '' ? text : `${text}; tried in vain: ${why}`;
}

function oldestOf(some: readonly { readonly oldestS: number }[]): number {
  return Math.max(0, ...some.map(({ oldestS }) => oldestS));
}

function sumOf(work: readonly WorkFacts[]): number {
  return work.reduce((sum, { waiting }) => sum + waiting, 0);
}

function sumOfHeld(held: readonly HeldFacts[]): number {
  return held.reduce((sum, { conversations }) => sum + conversations, 0);
}
