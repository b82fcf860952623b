/**
 * Delivers due messages: claims, checks, sends and records them (D33; src/subjects/messages/README.md). Reads `outbox`
 * and envelopes, writes `leases` and `message_records` by the files of `sql`, and sends over the channel's network.
 */
import {
  type ApplicationId,
  applicationOfMessage,
  type BatchId,
  type MessageId,
} from '../../../domain/application/ids.ts';
import type { TemplateChannel } from '../../../domain/message/channel.ts';
import { composeMessage, type MessageSource } from '../../../domain/message/compose-message.ts';
import {
  type ContactWindows,
  type DayLimit,
  dayLimit,
  windowState,
} from '../../../domain/message/contact-window.ts';
import type { OutgoingMessage } from '../../../domain/message/outgoing-message.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { countryOfPhone } from '../../../domain/phone/phone.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database, Transaction } from '../../../ground/postgres/database.ts';
import type { RetryingWriter } from '../../../program/queue/retrying-writer.ts';
import { takeUp } from '../../../program/queue/take-up.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { PersonalFault } from '../../applications/sql/personal-data.ts';
import { MAX_TRIES, moveAfter } from '../rules/after-send.ts';
import { beginSending, type Ready, type SenderLimits } from '../sql/begin.ts';
import type { ChannelNotice } from '../sql/channel-notices.ts';
import { type Claimed, type ClaimedMessage, claimMessages, readClaimed } from '../sql/claim.ts';
import { type Deferral, defer, setAside } from '../sql/deferral.ts';
import { tellFailed } from '../sql/failed-messages.ts';
import type { SendResultRow } from '../sql/send-results.ts';
import { noteToldReasons } from '../sql/told-reasons.ts';
import { ANSWER_WITHIN_MS, answerOf, noticeOf, sendOnce, type Turn } from './sending.ts';

export interface DeliveryContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly channel: TemplateChannel;
  readonly limits: SenderLimits;
  readonly windows: ContactWindows;
  /** Messages that go out at any hour, also over the limit of a country's day. Only the simulator has such messages. */
  readonly released?: ReadonlySet<MessageId>;
  readonly results: RetryingWriter<SendResultRow>;
  readonly notices: RetryingWriter<ChannelNotice>;
  /** Called with messages that cannot be sent as they are stored. */
  readonly onFault: (fault: MessageFault) => void;
}

/**
 * Why messages of a batch cannot be sent as they are stored (docs/messages.md): personal data that does not open
 * (`unreadable`), personal data of another row (`mismatch`), or other stored data that makes no text (`unsendable`,
 * with `error`). With `unknown_key` this process lacks the data key, and the messages wait.
 */
export interface MessageFault {
  readonly reason: PersonalFault | 'unsendable';
  readonly applicationIds: readonly ApplicationId[];
  /** null if it is not known. */
  readonly batchId: BatchId | null;
  readonly error: unknown;
}

/** The most messages of one turn. Their sends start together. */
const CLAIM_LIMIT = 250;
/**
 * A message that would stop the rest of its turn is set aside for 15 minutes, because its fault may pass. After its
 * last try it has failed.
 */
const ASIDE = { maxTries: MAX_TRIES, reason: 'unsendable', afterMs: 15 * 60_000 } as const;
/** How long a message first waits for a process that has its data key. `put_off` makes further waits longer. */
const KEY_WAIT_MS = 60_000;

/** The messages that one turn took up. */
interface Taken {
  readonly outgoing: readonly Ready[];
  readonly faults: readonly MessageFault[];
}

/**
 * Claims messages, decides about each one, and sends those that go out now, without waiting for the answers. When `cut`
 * aborts, the sends are given up. If `stopping` aborts before the turn is committed, the turn is undone and throws.
 */
export async function deliverDue(
  context: DeliveryContext,
  cut: AbortSignal,
  stopping?: AbortSignal,
): Promise<Turn> {
  const { database, vault, limits, onFault } = context;
  const { claimed, taken } = await takeUp(
    database,
    {
      most: CLAIM_LIMIT,
      claim: (claim, limit) => claimMessages(claim, vault, limit, limits.messagesPerSecond),
      decide: async (claim, rows) => beginClaimed(context, claim, await readClaimed(context, claim, rows)),
      setAside: async ({ messageId }, error) => {
        await setAside(database, messageId, ASIDE);
        const applicationIds = [applicationOfMessage(messageId)];
        onFault({ reason: 'unsendable', applicationIds, batchId: null, error });
      },
    },
    stopping,
  );
  for (const fault of taken?.faults ?? []) onFault(fault);
  const sends = taken?.outgoing.map((ready) => sendReady(context, ready, cut)) ?? [];
  return { claimed, concluded: Promise.all(sends).then(() => {}) };
}

