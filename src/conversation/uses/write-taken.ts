/** Writes what turns came to, in their transaction. */
import { noteWrongPerson } from '../../applications/sql/application-marks.ts';
import { addConversationEvents, lockPartnerEvents } from '../../events/sql/conversation-events.ts';
import { queueReminders } from '../../messages/sql/reminders.ts';
import { cancelApprovals } from '../../messages/sql/replies/approvals.ts';
import { type QueuedReply, queueReplies, sealReply } from '../../messages/sql/replies.ts';
import { cancelForWrongPerson } from '../../messages/sql/wrong-person.ts';
import type { Transaction } from '../../postgres/database.ts';
import { fromBigint } from '../../seal/blind-indexes.ts';
import type { Vault } from '../../seal/vault.ts';
import { type ConversationRow, writeTurns } from '../sql/conversations.ts';
import { markTaken } from '../sql/inputs.ts';
import { queueWork } from '../sql/work.ts';
import type { Waiting } from './open-waiting.ts';
import type { Signing } from './ports.ts';
import type { TurnResult } from './turn-result.ts';

/** A turn, with the inputs that it took. */
export interface TakenTurn extends Waiting {
  readonly row: ConversationRow;
  readonly result: TurnResult;
}

/**
 * Everything that the turns came to. Partner events come last: their locks are the last ones of a transaction. Returns
 * how many reminders are queued.
 */
export async function writeTaken(
  { vault, signing }: { readonly vault: Vault; readonly signing: Signing },
  session: Transaction,
  turns: readonly TakenTurn[],
): Promise<number> {
  const results = turns.map(({ result }) => result);
  await writeTurns(
    session,
    turns.map(({ row, result: { written }, opened, damaged }) => ({
      ...written,
      isTrimmed: row.is_trimmed,
      hasHeard: [...opened, ...damaged].some(({ row: { source } }) => source === 'person'),
    })),
  );
  await noteWrongPersons(session, turns);
  await queueReplies(
    session,
    turns.flatMap((turn) => queuedReplyOf(vault, turn)),
  );
  await cancelApprovals(
    session,
    results.flatMap(({ applicationId, tellsApproval }) => (tellsApproval ? [applicationId] : [])),
  );
  await queueWork(
    session,
    results.flatMap(({ work }) => work),
  );
  await signing.recordEvidence(
    session,
    results.map(({ applicationId, evidence }) => ({ applicationId, entries: evidence })),
  );
  const reminded = await queueReminders(
    session,
    results.flatMap(({ applicationId, reminds }) => (reminds ? [applicationId] : [])),
  );
  await markTaken(session, turns.flatMap(inputsOf));
  await endWithdrawals(signing, session, turns);
  await addConversationEvents(
    session,
    turns.flatMap(({ row, result: { applicationId, told } }) =>
      told.map((one) => ({ partnerId: row.partner_id, applicationId, ...one })),
    ),
  );
  return reminded.length;
}

/** What waits to go to a wrong person is cancelled before the apology is queued. */
async function noteWrongPersons(session: Transaction, turns: readonly TakenTurn[]): Promise<void> {
  for (const isWrong of [false, true]) {
    const ids = turns
      .filter(({ row, result: { written } }) => {
        const is = written.state.wrongPerson;
        return is === isWrong && is !== (row.state?.wrongPerson ?? false);
      })
      .map(({ result }) => result.applicationId);
    await noteWrongPerson(session, ids, isWrong);
    if (isWrong) await cancelForWrongPerson(session, ids);
  }
}

/** The reviews come with events of the partners: all locks of these are taken first, in one order. */
async function endWithdrawals(
  signing: Signing,
  session: Transaction,
  turns: readonly TakenTurn[],
): Promise<void> {
  const withdrawn = turns.filter(({ result }) => result.withdraws);
  if (withdrawn.length === 0) return;
  const partners = turns.flatMap(({ row, result }) => (result.told.length > 0 ? [row.partner_id] : []));
  await lockPartnerEvents(session, [...partners, ...withdrawn.map(({ row }) => row.partner_id)]);
  await signing.rejectWithdrawn(
    session,
    withdrawn.map(({ result }) => result.applicationId),
  );
}

function queuedReplyOf(
  vault: Vault,
  { row, result: { reply, applicationId, written } }: TakenTurn,
): QueuedReply[] {
  if (reply === null) return [];
  const { text, buttons, document, readMessageId, windowUntil } = reply;
  const file = document && { mediaId: document.mediaId, filename: document.filename };
  const content = { text, buttons, ...(file !== null && { document: file }), readMessageId };
  return [
    {
      ...{ applicationId, turn: written.turn, partnerId: row.partner_id, windowUntil },
      phoneIndex: fromBigint<'phone'>(row.phone_index),
      content: sealReply(vault, { applicationId, turn: written.turn }, content),
    },
  ];
}

function inputsOf({ result, opened, damaged }: TakenTurn) {
  const { turn } = result.written;
  return [
    ...opened.map(({ row }) => ({ id: row.id, turn, fault: null })),
    ...damaged.map(({ row }) => ({ id: row.id, turn, fault: 'unreadable' })),
  ];
}
