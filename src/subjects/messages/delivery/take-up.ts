/** Takes up due messages: claims them, decides on each one, and marks those that go out now as sending. */

import {
  type ApplicationId,
  applicationOfMessage,
  type BatchId,
  type MessageId,
} from '../../../domain/application/ids.ts';
import { composeMessage, type MessageSource } from '../../../domain/message/compose-message.ts';
import { type ContactWindows, windowState } from '../../../domain/message/contact-window.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import { countryOfPhone } from '../../../domain/phone/phone-country.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { againAfterConflict } from '../../../ground/postgres/conflicts.ts';
import type { Database, Transaction } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { PersonalFault } from '../../applications/sql/personal-data.ts';
import { MAX_TRIES } from '../rules/after-send.ts';
import { beginSending, type Ready, type SenderLimits } from '../sql/begin.ts';
import { type Claimed, type ClaimedMessage, ClaimFault, claimDue } from '../sql/claim.ts';
import { type Deferral, defer, setAside } from '../sql/deferral.ts';
import { tellFailed } from '../sql/failed-messages.ts';

export interface TakeUpContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly limits: SenderLimits;
  readonly windows: ContactWindows;
  /** Messages that go out at any hour. Only the simulator has any. */
  readonly released?: ReadonlySet<MessageId>;
}

/**
 * Why messages of a batch cannot be sent as they are stored (docs/messages.md): `unreadable` personal data, personal
 * data of another row (`mismatch`), or other stored data that makes composing them fail (`unsendable`, with `error`).
 * Of `unknown_key` this process does not have the data key: these messages wait.
 */
export interface MessageFault {
  readonly reason: PersonalFault | 'unsendable';
  readonly applicationIds: readonly ApplicationId[];
  /** null if it is not known. */
  readonly batchId: BatchId | null;
  readonly error: unknown;
}

/** Most messages of one turn. Their sends start together. */
const CLAIM_LIMIT = 250;
/** How long a send and its record may take. The channel gives up after a sixth of this time. */
export const ANSWER_WITHIN_MS = 60_000;
/** How long a message is deferred after its data made the turn fail. */
const SET_ASIDE_MS = 15 * 60_000;
/** How long a message waits first for a process that has its data key; `put_off` makes further waits longer. */
const KEY_WAIT_MS = 60_000;

/** The messages that one turn took up. */
interface Taken {
  readonly claimed: number;
  readonly outgoing: readonly Ready[];
  readonly faults: readonly MessageFault[];
}

/**
 * Claims messages and decides on each. If the data of one message makes this fail, the next claim takes half as many
 * messages. A message that fails alone is deferred, and fails for good after its last try; the others go out with the
 * next turn.
 */
export async function takeUp(context: TakeUpContext, stopping: AbortSignal | undefined): Promise<Taken> {
  const { database, limits } = context;
  for (let limit = CLAIM_LIMIT; ; ) {
    try {
      const taken = await againAfterConflict(() =>
        claimDue(context, limit, limits.messagesPerSecond, async (claimed, claim) => {
          const begun = await beginClaimed(context, claimed, claim);
          stopping?.throwIfAborted();
          return { claimed: claimed.messages.length, ...begun };
        }),
      );
      return taken ?? { claimed: 0, outgoing: [], faults: [] };
    } catch (error) {
      if (stopping?.aborted || !(error instanceof ClaimFault)) throw error;
      const { messageIds, cause } = error;
      limit = Math.ceil(messageIds.length / 2);
      if (messageIds.length > 1) continue;
      for (const messageId of messageIds) {
        await setAside(database, messageId, {
          maxTries: MAX_TRIES,
          reason: 'unsendable',
          afterMs: SET_ASIDE_MS,
        });
      }
      const applicationIds = messageIds.map(applicationOfMessage);
      const fault = { reason: 'unsendable', applicationIds, batchId: null, error: cause } as const;
      return { claimed: 1, outgoing: [], faults: [fault] };
    }
  }
}

/** Puts off or ends what does not go out now; returns what goes out, marked as sending. */
async function beginClaimed(
  context: TakeUpContext,
  { messages, lastPartnerId, now }: Claimed,
  claim: Transaction,
): Promise<Omit<Taken, 'claimed'>> {
  const { ready, later, faults } = splitByReadiness(messages, context, now);
  await defer(claim, later);
  const sending = await beginSending(claim, ready, lastPartnerId, context.limits, ANSWER_WITHIN_MS);
  await tellFailed(
    claim,
    faults.filter(({ reason }) => reason !== 'unknown_key').map(({ message }) => message),
  );
  const outgoing = ready.filter(({ message }) => sending.has(message.messageId));
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
  { windows, released }: Pick<TakeUpContext, 'windows' | 'released'>,
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
        const window = windowState(windows, countryOfPhone(message.phone), message.type, now);
        if (window.open || released?.has(messageId)) ready.push(readyOf(message));
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

function readyOf(message: ClaimedMessage & MessageSource): Ready {
  return { message: composeMessage(message), partnerId: message.partnerId, tries: message.tries };
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