async function sendReady(
  { channel, vault, results, notices }: DeliveryContext,
  { message, partnerId, tries }: Ready,
  cut: AbortSignal,
): Promise<void> {
  const { messageId, applicationId, type, attempt, template } = message;
  const send = () => channel.send(message, cut);
  const result = await sendOnce('send', applicationId, factsOf(message), send);
  const notice = noticeOf(result, applicationId, template.name);
  if (notice !== null) await notices.write(notice);
  const move = moveAfter(result, tries, Math.random());
  await results.write({ messageId, type, partnerId, attempt, ...answerOf(vault, result), ...move });
}

function factsOf({ messageId, type, attempt }: OutgoingMessage) {
  return {
    'ventanilla.message_id': messageId,
    'ventanilla.message_type': type,
    'ventanilla.attempt': attempt,
  };
}

/** Puts off or ends what does not go out now; returns what goes out, marked as sending. */
async function beginClaimed(
  context: DeliveryContext,
  claim: Transaction,
  { messages, lastPartnerId, now }: Claimed,
): Promise<Taken> {
  const { ready, later, faults } = splitByReadiness(messages, context, now);
  await defer(claim, later);
  const sending = await beginSending(claim, ready, lastPartnerId, context.limits, ANSWER_WITHIN_MS);
  await tellFailed(
    claim,
    faults.filter(({ reason }) => reason !== 'unknown_key').map(({ message }) => message),
  );
  const outgoing = ready.filter(({ message }) => sending.has(message.messageId));
  await noteToldReasons(
    claim,
    outgoing.map(({ message }) => message),
  );
  return { outgoing, faults: byBatch(faults) };
}

/** A message that cannot be sent as it is stored. */
interface Faulty {
  readonly message: ClaimedMessage;
  readonly reason: MessageFault['reason'];
  readonly error: unknown;
}

/** Splits messages into those that may go out now, and those that wait for their contact window or have ended. */
function splitByReadiness(
  messages: readonly ClaimedMessage[],
  { windows, released }: Pick<DeliveryContext, 'windows' | 'released'>,
  now: Date,
) {
  const ready: Ready[] = [];
  const later: Deferral[] = [];
  const faults: Faulty[] = [];
  for (const message of messages) {
    const { messageId, fault } = message;
    const end = (status: Deferral['status'], reason: MessageReason) =>
      later.push({ messageId, status, dueAt: now, reason });
    if (fault !== null) {
      faults.push({ message, reason: fault, error: null });
      if (fault !== 'unknown_key') end('failed', fault);
      else {
        const dueAt = new Date(now.getTime() + KEY_WAIT_MS);
        later.push({ messageId, status: 'queued', dueAt, reason: fault });
      }
    } else if (!isReadable(message)) end('cancelled', 'erased');
    else {
      try {
        const to = [windows, countryOfPhone(message.phone), message.type, now] as const;
        const window = windowState(...to);
        if (released?.has(messageId)) ready.push(readyOf(message, null));
        else if (window.open) ready.push(readyOf(message, dayLimit(...to)));
        else later.push({ messageId, status: 'queued', dueAt: window.until, reason: 'contact_window' });
      } catch (error) {
        faults.push({ message, reason: 'unsendable', error });
        end('failed', 'unsendable');
      }
    }
  }
  return { ready, later, faults };
}

/** False for a message whose applicant was erased. */
function isReadable(message: ClaimedMessage): message is ClaimedMessage & MessageSource {
  return message.phone !== null && message.name !== null;
}

function readyOf(message: ClaimedMessage & MessageSource, limit: DayLimit | null): Ready {
  const { partnerId, tries } = message;
  return { message: composeMessage(message), partnerId, tries, dayLimit: limit };
}

/** One fault for each batch and reason, however many messages it concerns. */
function byBatch(faults: readonly Faulty[]): MessageFault[] {
  const groups = Map.groupBy(faults, ({ message, reason }) => `${message.batchId} ${reason}`);
  return [...groups.values()].map((group) => {
    const [{ message, reason, error }] = group as [Faulty, ...Faulty[]];
    const applicationIds = group.map((faulty) => applicationOfMessage(faulty.message.messageId));
    return { reason, applicationIds, batchId: message.batchId, error };
  });
}
