/**
 * `npm run soak`: partners send batches, workers send messages, and programs, database, network, channel and clocks
 * fail, one after the other, for `--minutes N`. A ledger outside of the service checks the service's promises; the
 * exit code is 1 if one is broken. `--seed N` repeats the faults and batches of a run, but not their timing. `--only
 * NAME` runs the faults whose name contains NAME.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { numberOption, readOptions } from '../../bench/options.ts';
import { SETTLE_AFTER_MS } from '../../src/messages/rules/after-send.ts';
import { changeSelection } from '../../src/messages/sql/message-selection.ts';
import { findLost } from '../../src/messages/sql/upkeep.ts';
import { toPartnerId } from '../../src/partners/rules/credential.ts';
import { hurry, runToEnd, tally } from '../support/delivery-run.ts';
import { endLeases } from '../support/messages.ts';
import { endWaits } from '../support/pushes.ts';
import { Random } from '../support/random.ts';
import { attack, FAULTS, isPossible, type Scene } from './faults.ts';
import { Ledger } from './ledger.ts';
import { Promises } from './promises.ts';
import { type Stage, startStage } from './stage.ts';
import { Traffic } from './traffic.ts';
import { Watch } from './watch.ts';

const RECOVERY_WITHIN_MS = 60_000;
const MESSAGES_WITHIN_MS = 5 * 60_000;
const MEMORY_WITHIN_MS = 30_000;
/** How much more memory a service may hold after an attack than before. */
const MEMORY_MIB = 300;

const values = readOptions({
  minutes: { default: '10', about: 'how long faults are dealt' },
  seed: { default: String(Date.now() % 1_000_000), about: 'repeats the faults and batches of a run' },
  only: { default: '', about: 'runs only faults whose name contains this' },
});
const endsAt = performance.now() + numberOption('minutes', values.minutes, 0.1) * 60_000;
const seed = numberOption('seed', values.seed, 0);
console.log(`soak of ${values.minutes} minutes, --seed ${seed}`);

const start = performance.now();
const random = new Random(seed);
const promises = new Promises();
const ledger = new Ledger();
const stage = await startStage();
const attacker = await stage.addPartner('Flood', 50_000, false);
const partners = [
  await stage.addPartner('Acme', null, true),
  await stage.addPartner('Capped', 3_000, true),
  await stage.addPartner('Nearly closed', 50, true),
];
const scene: Scene = { stage, promises, random: random.fork(), attacker };
stage.endpoint.failBy(random.fork());
const watch = new Watch(stage, promises);
const traffics = [...partners, ...partners].map(
  (partner) => new Traffic(stage.url, partner, ledger, promises, random.fork()),
);
const channelDay = keepDelivering();
const counts = await doFaults();
console.log(`at ${seconds()}: the last attacks`);
await checkMemory();
console.log(`at ${seconds()}: the faults are over; counting`);
await Promise.all(traffics.map((traffic) => traffic.stop()));
for (const traffic of traffics) await traffic.replay();
await channelDay.stop();
await watch.stop();
await checkMessages(stage);
await stage.endpoint.check(stage.store.database, stage.vault, promises);
await ledger.check(stage.store.database, stage.vault, [attacker], promises);
for (const { rule, broken } of await stage.store.check()) {
  promises.hold('invariants', broken === 0, () => `${broken} times: ${rule}`);
}
await checkDeadlocks();
await checkStops();
await stage.stop(!promises.areKept);

console.log(
  `\n${[...counts].map(([name, count]) => `${String(count).padStart(9)} times  ${name}`).join('\n')}`,
);
console.log(
  `\n${ledger.acknowledged.toLocaleString('en-US')} applications were acknowledged, and ${stage.api.accepted.size.toLocaleString('en-US')} messages taken`,
);
console.log(
  `/healthz took at most ${Math.round(watch.slowest)} ms, the service at most ${Math.round(watch.mostMemory)} MiB\n`,
);
console.log(promises.summary());
if (promises.areKept) console.log(`\nall promises are kept after ${seconds()}`);
else {
  console.error(
    `\nFAILED: promises are broken. Logs: ${stage.folder}. Again: npm run soak -- --minutes ${values.minutes} --seed ${seed}`,
  );
  process.exitCode = 1;
}

