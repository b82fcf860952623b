/**
 * `npm run drill:failover`: PostgreSQL under Patroni, etcd and HAProxy as Debian packages them, the service before
 * them, partners that send all the time, and a primary that is killed with SIGKILL `--kills N` times. The exit code
 * is 1 if an acknowledged application is missing afterwards, an application is stored twice, a message went out
 * twice, or a message did not go out though the store says so. `--through haproxy` gives the service the HAProxy's
 * address instead of all nodes'; `--nodes N` sets the number of nodes; `--only NAME` runs the kills whose name
 * contains NAME.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { numberOption, readOptions } from '../../bench/options.ts';
import { Cluster } from './cluster.ts';
import { requirePrograms } from './debian.ts';
import { Load } from './load.ts';
import { compareMessages } from './messages.ts';
import type { Node } from './node.ts';
import { startService } from './service.ts';

const SENDERS = 6;
/** All goes well for this long before the next kill. */
const CALM_MS = 2_000;

/** Ways to lose a primary. The killed part is started again when another node leads. */
const KILLS: ReadonlyMap<string, (primary: Node) => Promise<void>> = new Map([
  ['its PostgreSQL', async (primary) => primary.killPostgres()],
  // The old primary runs on and does not know that another one is elected.
  ['its Patroni', (primary) => primary.killPatroni()],
  [
    'both, as with its machine',
    async (primary) => {
      await primary.killPatroni();
      primary.killPostgres();
    },
  ],
]);

const values = readOptions({
  kills: { default: '21', about: 'how many primaries are killed' },
  nodes: { default: '3', about: 'machines of the cluster' },
  only: { default: '', about: 'runs only kills whose name contains this' },
  through: { default: 'hosts', about: 'how the service connects: hosts or haproxy' },
});
const kills = numberOption('kills', values.kills, 1);
const nodes = numberOption('nodes', values.nodes, 2);
const through = values.through;
const ways = [...KILLS].filter(([name]) => name.includes(values.only));
if ((through !== 'hosts' && through !== 'haproxy') || ways.length === 0) {
  console.error('error: --through must be hosts or haproxy, --only a part of the name of a kill');
  process.exit(1);
}
requirePrograms();

const start = performance.now();
const cluster = await Cluster.start(nodes, through);
const logFile = join(cluster.folder, 'service.log');
const { service, url, apiKey } = await startService(cluster.url, logFile);
const load = new Load(url, apiKey, SENDERS);
await load.flows();
say(`${nodes} nodes and a service through ${through}; logs in ${cluster.folder}`);
const gaps: { way: string; ms: number }[] = [];
for (let count = 1; count <= kills; count += 1) {
  const [way, kill] = ways[(count - 1) % ways.length] as (typeof ways)[number];
  await sleep(CALM_MS);
  const primary = await cluster.whole();
  load.takeLongestGap();
  await kill(primary);
  const next = await cluster.next(primary);
  await load.flows();
  await primary.start();
  await cluster.whole();
  await load.flows();
  const ms = load.takeLongestGap();
  gaps.push({ way, ms });
  say(`kill ${count}: ${primary.name} loses ${way}; ${next.name} leads; ${seconds(ms)} between two 200s`);
}
await load.stop();
const stored = await cluster.applications();
const messages = compareMessages(logFile, stored, await cluster.messages());
const { code } = await service.stop();
await report();

async function report(): Promise<void> {
  const inStore = new Set(stored);
  const lost = load.ids.filter((id) => !inStore.has(id)).length;
  const doubled = stored.length - inStore.size + (load.ids.length - new Set(load.ids).size);
  const unknown = stored.length - (load.ids.length - lost);
  const answers = [...load.answers].map(([answer, count]) => `${answer}: ${count.toLocaleString('en-US')}`);
  console.log(`\nanswers: ${answers.join(', ')}`);
  for (const [way] of ways) {
    const of = gaps.filter((gap) => gap.way === way).map(({ ms }) => ms);
    if (of.length === 0) continue;
    const median = of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)] as number;
    console.log(
      `${way}: ${of.length} kills; without a 200 ${seconds(median)} (median), ${seconds(Math.max(...of))} at most`,
    );
  }
  console.log(`longest gap between two 200s: ${seconds(Math.max(...gaps.map(({ ms }) => ms)))}`);
  console.log(
    `${load.ids.length.toLocaleString('en-US')} applications acknowledged, ${lost} lost, ${doubled + unknown} doubled, in ${gaps.length} kills`,
  );
  console.log(
    `${messages.sent.toLocaleString('en-US')} messages sent, ${messages.doubled} of them twice; ${messages.uncertain} uncertain, of these ` +
      `${messages.uncertainSent} sent; ${messages.wrong} with another end`,
  );
  const isStrange = [...load.answers.keys()].some((answer) => ![200, 500, 'closed'].includes(answer));
  const areMessagesGood = messages.doubled === 0 && messages.wrong === 0;
  const isGood = lost === 0 && doubled === 0 && unknown === 0 && areMessagesGood && !isStrange && code === 0;
  if (!isGood)
    console.error(`FAILED${code === 0 ? '' : `: the service ended with ${code}`}; logs in ${cluster.folder}`);
  cluster.stop(!isGood);
  process.exit(isGood ? 0 : 1);
}

function say(text: string): void {
  console.log(`at ${seconds(performance.now() - start)}: ${text}`);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
