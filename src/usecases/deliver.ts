/** Delivers what is due: claims, checks, sends and records (design, "Messages"; D33). */
import type { Channel } from '../channel/channel.ts';
import { composeMessage } from '../domain/compose-message.ts';
import { type ContactWindows, windowState } from '../domain/contact-window.ts';
import { type OutgoingMessage, outcomeOf, type SendResult } from '../domain/delivery.ts';
import { countryOfPhone } from '../domain/phone-country.ts';
import type { Database } from '../storage/database.ts';
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
}

/** Messages of one turn. They are sent at the same moment. */
export const CLAIM_LIMIT = 100;
/** The channel's time limit, and as much again for the record. */
export const ANSWER_WITHIN_MS = 60_000;

/** One turn; resolves when all that it sent is recorded. How many messages were claimed. */
export async function deliverDue(context: DeliveryContext, signal: AbortSignal): Promise<number> {
  const { database, vault, channel, limits, windows } = context;
  const turn = await claimDue(database, vault, CLAIM_LIMIT, async (messages, claim) => {
    const { ready, later } = sort(messages, windows, new Date());
    await putOff(claim, later);
    const templates = ready.map(({ applicationId, template }) => ({
      applicationId,
      template: template.name,
    }));
    const begun = await beginSending(claim, templates, limits, ANSWER_WITHIN_MS);
    const going = new Set(
      begun.filter(({ verdict }) => verdict === 'send').map(({ applicationId }) => applicationId),
    );
    return {
      claimed: messages.length,
      outgoing: ready.filter(({ applicationId }) => going.has(applicationId)),
    };
  });
  if (turn === null) return 0;
  await Promise.all(
    turn.outgoing.map(async (message) => conclude(context, message, await channel.send(message, signal))),
  );
  return turn.claimed;
}

/** What may go out now, and what has to wait for its contact window or has nobody to go to any more. */
function sort(messages: readonly ClaimedMessage[], windows: ContactWindows, now: Date) {
  const ready: OutgoingMessage[] = [];
  const later: PutOff[] = [];
  for (const message of messages) {
    const { applicationId, phone, name, type } = message;
    if (phone === null || name === null) {
      later.push({ applicationId, status: 'cancelled', dueAt: now, reason: 'erased' });
      continue;
    }
    const window = windowState(windows, countryOfPhone(phone), type, now);
    if (window.open) {
      ready.push(composeMessage({ ...message, phone, name, attempt: message.attempts + 1 }));
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
  { database, attempts }: DeliveryContext,
  { applicationId, attempt, template }: OutgoingMessage,
  result: SendResult,
): Promise<void> {
  if (result.kind === 'pause_sender') await pauseSender(database, result.reason).catch(ignore);
  if (result.kind === 'pause_template')
    await pauseTemplate(database, template.name, result.reason).catch(ignore);
  if (result.kind === 'opted_out') await suppressApplicant(database, applicationId).catch(ignore);
  const outcome = outcomeOf(result, attempt, Math.random());
  await attempts.record({ applicationId, attempt, outcome });
}

function ignore(): void {}
