/**
 * Marks claimed messages as sending, within the limits of the sender and of the phone (D42; docs/messages.md,
 * "Limits"). Calls `begin_sending`.
 */
import type { MessageId } from '../../../domain/application/ids.ts';
import type { DayLimit } from '../../../domain/message/contact-window.ts';
import type { OutgoingMessage } from '../../../domain/message/outgoing-message.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Transaction } from '../../../ground/postgres/database.ts';

/** The limits of a sender (docs/messages.md, "Limits"); null: none. */
export interface SenderLimits {
  readonly messagesPerSecond: number | null;
  /** The least time between two messages to one phone, in milliseconds. */
  readonly pairMs: number;
  /** The most different phones in any 24 hours. */
  readonly recipientsPerDay: number | null;
  /** The most messages to one phone in any 24 hours, and the most `rejected` ones among them (D42). */
  readonly messagesPerPhone: number | null;
  readonly rejectionsPerPhone: number | null;
}

/** A message that may go out. `tries` counts this send too. */
export interface Ready {
  readonly message: OutgoingMessage;
  readonly partnerId: PartnerId;
  readonly tries: number;
  /** The limit of its country's calendar day (D42); null: there is none. */
  readonly dayLimit: DayLimit | null;
}

const BEGIN = `
  SELECT id FROM begin_sending($1, $2, $3, $4, $5, $6 * interval '1 millisecond', $7,
    $8, $9, $10 * interval '1 millisecond', $11, $12, $13) AS id`;

/**
 * Decides which of the ready messages go out now, marks them as sending and returns them. A message becomes uncertain
 * if its result is not recorded within `answerWithinMs`. The next claim begins after `lastPartnerId`. Send nothing
 * before the claim has committed.
 */
export async function beginSending(
  claim: Transaction,
  ready: readonly Ready[],
  lastPartnerId: number | null,
  limits: SenderLimits,
  answerWithinMs: number,
): Promise<ReadonlySet<MessageId>> {
  const limited = ready.flatMap(({ message: { messageId }, dayLimit }) =>
    dayLimit === null ? [] : [{ messageId, ...dayLimit }],
  );
  const { rows } = await claim.query<{ id: MessageId }>({
    name: 'begin_sending',
    text: BEGIN,
    values: [
      ready.map(({ message }) => message.messageId),
      ready.map(({ message }) => message.template.name),
      ready.map(({ partnerId }) => partnerId),
      lastPartnerId,
      limits.messagesPerSecond,
      limits.pairMs,
      limits.recipientsPerDay,
      limits.messagesPerPhone,
      limits.rejectionsPerPhone,
      answerWithinMs,
      limited.map(({ messageId }) => messageId),
      limited.map(({ since }) => since),
      limited.map(({ most }) => most),
    ],
  });
  return new Set(rows.map(({ id }) => id));
}
