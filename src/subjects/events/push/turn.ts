/**
 * One turn of the pushes: claims what is due, reads the events, and sends each one without waiting for the others
 * (README.md). Reads and writes the store through `sql`, uses the network through the given sender.
 */
import type { PartnerEvent } from '../../../domain/event/event.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { eachApart } from '../../../ground/postgres/row-fault.ts';
import type { Begun } from '../../../program/queue/queue.ts';
import type { Vault } from '../../../seal/vault.ts';
import { renderPartnerEvent } from '../../../wire/contract/partner-event.ts';
import { readPartnerEvents } from '../sql/partner-events.ts';
import type { PushSender } from './http/sender.ts';
import { signatureHeaders } from './http/sign.ts';
import type { PushFailure } from './rules/failures.ts';
import { waitAfter } from './rules/failures.ts';
import { type ClaimedPush, claimPushes } from './sql/claim.ts';
import type { PushTarget } from './sql/endpoint-settings.ts';
import { readTargets } from './sql/endpoints.ts';
import type { PushRecord } from './sql/record.ts';

export interface PushContext {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly sender: PushSender;
  /** Resolves when the end of an attempt is stored, or lost. */
  readonly record: (record: PushRecord) => Promise<void>;
  /** Called with a push whose event, or whose endpoint, cannot be read. */
  readonly onFault: (fault: PushFault, push: ClaimedPush) => void;
}

export type PushFault = 'unreadable_event' | 'unreadable_endpoint' | 'unknown_key';

/**
 * Claims due pushes in addition to those under way, whose partners `held` has, and begins their attempts. An attempt
 * that `cut` aborts is not recorded: it is repeated after its lease.
 */
export async function pushDue(
  context: PushContext,
  held: readonly PartnerId[],
  cut: AbortSignal,
): Promise<Begun[]> {
  const { claimed, nowMs } = await claimPushes(context.database, held);
  if (claimed.length === 0) return [];
  const claimedAtMs = context.clock.monotonicMs();
  const [targets, events] = await Promise.all([
    readTargets(context.database, context.vault, [...new Set(claimed.map(({ partnerId }) => partnerId))]),
    readEvents(context, claimed),
  ]);
  return claimed.map((push) => ({
    partnerId: push.partnerId,
    ended: attempt(context, push, {
      target: targets.get(push.partnerId),
      event: events.get(keyOf(push)),
      // In seconds of the database's clock (D39).
      timestamp: Math.floor((nowMs + context.clock.monotonicMs() - claimedAtMs) / 1000),
      cut,
    }),
  }));
}

/**
 * The events of the pushes. An event that was deleted for its age is left out; an event with damaged rows is null.
 * `unknown_key`: this process does not have the data key of the applicant.
 */
async function readEvents(
  context: PushContext,
  pushes: readonly ClaimedPush[],
): Promise<Map<string, PartnerEvent | null | 'unknown_key'>> {
  const events = new Map<string, PartnerEvent | null | 'unknown_key'>();
  await eachApart(
    pushes,
    async (some) => {
      for (const event of await readPartnerEvents(context, some)) events.set(keyOf(event), event);
    },
    (push, error) => events.set(keyOf(push), error instanceof UnknownDataKeyError ? 'unknown_key' : null),
  );
  return events;
}

async function attempt(
  { sender, record, onFault }: PushContext,
  push: ClaimedPush,
  prepared: {
    /** undefined if this process does not have its data key. */
    target: PushTarget | null | undefined;
    event: PartnerEvent | null | undefined | 'unknown_key';
    timestamp: number;
    cut: AbortSignal;
  },
): Promise<void> {
  const { target, event, timestamp, cut } = prepared;
  const conclude = (result: PushRecord['result'], failure: PushFailure | null = null) =>
    record({ ...push, result, failure, waitMs: waitAfter(push.attempt, Math.random()) });
  if (event === undefined) return conclude('forgotten');
  // Records nothing: when the lease ends, a process that has the key may take the push.
  if (event === 'unknown_key' || target === undefined) return onFault('unknown_key', push);
  if (event === null || target === null) {
    onFault(event === null ? 'unreadable_event' : 'unreadable_endpoint', push);
    return conclude('unsent');
  }
  const body = JSON.stringify(renderPartnerEvent(event));
  const headers = signatureHeaders({ id: event.id, timestamp, body }, target.secrets);
  const sent = await sender.send({ url: target.url, headers, body }, cut);
  if (sent.kind === 'delivered') return conclude('delivered');
  if (!cut.aborted) return conclude(sent.isGone ? 'gone' : 'failed', sent.failure);
}

function keyOf({ partnerId, number }: { readonly partnerId: PartnerId; readonly number: number }): string {
  return `${partnerId}:${number}`;
}
