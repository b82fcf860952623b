/**
 * `npm run bench:submit`: measures what `ventanilla submit` costs. First the CPU of the client for 10,000 and 100,000
 * applicants, against the CPU of the service and its database. Then time and memory of dry runs of a million rows. The
 * exit code is 1 where a bar is missed. Linux only. `--rows N` for the dry runs, `--only NAME` for measurements with
 * NAME in their name: start, send, csv, jsonl, json, xlsx.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bar, judge, number } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { median } from './phase.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';
import { writeApplicants } from './submit-files.ts';
import { benchStart } from './submit-start.ts';

const options = readOptions({
  rows: { default: '1000000', about: 'rows of the large files' },
  only: { default: '', about: 'measurements with this in their name alone' },
});
const rows = numberOption('rows', options.rows, 1);
const chosen = (name: string) => name.includes(options.only);
/** Numbers of applicants, and how often each number is sent. */
const SENT = [
  [10_000, 9],
  [100_000, 3],
] as const;
const START_ROUNDS = 5;
/** The unit in which Linux counts CPU. */
const TICK_MS = 10;

const folder = mkdtempSync(join(tmpdir(), 'ventanilla-submit-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

interface Used {
  readonly cpuMs: number;
  readonly rssMiB: number;
  readonly seconds: number;
}

function submit(args: readonly string[], apiKey = ''): Promise<Used> {
  const start = performance.now();
  const child = spawn(process.execPath, [join(import.meta.dirname, 'submit-process.js'), 'submit', ...args], {
    env: { ...process.env, VENTANILLA_API_KEY: apiKey },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      const last = err.trim().split('\n').at(-1) ?? '';
      if (code !== 0) reject(new Error(`exit ${code}: ${err}`));
      else resolve({ ...JSON.parse(last), seconds: (performance.now() - start) / 1000 });
    });
  });
}

/** CPU of a process and of all processes below it, also ended ones, in milliseconds. */
function cpuOf(pid: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const fields = statOf(Number(name));
    if (fields === null || (Number(name) !== pid && Number(fields[1]) !== pid)) continue;
    ticks += Number(fields[11]) + Number(fields[12]);
    if (Number(name) === pid) ticks += Number(fields[13]) + Number(fields[14]);
  }
  return ticks * TICK_MS;
}

/** The fields after the program's name. */
function statOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** The parts that stay the same from round to round. */
interface Ends {
  readonly service: ServiceProcess;
  readonly postmaster: number;
  /** CPU of starting the program, in milliseconds. */
  readonly start: number;
}

async function benchSending(): Promise<Bar[]> {
  const service = await startServiceProcess();
  const backend = await service.admin.query('SELECT pg_backend_pid() AS pid');
  const postmaster = Number(statOf(backend.rows[0].pid)?.[1]);
  const small = join(folder, 'one.csv');
  await writeApplicants(small, 1);
  const starts: number[] = [];
  for (let round = 1; round <= START_ROUNDS; round += 1) {
    starts.push((await submit([small, '--url', service.url, '--sandbox', '--yes'], service.apiKey)).cpuMs);
  }
  const start = median(starts);
  console.log(`client, 1 applicant: ${number(start)} ms of CPU (starting the program)`);
  const bars: Bar[] = [];
  for (const [count, rounds] of SENT)
    bars.push(await sendRounds({ service, postmaster, start }, count, rounds));
  await service.stop();
  return bars;
}

const EMPTY = `TRUNCATE batches, open_phones, application_states, review_queue, review_items, backlog_counts, application_events,
  outbox, leases, message_records, waiting_messages, waiting_rejections, message_counts`;

async function sendRounds({ service, postmaster, start }: Ends, count: number, rounds: number): Promise<Bar> {
  const ratios: { whole: number; own: number }[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const path = join(folder, `sent-${count}-${round}.csv`);
    await writeApplicants(path, count);
    await service.admin.query(EMPTY);
    const before = { service: cpuOf(service.pid), database: cpuOf(postmaster) };
    const client = await submit([path, '--url', service.url, '--yes'], service.apiKey);
    const node = cpuOf(service.pid) - before.service;
    const database = cpuOf(postmaster) - before.database;
    const own = client.cpuMs - start;
    ratios.push({ whole: client.cpuMs / (node + database), own: own / (node + database) });
    console.log(
      `round ${round}, ${number(count)} applicants in ${number(client.seconds, 1)} s: client ${number(client.cpuMs)} ms` +
        ` (${number(own)} beyond its start), service ${number(node)} ms and its database ${number(database)} ms`,
    );
  }
  const [own, whole] = [median(ratios.map((one) => one.own)), median(ratios.map((one) => one.whole))];
  console.log(
    `median client/(service and database) of ${number(count)}: ${number(own, 2)} beyond its start,` +
      ` ${number(whole, 2)} with it`,
  );
  const name = `client/(service and database), ${number(count)} applicants`;
  return { name, figure: own, direction: 'at most', bound: 0.5 };
}

async function benchDryRuns(): Promise<Bar[]> {
  const bars: Bar[] = [];
  for (const format of ['csv', 'jsonl', 'json', 'xlsx'].filter(chosen)) {
    const path = join(folder, `many.${format}`);
    await writeApplicants(path, rows);
    const used = await submit([path, '--dry-run']);
    console.log(
      `dry run, ${number(rows)} rows of ${format}: ${number(used.cpuMs / 1000, 1)} s of CPU, ` +
        `${number(used.seconds, 1)} s, ${number(used.rssMiB)} MiB at most`,
    );
    rmSync(path);
    // docs/submit.md promises this bound.
    const name = `memory of a dry run, ${format}`;
    bars.push({ name, figure: used.rssMiB, direction: 'at most', bound: 200, unit: 'MiB' });
  }
  return bars;
}

const sending = chosen('send') ? await benchSending() : [];
const starting = chosen('start') ? benchStart() : [];
judge([...starting, ...sending, ...(await benchDryRuns())]);
