/**
 * The service as a user runs it: `npm start` in a process of its own, on a data directory of its own.
 *
 * Every process that is started here ends with the test file, also after a failure.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join, resolve } from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import pg from 'pg';
import { eventually as until, PATIENCE_MS as WAIT_MS } from '../support/eventually.ts';
import { copyCluster } from '../support/prepared-cluster.ts';
import { serverFolder } from '../support/server-folder.ts';
import { anApplication } from '../support/service.ts';

export { until };

export const REPOSITORY = resolve(import.meta.dirname, '../..');
/** Empty variables count as absent, and win over a developer's `.env` in the repository. */
const NEUTRAL = Object.fromEntries(
  [
    ...['HOST', 'OPS_HOST', 'BASE_PATH', 'DATABASE_URL', 'MIGRATE_DATABASE_URL', 'CHANNEL_NAME'],
    ...[
      'CHANNEL',
      'POLICY_FILE',
      'LOG_LEVEL',
      'DATA_KEYS',
      'INDEX_KEY',
      'API_KEY_PEPPER',
      'VENTANILLA_URL',
      'VENTANILLA_API_KEY',
    ],
    ...['NODE_OPTIONS', 'NODE_TEST_CONTEXT', 'FORCE_COLOR'],
  ].map((name) => [name, '']),
);

const root = mkdtempSync(join(serverFolder(), 'ventanilla-process-'));
const children = new Set<ChildProcess>();
let dataDirs = 0;

after(cleanUp);
// A test runner that gives up sends SIGTERM, and then no `after` runs.
process.once('exit', killAll);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

export type Variables = Readonly<Record<string, string>>;

export interface Exit {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly ms: number;
}

/** A command under way, with the output so far. */
export interface Running {
  readonly pid: number;
  readonly out: string;
  readonly err: string;
  readonly hasEnded: boolean;
  /** Rejects where the program runs on for minutes after this was asked for. Its life before that has no limit. */
  readonly exit: Promise<Exit>;
}

export interface ServiceProcess extends Running {
  /** Base URL without `/PRO`. */
  readonly url: string;
  readonly opsUrl: string;
  readonly dataDir: string;
  /** The program itself, which is below npm where a test starts npm. */
  readonly nodePid: number;
  /** Sends a signal to the program, or to npm as a terminal would, and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
  /** Kills the program, but not the database. */
  kill(): Promise<void>;
}

/** A path for a data directory that does not exist yet: a first start sets up PostgreSQL there. */
export function emptyDataDir(): string {
  dataDirs += 1;
  return join(root, `data-${dataDirs}`);
}

/** A data directory for a first start, where PostgreSQL is set up and migrated. */
export function newDataDir(): string {
  const dataDir = emptyDataDir();
  copyCluster(dataDir);
  return dataDir;
}

/** A path for a file of the test. */
export function scratch(name: string): string {
  return join(root, name);
}

/** Starts a program, in a process group of its own. */
export function run(
  program: string,
  args: readonly string[],
  variables: Variables,
  cwd: string = REPOSITORY,
): Running {
  const start = performance.now();
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...NEUTRAL, npm_config_update_notifier: 'false', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  children.add(child);
  const text = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text.out += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text.err += chunk;
  });
  const exit = new Promise<Exit>((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => {
      children.delete(child);
      done({ code, ...text, ms: performance.now() - start });
    });
  });
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  exit.then(end, end);
  return {
    pid: child.pid ?? 0,
    get hasEnded() {
      return hasEnded;
    },
    get out() {
      return text.out;
    },
    get err() {
      return text.err;
    },
    get exit() {
      return within(exit, WAIT_MS, () => `${program} ${args.join(' ')} to end\n${text.out}${text.err}`);
    },
  };
}

/** Runs `npm start` and does not wait. */
export function npmStart(dataDir: string, variables: Variables = {}): Running {
  return run('npm', ['start'], { DATA_DIR: dataDir, PORT: '0', OPS_PORT: '0', ...variables });
}

/** Runs what `npm start` runs, without npm, which takes a fifth of a second of CPU. Does not wait. */
export function nodeStart(dataDir: string, variables: Variables = {}): Running {
  const ports = { DATA_DIR: dataDir, PORT: '0', OPS_PORT: '0' };
  return run(process.execPath, ['src/start.js', 'serve'], { ...ports, ...variables });
}

