/**
 * `npm run bench`: how fast the service is against what its database can do at most, in one interleaved run.
 * `--seconds N` a phase, `--rounds N`, `--only NAME` phases whose name contains it. `--stored N` also measures a
 * service with N applications in its store, and a fifth as much used quota, in turn with the empty one.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { measureCpu } from './cpu.ts';
import { fillStore } from './fill.ts';
import { type Measured, median, worker } from './phase.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1.5' },
    rounds: { type: 'string', default: '3' },
    stored: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
  },
});
const ms = Number(options.seconds) * 1000;
const rounds = Number(options.rounds);
const stored = Number(options.stored);
const CAP = 1_000_000_000;

const empty = await startServiceProcess();
await empty.admin.query(await readFile(new URL('./ceiling.sql', import.meta.url), 'utf8'));
const delivering = await startServiceProcess({ DELIVERY: 'on', CHANNEL: 'log', MESSAGES_PER_SECOND: 'none' });
const services = [empty, delivering];
const load = worker('./load.ts');
const ceiling = worker('./ceiling.ts');
let stream = 1;
const serve =
  (
    concurrency: number,
    size: number,
    cap: number | null = null,
    { url, apiKey, admin }: ServiceProcess = empty,
  ) =>
  async () => {
    await admin.query('UPDATE api_keys SET daily_cap = $1', [cap]);
    return load.run({ url, apiKey, concurrency, size, ms, stream: stream++ });
  };
const direct = (concurrency: number, size: number) => () => {
  const statements = Math.ceil((ms / 1000) * (size === 1 ? 40_000 : 2_500));
  const { connectionString } = empty;
  return ceiling.run({ connectionString, concurrency, size, ms, stream: stream++, statements });
};
const delivered: number[] = [];
const deliveredAlone: number[] = [];
const setPaused = (isPaused: boolean) =>
  delivering.admin.query('UPDATE sender SET paused_at = CASE WHEN $1 THEN now() END', [isPaused]);
/** What a phase resolves to, and how many messages a second the delivering service sent meanwhile. */
const countDelivered = async <T>(phase: () => Promise<T>, rates: number[]): Promise<T> => {
  const text = "SELECT count(*)::integer AS count FROM messages WHERE status = 'accepted'";
  const count = async () => (await delivering.admin.query(text)).rows[0].count as number;
  const before = await count();
  const start = performance.now();
  const result = await phase();
  rates.push(((await count()) - before) / ((performance.now() - start) / 1000));
  return result;
};
/** Lets the delivering service work off its outbox while the phase lasts. */
const withDelivery = (phase: () => Promise<Measured>) => async () => {
  await setPaused(false);
  const result = await countDelivered(phase, delivered);
  await setPaused(true);
  return result;
};
const deliverAlone = async () => {
  await setPaused(false);
  // A worker that found nothing looks again after half a second.
  await sleep(600);
  await countDelivered(() => sleep(ms), deliveredAlone);
  await setPaused(true);
};
await setPaused(true);
const phases: Record<string, () => Promise<Measured>> = {
  'ceiling: 100 each, 4 connections': direct(4, 100),
  'service: 100 each, concurrency 16': serve(16, 100),
  'service: 100 each, concurrency 16, capped': serve(16, 100, CAP),
  'service: 100 each, concurrency 1': serve(1, 100),
  'ceiling: 1 each, 64 connections': direct(64, 1),
  'service: 1 each, concurrency 64': serve(64, 1),
  'service: 1 each, concurrency 16': serve(16, 1),
  'service: 1 each, concurrency 1': serve(1, 1),
  'delivering: 100 each, concurrency 16': withDelivery(serve(16, 100, null, delivering)),
};
if (stored > 0) {
  const full = await startServiceProcess();
  services.push(full);
  await fillStore(full.admin, stored);
  phases['full store: 100 each, concurrency 16'] = serve(16, 100, null, full);
  phases['full store: 100 each, concurrency 16, capped'] = serve(16, 100, CAP, full);
}
const chosen = Object.entries(phases).filter(([name]) => name.includes(options.only));
const results = new Map<string, Measured[]>(chosen.map(([name]) => [name, []]));
for (const [, run] of chosen) await run();
for (let round = 0; round < rounds; round += 1) {
  for (const [name, run] of chosen) results.get(name)?.push(await run());
  if (delivered.length > 0) await deliverAlone();
}

const of = (name: string, figure: keyof Measured) =>
  median((results.get(name) ?? []).map((one) => one[figure]));
const number = (value: number, digits = 0) =>
  value.toLocaleString('en-US', { maximumFractionDigits: digits });
console.log(
  `\n${rounds} interleaved rounds of ${options.seconds} s, medians${stored > 0 ? `; the full store began with ${number(stored)} applications` : ''}`,
);
for (const [name] of chosen) {
  console.log(
    `${name.padEnd(44)}${number(of(name, 'applicationsPerSecond')).padStart(9)} applications/s   p50 ${number(of(name, 'p50'), 2)} ms   p99 ${number(of(name, 'p99'), 2)} ms`,
  );
}
const ratio = (over: string, under: string) => {
  const pairs = (results.get(over) ?? []).map(
    (one, index) =>
      one.applicationsPerSecond / (results.get(under)?.[index]?.applicationsPerSecond ?? Number.NaN),
  );
  return number(median(pairs), 2);
};
console.log(`
of the ceiling, 100 each, concurrency 16         ${ratio('service: 100 each, concurrency 16', 'ceiling: 100 each, 4 connections')}   (at least 0.7)
capped against uncapped                          ${ratio('service: 100 each, concurrency 16, capped', 'service: 100 each, concurrency 16')}   (at least 0.8)
1 each at 64 against one statement a request     ${ratio('service: 1 each, concurrency 64', 'ceiling: 1 each, 64 connections')}   (at least 2)
delivering flat out against not delivering        ${ratio('delivering: 100 each, concurrency 16', 'service: 100 each, concurrency 16')}   (at least 0.85), ${number(median(delivered))} messages/s
delivering alone                                 ${number(median(deliveredAlone))} messages/s   (at least 5,000)
p99 against p50, 100 each, concurrency 16        ${number(of('service: 100 each, concurrency 16', 'p99') / of('service: 100 each, concurrency 16', 'p50'), 1)}   (under 4)`);
if (stored > 0) {
  const capped = ratio(
    'full store: 100 each, concurrency 16, capped',
    'service: 100 each, concurrency 16, capped',
  );
  console.log(`full store against empty                         ${ratio('full store: 100 each, concurrency 16', 'service: 100 each, concurrency 16')}   (at least 0.83)
the same, capped                                 ${capped}   (at least 0.83)`);
}

load.stop();
ceiling.stop();
for (const service of services) await service.stop();

const cpu = measureCpu();
console.log('\nCPU of the service an application, microseconds');
for (const [name, microseconds] of Object.entries(cpu.steps)) {
  console.log(`  ${name.padEnd(30)}${number(microseconds, 2).padStart(6)}`);
}
console.log(`  ${'together'.padEnd(30)}${number(cpu.total, 2).padStart(6)}   (at most 10)`);