/** Deals the faults like a pack of cards, shuffled each time, until the time is over. */
async function doFaults(): Promise<Map<string, number>> {
  const names = [...FAULTS.keys()].filter((name) => name.includes(values.only) && isPossible(name));
  const done = new Map<string, number>(names.map((name) => [name, 0]));
  let pack: string[] = [];
  while (performance.now() < endsAt && names.length > 0) {
    if (pack.length === 0) pack = random.shuffled(names);
    const name = pack.pop() as string;
    console.log(`at ${seconds()}: ${name}`);
    await checkDeadlocks();
    await FAULTS.get(name)?.(scene);
    done.set(name, (done.get(name) ?? 0) + 1);
    await checkRecovery(name);
    await sleep(random.between(0, 1_000));
  }
  return done;
}

async function checkRecovery(fault: string): Promise<void> {
  const before = traffics.map(({ registered }) => registered);
  const from = performance.now();
  while (performance.now() - from < RECOVERY_WITHIN_MS) {
    if (traffics.some(({ registered }, index) => registered > (before[index] as number))) {
      promises.hold('recovery', true, () => '');
      return;
    }
    // A service that died by itself is started again, and its death is reported.
    if (stage.service.pid === null) {
      promises.hold('recovery', false, () => `the service ended: ${fault}`);
      await stage.service.start();
    }
    await sleep(50);
  }
  promises.hold('recovery', false, () => `nothing is registered after ${RECOVERY_WITHIN_MS} ms: ${fault}`);
}

async function checkMemory(): Promise<void> {
  const before = stage.service.memory;
  if (before === null) return;
  await attack(scene, 'pipelined requests of clients that leave');
  await attack(scene, 'large webhooks without a signature');
  await attack(scene, 'a flood of batches by one partner');
  const from = performance.now();
  const isBack = () => (stage.service.memory ?? Number.POSITIVE_INFINITY) < before + MEMORY_MIB;
  while (!isBack() && performance.now() - from < MEMORY_WITHIN_MS) await sleep(200);
  promises.hold(
    'memory',
    isBack(),
    () => `${Math.round(before)} MiB before, ${Math.round(stage.service.memory ?? 0)} after`,
  );
}

/** Delivers the channel's events, adds partner events, resumes pauses and shortens waits, while the faults go on. */
function keepDelivering(): { stop(): Promise<void> } {
  let isOver = false;
  const loop = (async () => {
    while (!isOver) {
      await stage.channel.deliver({ late: false });
      // A step that fails now is tried again with the next turn.
      await hurry(stage.store.database).catch(() => {});
      await stage.endpoint.addEvents(stage.store.database).catch(() => {});
      await endWaits(stage.store).catch(() => {});
      await sleep(200);
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
async function checkMessages({ store, workers, stranger, channel, api }: Stage): Promise<void> {
  await Promise.all([...workers, stranger].map((worker) => worker.stop()));
  await endLeases(store.database);
  // Leaves the floods' messages out: they are many, and their ends show nothing more.
  await changeSelection(store.database, 'cancel', {
    status: 'queued',
    reason: null,
    partnerId: toPartnerId(attacker.id),
  });
  await findLost(store.database, SETTLE_AFTER_MS);
  await workers[0]?.start();
  await runToEnd(store.database, channel, MESSAGES_WITHIN_MS).catch((error: Error) =>
    promises.hold('sends', false, () => error.message),
  );
  const { rows } = await store.database.query<{ id: string }>(
    "SELECT application_id AS id FROM messages WHERE status <> 'cancelled'",
  );
  const { wrong } = await tally(
    store.database,
    rows.map(({ id }) => Number(id)),
    [api],
    channel.failed,
  );
  promises.hold('sends', wrong.length === 0, () => `${wrong.length}: ${wrong.slice(0, 5).join('; ')}`);
}

async function checkDeadlocks(): Promise<void> {
  const count = await stage.store.deadlocks().catch(() => 0);
  promises.hold('deadlocks', count === 0, () => `${count} in pg_stat_database`);
}

async function checkStops(): Promise<void> {
  for (const program of [stage.service, stage.workers[0]]) {
    const { code, ms } = (await program?.stop()) ?? { code: null, ms: 0 };
    promises.hold('stops', code === 0, () => `code ${code} after ${Math.round(ms)} ms`);
  }
}

function seconds(): string {
  return `${Math.round((performance.now() - start) / 1000)} s`;
}
