/** Delivers what is due: claims, checks, sends and records (design, "Messages"; D33). */
import type { Channel } from '../channel/channel.ts';
import { composeMessage } from '../domain/compose-message.ts';
import { type ContactWindows, windowState } from '../domain/contact-window.ts';
import { type OutgoingMessage, outcomeOf, type SendResult } from '../domain/delivery.ts';
import { countryOfPhone } from '../domain/phone-country.ts';
import type { Database, Session } from '../storage/database.ts';
import {
  beginSending,
  type ClaimedMessage,
  claimDue,
  type PutOff,
  pauseSender,
  pauseTemplate,
  putOff,
  type SenderLimits,
} from '../storage/delivery.ts';
import { suppressApplicant } from '../storage/suppressions.ts';
import type { Vault } from '../storage/vault.ts';
import type { AttemptLog } from './attempt-log.ts';

export interface DeliveryContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly channel: Channel;
  readonly limits: SenderLimits;
  readonly windows: ContactWindows;
  readonly attempts: AttemptLog;
  /** Hears that `what` ('sender' or a template's name) is paused until an operator resumes it. */
  readonly onPause: (what: string, reason: string) => void;
}

/** Messages of one turn. They are sent at the same moment. */
export const CLAIM_LIMIT = 250;
/** The channel's time limit, and as much again for the record. */
export const ANSWER_WITHIN_MS = 60_000;

/** What one turn took up. */
export interface Turn {
  /** Messages; 0 where none may go. */
  readonly claimed: number;
  /** Resolves when all that went out is answered and recorded. */
  readonly concluded: Promise<void>;
}

/** One turn: claims messages, decides on each, and sends those that go out now, without waiting for the answers. */
export async function deliverDue(context: DeliveryContext, signal: AbortSignal): Promise<Turn> {
  const { database, vault, channel, limits } = context;
  const taken = await claimDue(
    database,
    vault,
    CLAIM_LIMIT,
    limits.messagesPerSecond,
    async (messages, claim) => {
      const outgoing = await decide(context, messages, claim);
      return { claimed: messages.length, outgoing };
    },
  );
  if (taken === null) return { claimed: 0, concluded: Promise.resolve() };
  const sends = taken.outgoing.map(async ({ message, tries }) =>
    conclude(context, message, tries, await channel.send(message, signal)),
  );
  return { claimed: taken.claimed, concluded: Promise.all(sends).then(() => {}) };
}

/** A message that may go out; `tries` with this one. */
interface Ready {
  readonly message: OutgoingMessage;
  readonly tries: number;
}

/** Settles what does not go out now; returns what does, which is marked as sending. */
async function decide(
  { windows, limits }: DeliveryContext,
  messages: readonly ClaimedMessage[],
  claim: Session,
): Promise<Ready[]> {
  const { ready, later } = sort(messages, windows, new Date());
  await putOff(claim, later);
  const templates = ready.map(({ message: { applicationId, template } }) => ({
    applicationId,
    template: template.name,
  }));
  const begun = await beginSending(claim, templates, limits, ANSWER_WITHIN_MS);
  const going = new Set(
    begun.filter(({ verdict }) => verdict === 'send').map(({ applicationId }) => applicationId),
  );
  return ready.filter(({ message }) => going.has(message.applicationId));
}

/** What may go out now, and what has to wait for its contact window or has nobody to go to any more. */
function sort(messages: readonly ClaimedMessage[], windows: ContactWindows, now: Date) {
  const ready: Ready[] = [];
  const later: PutOff[] = [];
  for (const message of messages) {
    const { applicationId, phone, name, type } = message;
    if (phone === null || name === null) {
      later.push({ applicationId, status: 'cancelled', dueAt: now, reason: 'erased' });
      continue;
    }
    const window = windowState(windows, countryOfPhone(phone), type, now);
    if (window.open) {
      const attempt = message.attempts + 1;
      ready.push({ message: composeMessage({ ...message, phone, name, attempt }), tries: message.tries + 1 });
    } else {
      later.push({ applicationId, status: 'queued', dueAt: window.until, reason: 'contact_window' });
    }
  }
  return { ready, later };
}

/**
 * What concerns more than this message comes first. Should it fail, the message goes on all the same: the next
 * one meets the same answer of the channel.
 */
async function conclude(
  context: DeliveryContext,
  { applicationId, attempt, template }: OutgoingMessage,
  tries: number,
  result: SendResult,
): Promise<void> {
  await heed(context, applicationId, template.name, result).catch(() => {});
  const { channelMessageId: id, ...rest } = outcomeOf(result, tries, Math.random());
  const channelMessageId = id && context.vault.blindIndex('channel_message_id', id);
  await context.attempts.record({ applicationId, attempt, outcome: { ...rest, channelMessageId } });
}

async function heed(
  { database, onPause }: DeliveryContext,
  applicationId: number,
  template: string,
  result: SendResult,
): Promise<void> {
  if (result.kind === 'opted_out') await suppressApplicant(database, applicationId);
  const { kind } = result;
  if (kind === 'pause_sender' && (await pauseSender(database, result.reason)))
    onPause('sender', result.reason);
  if (kind === 'pause_template' && (await pauseTemplate(database, template, result.reason)))
    onPause(template, result.reason);
}
