/** The end of a run: everything that waits comes to its end on a healthy stage, and the history is put together. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCallback } from '../../src/domain/message/outgoing-message.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { SETTLE_AFTER_MS } from '../../src/subjects/messages/rules/after-send.ts';
import { changeSelection } from '../../src/subjects/messages/sql/changes/message-selection.ts';
import { findLost } from '../../src/subjects/messages/sql/upkeep.ts';
import { hurry, runToEnd } from '../../test/support/delivery-run.ts';
import { endLeases } from '../../test/support/messages.ts';
import { endWaits } from '../../test/support/pushes.ts';
import { testPatience } from '../../test/support/start-patiently.ts';
import type { History } from '../history/history.ts';
import type { PartnerKey } from './clients/world.ts';
import { dumpStore } from './dump.ts';
import type { Promises } from './promises.ts';
import type { Recorder } from './recorder.ts';
import type { Stage } from './stage.ts';

const EVERY_MS = 200;
const MESSAGES_WITHIN_MS = 5 * 60_000;
const PUSHES_WITHIN_MS = 2 * 60_000;
const LEFT = 'SELECT count(*)::integer AS count FROM pushes';
/** A worker that was killed holds its leases for half a minute. */
const END_LEASES = 'UPDATE pushes SET leased_until = now() WHERE leased_until > now()';

/** On a busy machine a statement may take longer than it may, and a run of an hour would end without a verdict. */
const patiently = <T>(step: () => Promise<T>) => testPatience().run(step);

/** Delivers the channel's events, resumes pauses and shortens waits, while the faults go on. */
export function keepDelivering({ store, channel }: Stage): { stop(): Promise<void> } {
  let isOver = false;
  const loop = (async () => {
    while (!isOver) {
      // A step that fails now is tried again with the next turn.
      await channel.deliver({ late: false }).catch(() => {});
      await hurry(store.database).catch(() => {});
      await endWaits(store).catch(() => {});
      await sleep(EVERY_MS);
    }
  })();
  return {
    stop() {
      isOver = true;
      return loop;
    },
  };
}

/** Finishes with one healthy worker; messages that killed workers left in `sending` have waited long enough. */
export async function finishMessages(
  stage: Stage,
  flood: PartnerKey | null,
  promises: Promises,
): Promise<void> {
  const { store, workers, stranger, channel } = stage;
  await Promise.all([...workers, stranger].map(({ program }) => program.stop()));
  await patiently(() => endLeases(store.database));
  // Leaves the floods' messages out: they are many, and their ends show nothing more.
  if (flood !== null) {
    const partnerId = toPartnerId(flood.id);
    const selection = { status: 'queued', reason: null, partnerId } as const;
    await patiently(() => changeSelection(store.database, 'cancel', selection));
  }
  await patiently(() => findLost(store.database, SETTLE_AFTER_MS));
  await workers[0]!.program.start();
  await patiently(() => runToEnd(store.database, channel, MESSAGES_WITHIN_MS)).then(
    () => promises.hold('ends', true, () => ''),
    (error: Error) => promises.hold('ends', false, () => error.message),
  );
}

/** Waits until nothing is left to push, with a healthy worker. */
export async function finishPushes({ store, endpoint }: Stage, promises: Promises): Promise<void> {
  endpoint.failBy(null);
  await patiently(() => store.database.query(END_LEASES));
  const giveUpAtMs = performance.now() + PUSHES_WITHIN_MS;
  const look = () => store.database.query<{ count: number }>(LEFT);
  const left = async () => (await patiently(look)).rows[0]!.count;
  while ((await left()) > 0 && performance.now() < giveUpAtMs) {
    await patiently(() => endWaits(store));
    await sleep(EVERY_MS);
  }
  const count = await left();
  promises.hold('ends', count === 0, () => `${count} pushes wait for ever`);
}

/** What clients, channel and endpoint saw, and the store as it is now. */
export async function historyOf(recorder: Recorder, stage: Stage): Promise<History> {
  const { api, channel, endpoint, store, vault } = stage;
  const sends = [...api.accepted].flatMap(([callback, messages]) => {
    const messageId = String(parseCallback(callback)?.messageId ?? 0);
    return messages.map(({ message, at }, index) => ({
      ...{ messageId, phone: message.to, atMs: recorder.msOf(at) },
      isFailed: index === 0 && channel.failed.has(callback),
    }));
  });
  return {
    ...{ partners: recorder.partners, batches: recorder.batches, reviews: recorder.reviews },
    ...{ operators: recorder.operators, deskActs: recorder.deskActs },
    ...{
      optOuts: recorder.optOuts,
      quota: recorder.quota,
      clockSteps: recorder.clockSteps,
      sends,
      pushes: endpoint.pushes,
    },
    feeds: [...recorder.feeds].map(([partnerId, events]) => ({ partnerId, events })),
    store: await patiently(() => dumpStore(store.database, vault, recorder.batches)),
  };
}
