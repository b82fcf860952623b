/**
 * The reminder that an operator sends: the one message that may go to a person when the channel's window is closed
 * (docs/operators.md, "The inbox"; docs/messages.md, "Reminders"). Runs in the caller's transaction, which has locked
 * the conversation.
 */
import { type ApplicationId, reminderOf } from '../../../domain/application/ids.ts';
import type { MessageStatus } from '../../../domain/message/notify.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import { lockMessages } from '../../messages/sql/changes/operator-changes.ts';
import { queueReminders } from '../../messages/sql/changes/turn-changes.ts';
import { readMessagesById } from '../../messages/sql/messages.ts';
import { type ConversationRow, noteReminded } from '../sql/conversations.ts';
import { type Unsayable, whyUnsayable } from './may-say.ts';

/** The reminder that went out, or waits, since the person's last message. */
export interface Reminder {
  readonly status: MessageStatus;
  readonly changedAt: Date;
}

/**
 * Why no reminder can go. `window_open`: the person takes a text. `reminded`: one went out, or waits, since their last
 * message. `no_reminder`: the application is closed, has no phone, or its applicant never agreed to messages.
 */
export type NotReminded = Exclude<Unsayable, 'window_closed'> | 'window_open' | 'reminded' | 'no_reminder';

/** The reminder since the person's last message; null: there is none, or it never left. */
export async function reminderSince(
  session: Session,
  { applicationId, heardAt }: { readonly applicationId: ApplicationId; readonly heardAt: Date | null },
): Promise<Reminder | null> {
  const [message] = await readMessagesById(session, [reminderOf(applicationId)]);
  if (message === undefined || message.status === 'failed' || message.status === 'cancelled') return null;
  const { status, changedAt } = message;
  return heardAt !== null && changedAt <= heardAt ? null : { status, changedAt };
}

/**
 * Queues the reminder. Then the person waits for nobody, until they write. Returns why nothing is queued; null: it is.
 */
export async function remind(session: Transaction, row: ConversationRow): Promise<NotReminded | null> {
  const why = await whyUnsayable(session, row);
  if (why !== 'window_closed') return why ?? 'window_open';
  await lockMessages(session, [reminderOf(row.applicationId)]);
  if ((await reminderSince(session, row)) !== null) return 'reminded';
  if ((await queueReminders(session, [row.applicationId])).length === 0) return 'no_reminder';
  await noteReminded(session, row.id);
  return null;
}
