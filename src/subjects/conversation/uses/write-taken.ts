/**
 * Writes the results of turns in their transaction: states, replies, work, changed messages, evidence, rejections and
 * partner events (D43). The order of locks is in `migrations/0004_messages.sql`.
 */
import { messageIdsOf, reminderOf } from '../../../domain/application/ids.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { noteWrongPerson } from '../../applications/sql/application-marks.ts';
import { addConversationEvents, lockPartnerEvents } from '../../events/sql/conversation-events.ts';
import { lockMessages } from '../../messages/sql/changes/operator-changes.ts';
import {
  cancelApprovals,
  cancelMessagesForWrongPerson,
  cancelRepliesForWrongPerson,
  queueReminders,
} from '../../messages/sql/changes/turn-changes.ts';
import { type QueuedReply, sealReply } from '../../messages/sql/replies.ts';
import type { ConversationRow } from '../sql/conversations.ts';
import { writeTurns } from '../sql/turns.ts';
import type { Waiting } from './open-waiting.ts';
import type { Signing } from './ports.ts';
import type { TurnResult } from './turn-result.ts';

/** A turn with the inputs that it took. */
export interface TakenTurn extends Waiting {
  readonly row: ConversationRow;
  readonly result: TurnResult;
}

/**
 * Writes everything that the turns came to, in the order of locks (`migrations/0004_messages.sql`): first what becomes
 * of replies, then of messages, and partner events last. Returns how many reminders are queued.
 */
export async function writeTaken(
  { vault, signing }: { readonly vault: Vault; readonly signing: Signing },
  session: Transaction,
  turns: readonly TakenTurn[],
): Promise<number> {
  const results = turns.map(({ result }) => result);
  const idsWhere = (is: (turn: TakenTurn) => boolean) =>
    turns.filter(is).map(({ result }) => result.applicationId);
  const wrong = idsWhere((turn) => newWrongPerson(turn) === true);
  await noteWrongPerson(session, wrong, true);
  await noteWrongPerson(
    session,
    idsWhere((turn) => newWrongPerson(turn) === false),
    false,
  );
  // Replies that wait for a wrong person are cancelled before the apology is queued.
  await cancelRepliesForWrongPerson(session, wrong);
  await writeTurns(
    session,
    turns.map(({ row, result: { written }, opened, damaged }) => ({
      ...written,
      isTrimmed: row.isTrimmed,
      hasHeard: [...opened, ...damaged].some(({ row: { source } }) => source === 'person'),
    })),
    turns.flatMap(inputsOf),
    results.flatMap(({ work }) => work),
    turns.flatMap((turn) => queuedReplyOf(vault, turn)),
  );
  const told = idsWhere(({ result }) => result.tellsApproval);
  const asked = idsWhere(({ result }) => result.reminds);
  const withdrawn = idsWhere(({ result }) => result.withdraws !== null);
  await lockMessages(session, [
    ...[...wrong, ...told, ...withdrawn].flatMap(messageIdsOf),
    ...asked.map(reminderOf),
  ]);
  await cancelMessagesForWrongPerson(session, wrong);
  await cancelApprovals(session, told);
  await signing.recordEvidence(
    session,
    results.map(({ applicationId, evidence }) => ({ applicationId, entries: evidence })),
  );
  const reminded = await queueReminders(session, asked);
  await endWithdrawals(signing, session, turns);
  await addConversationEvents(
    session,
    turns.flatMap(({ row, result: { applicationId, told } }) =>
      told.map((one) => ({ partnerId: row.partnerId, applicationId, ...one })),
    ),
  );
  return reminded.length;
}

/**
 * What a turn found out about the phone: it is a wrong person's (true), the applicant's after all (false), or nothing
 * new (null).
 */
export function newWrongPerson({ row, result }: Pick<TakenTurn, 'row' | 'result'>): boolean | null {
  const { wrongPerson } = result.written.state;
  return wrongPerson === (row.state?.wrongPerson ?? false) ? null : wrongPerson;
}

/**
 * Rejects the applications of withdrawn signatures. These reviews add partner events, so all locks of partners are
 * taken first, in one order.
 */
async function endWithdrawals(
  signing: Signing,
  session: Transaction,
  turns: readonly TakenTurn[],
): Promise<void> {
  const withdrawn = turns.filter(({ result }) => result.withdraws !== null);
  if (withdrawn.length === 0) return;
  const partners = turns.flatMap(({ row, result }) => (result.told.length > 0 ? [row.partnerId] : []));
  await lockPartnerEvents(session, [...partners, ...withdrawn.map(({ row }) => row.partnerId)]);
  for (const { result } of withdrawn) {
    await signing.rejectWithdrawn(session, result.applicationId, result.withdraws?.by ?? null);
  }
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
      applicationId,
      turn: written.turn,
      partnerId: row.partnerId,
      windowUntil,
      phoneIndex: row.phoneIndex,
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
