/**
 * `npm run bench:large`: what operators do on a store with many applications: `ventanilla status`, and `subject erase`
 * of persons whose applications lie in closed partitions and in the open one. Whole commands, beside a service without
 * load. The exit code is 1 where a bar is missed. `--stored N` applications, `--rounds N` commands of each kind.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type Applicant, applicant } from './applicants.ts';
import { judge, number } from './bars.ts';
import { fillStore } from './fill.ts';
import { numberOption, readOptions } from './options.ts';
import { median } from './phase.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const options = readOptions({
  stored: { default: '20000000', about: 'applications in the store' },
  rounds: { default: '9', about: 'commands of each kind' },
});
const stored = numberOption('stored', options.stored, 100);
const rounds = numberOption('rounds', options.rounds, 1);

const service = await startServiceProcess();
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
  for (const [name, times] of Object.entries({ status, oldest, newest })) {
    console.log(`${name.padEnd(8)} ${times.map((ms) => number(ms)).join(' ')} ms`);
  }
  const bar = { direction: 'at most', unit: 'ms' } as const;
  judge([
    { ...bar, name: 'status, whole command', figure: median(status), bound: 300 },
    { ...bar, name: 'erase from a closed partition, whole command', figure: median(oldest), bound: 1_000 },
    { ...bar, name: 'erase from the open partition, whole command', figure: median(newest), bound: 1_000 },
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

/** The times of commands on the store of the service, in milliseconds. */
async function time(commands: readonly string[][]): Promise<number[]> {
  const env = { ...process.env, DATA_DIR: service.dataDir };
  const times: number[] = [];
  for (const command of commands) {
    const begunMs = performance.now();
    const child = spawn(process.execPath, ['src/start.js', ...command], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [fault] = await Promise.all([text(child.stderr), once(child, 'close')]);
    // Of status 1 says that something is wrong with the store, such as messages that nobody sends.
    if (child.exitCode !== 0 && command[0] !== 'status') throw new Error(fault);
    times.push(performance.now() - begunMs);
  }
  return times;
}
