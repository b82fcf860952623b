/** The simulator's page on a listener of its own, with a worker that delivers to the simulator, as in `serve`. */
import { after } from 'node:test';
import { healthApi } from '../../src/http/health-api.ts';
import { ChannelNotices } from '../../src/messages/delivery/channel-notices.ts';
import { SendResultLog } from '../../src/messages/delivery/send-result-log.ts';
import { deliverDue } from '../../src/messages/delivery/turn.ts';
import { startWorker } from '../../src/messages/delivery/worker.ts';
import { applyChannelEvents } from '../../src/messages/intake/channel-events.ts';
import type { ContactWindows } from '../../src/messages/rules/contact-window.ts';
import { Simulator, type SimulatorFaults } from '../../src/simulator/channel.ts';
import { addSimulatorPage } from '../../src/simulator/page.ts';
import type { TestDatabase } from './database.ts';

/** Call this at the top of a test file; `url` is without `/simulator`. */
export async function simulatorPage(
  { database, vault }: TestDatabase,
  windows: ContactWindows = new Map(),
): Promise<{
  url: string;
  setFaults(faults: Partial<SimulatorFaults>): void;
}> {
  const simulator = new Simulator((events) => applyChannelEvents({ database, vault }, events).then(() => {}));
  const context = {
    database,
    vault,
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
    results: new SendResultLog(
      database,
      5_000,
      () => {},
      () => {},
    ),
    notices: new ChannelNotices(
      database,
      5_000,
      () => {},
      () => {},
    ),
    onFault() {},
  };
  const worker = startWorker(
    (signal) => deliverDue(context, signal),
    () => {},
  );
  const ops = healthApi({ alive: () => true, ready: async () => true });
  addSimulatorPage(
    ops,
    { database, vault, simulator },
    'ops.example',
    (hostname) => `http://${hostname}:8080/docs`,
  );
  const url = await ops.listen({ host: '127.0.0.1', port: 0 });
  after(async () => {
    await ops.close();
    await worker.stop();
    await worker.ended;
    await simulator.close();
  });
  return {
    url,
    setFaults(faults) {
      simulator.faults = { ...simulator.faults, ...faults };
    },
  };
}
