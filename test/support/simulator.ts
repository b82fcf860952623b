/** The simulator's page on a listener of its own, with a worker that delivers to the simulator, as in `serve`. */
import type { Heard } from '../../src/domain/message/channel-event.ts';
import type { ContactWindows } from '../../src/domain/message/contact-window.ts';
import type { Clock } from '../../src/ground/base/clock.ts';
import { healthApi } from '../../src/listeners/ops/health-api.ts';
import { channelNotices, messageResults } from '../../src/subjects/messages/delivery/records.ts';
import { deliverReplies } from '../../src/subjects/messages/delivery/reply-turn.ts';
import { startSending } from '../../src/subjects/messages/delivery/sending.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { Simulator } from '../../src/subjects/simulator/channel.ts';
import type { SimulatorFaults } from '../../src/subjects/simulator/faults.ts';
import { addSimulatorPage } from '../../src/subjects/simulator/page.ts';
import type { TestDatabase } from './database.ts';
import { keeping } from './delivery-context.ts';
import { PATIENCE_MS } from './eventually.ts';
import { replyContext } from './replies.ts';

/** Timers of the simulator and of its workers take this part of their time: a message is under way for 0.6 s. */
export const HURRY = 20;

/** Call this at the top of a test file; `url` is without `/simulator`. */
export async function simulatorPage(
  { database, vault, clock, stopFirst }: TestDatabase,
  windows: ContactWindows = new Map(),
): Promise<{
  url: string;
  /** Sends a request as if from this address, without a network. */
  from(address: string, path: string): Promise<{ statusCode: number; body: string }>;
  simulator: Simulator;
  /** What the listeners of persons' messages heard, in order. */
  heard: Heard[];
  setFaults(faults: Partial<SimulatorFaults>): void;
  /** What the channel tells waits until the returned function is called. */
  holdEvents(): () => void;
}> {
  const hurried: Clock = {
    ...clock,
    sleep: (ms, options) => clock.sleep(ms / HURRY, options),
    after: (ms, ring, options) => clock.after(ms / HURRY, ring, options),
  };
  const heard: Heard[] = [];
  const hear = async (some: readonly Heard[]) => void heard.push(...some);
  let told = Promise.resolve();
  const simulator = new Simulator(async (events) => {
    await told;
    await applyChannelEvents({ database, vault, hear }, events);
  }, hurried);
  const forgetting = { ...keeping({ database, clock }), keepTryingMs: PATIENCE_MS, onLost: () => {} };
  const context = {
    database,
    vault,
    clock,
    channel: simulator,
    limits: {
      messagesPerSecond: null,
      pairMs: 0,
      recipientsPerDay: null,
      messagesPerPhone: null,
      rejectionsPerPhone: null,
    },
    windows,
    released: simulator.released,
    results: messageResults(forgetting),
    notices: channelNotices(forgetting),
    onFault() {},
  };
  const worker = startSending({
    clock: hurried,
    turn: (signal) => deliverDue(context, signal),
    onError: () => {},
  });
  const replies = replyContext({ database, vault, clock }, simulator);
  const replyWorker = startSending({
    clock: hurried,
    turn: (signal) => deliverReplies(replies, signal),
    onError: () => {},
  });
  const ops = healthApi({ alive: () => true, ready: async () => true }, clock);
  addSimulatorPage(ops, { database, vault, simulator }, (hostname) => `http://${hostname}:8080/docs`);
  const url = await ops.listen({ host: '127.0.0.1', port: 0 });
  stopFirst(async () => {
    await ops.close();
    await worker.stop();
    await replyWorker.stop();
    await Promise.all([worker.ended, replyWorker.ended]);
    await simulator.close();
  });
  return {
    url,
    from: (remoteAddress, url) => ops.inject({ url, remoteAddress, headers: { host: 'localhost' } }),
    simulator,
    heard,
    setFaults(faults) {
      simulator.faults = { ...simulator.faults, ...faults };
    },
    holdEvents() {
      const { promise, resolve } = Promise.withResolvers<void>();
      told = promise;
      return resolve;
    },
  };
}
