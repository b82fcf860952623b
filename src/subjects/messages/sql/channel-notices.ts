/**
 * Stores notices of the channel: an answer to one send that also concerns other messages, because a phone opted out or
 * something is paused (docs/messages.md, "Pauses"). Writes `suppressions`, `sender` and `paused_templates`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { pauseSender, pauseTemplate } from './pauses.ts';
import { suppressApplicants } from './suppressions.ts';

/** `reason` is the channel's code. */
export type ChannelNotice =
  | { readonly kind: 'opted_out'; readonly applicationId: ApplicationId }
  | { readonly kind: 'pause_sender'; readonly applicationId: ApplicationId; readonly reason: MessageReason }
  | {
      readonly kind: 'pause_template';
      readonly applicationId: ApplicationId;
      readonly template: string;
      readonly reason: MessageReason;
    };

/** A new pause; `what` is 'sender' or the name of a template. */
export interface NewPause {
  readonly what: string;
  readonly reason: MessageReason;
}

/**
 * Stores all notices in one transaction, in the order of locks (head of `migrations/0004_messages.sql`). Returns the
 * new pauses.
 */
export async function storeNotices(
  database: Database,
  notices: readonly ChannelNotice[],
): Promise<NewPause[]> {
  const sender = notices.find(({ kind }) => kind === 'pause_sender');
  const templates = new Map(
    notices
      .filter((notice) => notice.kind === 'pause_template')
      .map(({ template, reason }) => [template, reason]),
  );
  const optedOut = notices
    .filter(({ kind }) => kind === 'opted_out')
    .map(({ applicationId }) => applicationId);
  return inTransaction(database, async (session) => {
    const pauses: NewPause[] = [];
    if (sender?.kind === 'pause_sender' && (await pauseSender(session, sender.reason)))
      pauses.push({ what: 'sender', reason: sender.reason });
    for (const [what, reason] of [...templates].sort()) {
      if (await pauseTemplate(session, what, reason)) pauses.push({ what, reason });
    }
    await suppressApplicants(session, optedOut);
    return pauses;
  });
}
