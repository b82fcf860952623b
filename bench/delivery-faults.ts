/**
 * `npm run bench:delivery`: real workers deliver many messages to a stand-in of the channel's API, which fails a tenth
 * of the sends. Halfway one worker is killed and another takes its place. Prints the counts. The exit code is 1 where
 * a message is lost or sent twice. `--messages N`, `--workers N`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { machineClock } from '../src/ground/base/clock.ts';
import { openDatabase } from '../src/ground/postgres/open-database.ts';
import { addFaults } from '../test/support/channel-faults.ts';
import { registerApplicants, runToEnd, tally } from '../test/support/delivery-run.ts';
import { startWhatsAppApi } from '../test/support/whatsapp-api.ts';
import { judge, number } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { startServiceProcess } from './service-process.ts';

const options = readOptions({
  messages: { default: '100000', about: 'how many messages are sent' },
  workers: { default: '4', about: 'how many workers send them' },
});
const count = numberOption('messages', options.messages, 1);
const workerCount = numberOption('workers', options.workers, 1);
const LIMIT_MS = 60 * 60_000;
const REPORT_EVERY_MS = 10_000;
const REASONS = `
  SELECT concat_ws(' ', status, reason) AS reason, count(*) AS count FROM messages
  WHERE status IN ('failed', 'uncertain') GROUP BY 1 ORDER BY 1`;
const started = performance.now();
const seconds = () => `${Math.round((performance.now() - started) / 1000)} s`;
const secret = () => randomBytes(32).toString('base64');

const api = await startWhatsAppApi();
const environment = {
  ...api.environment,
  DATA_KEYS: `1:${secret()}`,
  INDEX_KEY: secret(),
  API_KEY_PEPPER: secret(),
  MESSAGES_PER_SECOND: 'none',
  // The log would have a warning for each pause.
  LOG_LEVEL: 'error',
};
const service = await startServiceProcess(environment);
const { connectionString, serviceUrl } = service;
const database = openDatabase({ connectionString }, { max: 4, onError: () => {}, clock: machineClock });
const base = service.url.replace(/\/PRO$/, '');
const faults = addFaults([api], `${base}/webhooks/whatsapp`, {
  share: 0.1,
  silent: Number.POSITIVE_INFINITY,
});

const ids = await registerApplicants(base, service.apiKey, count);
console.log(`${ids.length} applications are registered after ${seconds()}`);

const workers = Array.from({ length: workerCount }, startWorker);
process.on('exit', () => {
  for (const worker of workers) worker.kill('SIGKILL');
});
let isKilled = false;
let reportedAt = 0;
await runToEnd(database, faults, LIMIT_MS, (open) => {
  if (!isKilled && open < ids.length / 2) {
    isKilled = true;
    workers.shift()?.kill('SIGKILL');
    workers.push(startWorker());
    console.log(`${open} are open after ${seconds()}: a worker is killed`);
  }
  if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
  reportedAt = performance.now();
  console.log(`${open} are open after ${seconds()}`);
});
for (const worker of workers.splice(0)) {
  worker.kill('SIGTERM');
  await once(worker, 'exit');
}

const { states, sends, wrong } = await tally(database, ids, [api], faults.failed);
const { rows: reasons } = await database.query<{ reason: string; count: string }>(REASONS);
await database.end();
await service.stop();
await api.close();

console.log(`\nAll ended after ${seconds()}, with ${api.seen.requests} requests to the API.\n\nfaults`);
printCounts([...faults.counts].sort());
console.log('\nmessages by state');
printCounts(Object.entries(states));
console.log('\nwhy they failed or are uncertain');
printCounts(reasons.map(({ reason, count }) => [reason, Number(count)]));
console.log('\nmessages by how often the channel sent them');
printCounts(Object.entries(sends));
for (const line of wrong.slice(0, 20)) console.log(line);
judge([
  {
    name: 'lost, sent twice or ended without a reason',
    figure: wrong.length,
    direction: 'at most',
    bound: 0,
    unit: 'messages',
  },
]);

function startWorker(): ChildProcess {
  return spawn(process.execPath, ['src/main.ts', 'worker'], {
    env: { ...process.env, ...environment, DATABASE_URL: serviceUrl },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

function printCounts(counts: Iterable<readonly [name: string, count: number]>): void {
  for (const [name, count] of counts) {
    console.log(`  ${name.padEnd(30)}${number(count).padStart(9)}`);
  }
}