/** Starts the service, and waits until the service can be used. Tests about npm give `npmStart`. */
export async function startService(
  dataDir: string,
  variables: Variables = {},
  start = nodeStart,
): Promise<ServiceProcess> {
  const running = start(dataDir, variables);
  const find = (pattern: RegExp) => pattern.exec(running.out)?.[1];
  // Waits for the last line of the welcome, so that the output has all of it.
  const [url, opsUrl] = await until('the service to be ready', () => {
    if (running.hasEnded) throw new Error(`the service ended:\n${running.out}${running.err}`);
    const urls = [find(/Partner API\s+(\S+)\/PRO/), find(/Health\s+(\S+)\/healthz .*\/readyz\n/)] as const;
    return urls[0] !== undefined && urls[1] !== undefined ? (urls as [string, string]) : undefined;
  });
  const below = () => until('the program below npm', () => childrenOf(running.pid)[0]);
  const nodePid = start === npmStart ? await below() : running.pid;
  return Object.assign(Object.create(running) as Running, {
    url,
    opsUrl,
    dataDir,
    nodePid,
    stop(signal: NodeJS.Signals = 'SIGTERM') {
      process.kill(running.pid, signal);
      return running.exit;
    },
    async kill() {
      await killHard(nodePid);
      await running.exit;
    },
  });
}

/** Runs `ventanilla ...` on the embedded store of a data directory, without the second that npx takes. */
export function ventanilla(dataDir: string, ...args: string[]): Promise<Exit> {
  return run(process.execPath, ['src/start.js', ...args], { DATA_DIR: dataDir }).exit;
}

/** Runs the same with `--json`. Throws unless the command succeeds. */
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
export async function ventanillaJson(dataDir: string, ...args: string[]): Promise<any> {
  const { code, out, err } = await ventanilla(dataDir, ...args, '--json');
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

/** The secrets of a data directory, as settings. */
export function secretsOf(dataDir: string): Variables {
  const secrets = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8'));
  return {
    DATA_KEYS: secrets.data_keys.join(','),
    INDEX_KEY: secrets.index_key,
    API_KEY_PEPPER: [secrets.api_key_pepper].flat().join(','),
  };
}

/** The demo partner's key, which the first start shows. */
export function demoKeyOf({ out }: Running): string {
  const [key] = /vtn_all_[0-9a-f]{48}/.exec(out) ?? [];
  assert.ok(key, out);
  return key;
}

/** Adds a partner with a key without cap by the command line. Then a first start makes no demo partner. */
export async function addPartner(dataDir: string): Promise<string> {
  const partner = await ventanillaJson(dataDir, 'partner', 'add', '--name', 'Acme', '--country', 'CO');
  const issued = await ventanillaJson(dataDir, 'key', 'issue', '--partner', String(partner.id));
  const [key] = /vtn_\w+/.exec(JSON.stringify(issued)) ?? [];
  assert.ok(key);
  return key;
}

/** The lines that a program wrote to stderr, without npm's own. */
export function complaints({ err }: { err: string }): string[] {
  return stripVTControlCharacters(err)
    .split('\n')
    .filter((line) => line !== '' && !/^npm (warn|error|notice|info|ERR!|WARN)/.test(line));
}

/** The process of the embedded server, where its file exists. */
export function postmasterPid(dataDir: string): number | undefined {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : Number.NaN;
  return pid > 0 ? pid : undefined;
}

export function postgresLog(dataDir: string): string {
  return readFileSync(join(dataDir, 'postgres.log'), 'utf8');
}

/** Queries a running embedded server. */
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
export async function query(dataDir: string, sql: string, values?: unknown[]): Promise<any[]> {
  const lines = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  const client = new pg.Client({
    host: '127.0.0.1',
    port: Number(lines[3]),
    user: 'ventanilla',
    database: 'ventanilla',
    password: readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim(),
    connectionTimeoutMillis: WAIT_MS,
    query_timeout: WAIT_MS,
  });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}

/** Kills a process and waits until it is gone. */
export async function killHard(pid: number): Promise<void> {
  killNow(pid);
  await until(`process ${pid} to be gone`, () => !isAlive(pid));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // A zombie process (ended, but its parent has not waited yet) exists without arguments.
  return !existsSync(`/proc/${pid}`) || readIfThere(`/proc/${pid}/cmdline`) !== '';
}

/** Rejects where the promise takes longer than `ms`. */
export async function within<T>(promise: Promise<T>, ms: number, what: () => string): Promise<T> {
  const enough = new AbortController();
  const late = sleep(ms, undefined, { signal: enough.signal, ref: false }).then(
    () => Promise.reject(new Error(`waited ${ms} ms for ${what()}`)),
    () => promise,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    enough.abort();
  }
}

export interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
  readonly body: any;
}

