/**
 * `npm run bench:large`: what operators do on a store with many applications: `ventanilla status`, a scrape of the
 * metrics, and `subject erase` of persons whose applications lie in closed partitions and in the open one. Whole
 * commands, beside a service without load. The exit code is 1 where a bar is missed. `--stored N` applications,
 * `--rounds N` of each kind.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { freePort } from '../test/support/free-port.ts';
import { type Applicant, applicant } from './applicants.ts';
import { judge, number } from './bars.ts';
import { fillStore } from './fill.ts';
import { scrapeTimes } from './monitoring.ts';
import { numberOption, readOptions } from './options.ts';
import { median } from './phase.ts';
import { endedChildrenCpuMs } from './processes.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const options = readOptions({
  stored: { default: '20000000', about: 'applications in the store' },
  rounds: { default: '9', about: 'scrapes, and commands of each kind' },
});
const stored = numberOption('stored', options.stored, 100);
const rounds = numberOption('rounds', options.rounds, 1);

const port = await freePort();
const service = await startServiceProcess({ METRICS_PORT: String(port) });
try {
  const persons = Array.from({ length: 2 * rounds }, (_, serial) => applicant(serial));
  const [old, young] = [persons.slice(0, rounds), persons.slice(rounds)];
  await register(service, old);
  const begunMs = performance.now();
  await fillStore(service.admin, stored);
  console.log(
    `filled with ${number(stored)} applications in ${number((performance.now() - begunMs) / 1_000)} s`,
  );
  await register(service, young);
  const scrape = await scrapeTimes(`http://127.0.0.1:${port}/metrics`, rounds);
  const status = await time(Array.from({ length: rounds }, () => ['status', '--json']));
  const erase = (some: readonly Applicant[]) =>
    time(
      some.map(({ phone }) => [
        'subject',
        'erase',
        '--phone',
        `${phone}`,
        '--reason',
        'bench',
        '--close',
        '--yes',
      ]),
    );
  const [oldest, newest] = [await erase(old), await erase(young)];
  for (const [name, { times, cpu }] of Object.entries({ status, oldest, newest })) {
    console.log(`${name.padEnd(8)} ${list(times)} ms, CPU of the command ${list(cpu)} ms`);
  }
  console.log(`scrape   ${list(scrape)} ms`);
  const bar = { direction: 'at most', unit: 'ms' } as const;
  judge([
    { ...bar, name: 'a scrape', figure: median(scrape), bound: 50 },
    { ...bar, name: 'status, whole command', figure: median(status.times), bound: 300 },
    {
      ...bar,
      name: 'erase from a closed partition, whole command',
      figure: median(oldest.times),
      bound: 1_000,
    },
    {
      ...bar,
      name: 'erase from the open partition, whole command',
      figure: median(newest.times),
      bound: 1_000,
    },
  ]);
} finally {
  await service.stop();
}

async function register({ url, apiKey }: ServiceProcess, applications: readonly Applicant[]): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ applications }),
  });
  const { results } = (await response.json()) as { results?: unknown[] };
  if (results?.length !== applications.length) throw new Error('not all applications were registered');
}

/**
 * The times of commands on the store of the service, and their CPU without that of the server, in milliseconds. The CPU
 * (0 where there is no /proc) says how much of a time is the command's own on a machine with other work.
 */
async function time(commands: readonly string[][]): Promise<{ times: number[]; cpu: number[] }> {
  const env = { ...process.env, DATA_DIR: service.dataDir };
  const [times, cpu]: [number[], number[]] = [[], []];
  for (const command of commands) {
    const [begunMs, cpuMs] = [performance.now(), endedChildrenCpuMs()];
    const child = spawn(process.execPath, ['src/start.js', ...command], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [fault] = await Promise.all([text(child.stderr), once(child, 'close')]);
    // Of status 1 says that something is wrong with the store, such as messages that nobody sends.
    if (child.exitCode !== 0 && command[0] !== 'status') throw new Error(fault);
    times.push(performance.now() - begunMs);
    cpu.push(endedChildrenCpuMs() - cpuMs);
  }
  return { times, cpu };
}

function list(values: readonly number[]): string {
  return values.map((value) => number(value)).join(' ');
}