/** POSTs applications, or an unchanged text, to `/PRO`. */
export async function submitOnce(
  { url }: { url: string },
  apiKey: string,
  applications: readonly object[] | string,
  headers: Variables = {},
): Promise<Answer> {
  const response = await fetch(`${url}/PRO`, {
    method: 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json', ...headers },
    body: typeof applications === 'string' ? applications : JSON.stringify({ applications }),
    signal: AbortSignal.timeout(WAIT_MS),
  });
  return {
    status: response.status,
    replayed: response.headers.get('Idempotency-Replayed') === 'true',
    body: await response.json(),
  };
}

/** The same, again after a 500: it says that nothing is stored, and a busy machine may cause it (D37). */
export const submit: typeof submitOnce = (...request) =>
  until('an answer other than 500', async () => {
    const answer = await submitOnce(...request);
    return answer.status === 500 ? undefined : answer;
  });

/** What the command answers that the first start shows, pasted into a shell; again after a 500, as `submit` does. */
export function pasteShown({ out }: { out: string }): Promise<Answer['body']> {
  const [, curl = ''] = /^ *(curl .*)$/m.exec(out) ?? [];
  return until('an answer other than 500', async () => {
    const { code, out: answered, err } = await run('sh', ['-c', curl], {}).exit;
    assert.equal(code, 0, err);
    const body = JSON.parse(stripVTControlCharacters(answered));
    return /; retry$/.test(body.error) ? undefined : body;
  });
}

/** Begins a request: the service has read the head and waits for the body. */
export async function beginSubmit(
  { url }: { url: string },
  apiKey: string,
  applications: readonly object[],
): Promise<{ finish(): Promise<Answer> }> {
  const body = Buffer.from(JSON.stringify({ applications }));
  const sent = request(`${url}/PRO`, {
    method: 'POST',
    agent: false,
    timeout: WAIT_MS,
    headers: {
      'X-API-Key': apiKey,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      // 100 Continue shows that the service has the head.
      Expect: '100-continue',
    },
  });
  const answer = once(sent, 'response');
  answer.catch(() => {});
  sent.on('error', () => {}).on('timeout', () => sent.destroy(new Error('no answer')));
  sent.flushHeaders();
  await within(once(sent, 'continue'), WAIT_MS, () => 'the service to take a request');
  sent.write(body.subarray(0, -1));
  return {
    async finish() {
      sent.end(body.subarray(-1));
      const [response] = await answer;
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      return { status: response.statusCode, replayed: false, body: JSON.parse(text) };
    },
  };
}

export function applications(count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, () => anApplication());
}

/** The pids below a process. */
export function childrenOf(pid: number): number[] {
  return processes()
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid);
}

function processes(): { pid: number; parent: number }[] {
  if (process.platform !== 'linux') {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
    return lines
      .map((line) => line.trim().split(/\s+/).map(Number))
      .map(([pid = 0, parent = 0]) => ({ pid, parent }));
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => {
    const stat = readIfThere(`/proc/${pid}/stat`) ?? '';
    // The second field is the program's name in parentheses, which may hold any character.
    return { pid: Number(pid), parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) };
  });
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** The arguments of a process, where it exists. */
export function commandLine(pid: number): string | undefined {
  if (process.platform === 'linux') return readIfThere(`/proc/${pid}/cmdline`);
  const ps = spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  return ps.stdout;
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}

function killAll(): number[] {
  const killed: number[] = [];
  for (const { pid } of children) {
    if (pid === undefined) continue;
    killNow(-pid);
    killed.push(pid);
  }
  for (const name of existsSync(root) ? readdirSync(root) : []) {
    const pid = postmasterPid(join(root, name));
    // Only a server with this directory in its arguments, because a stale file may name any process.
    const program = pid === undefined ? undefined : commandLine(pid);
    if (pid === undefined || !program?.includes('ventanilla.cluster=')) continue;
    killNow(pid);
    killed.push(pid);
  }
  return killed;
}

async function cleanUp(): Promise<void> {
  const killed = killAll();
  await until('what was killed to be gone', () => !killed.some(isAlive)).catch(() => {});
  rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
