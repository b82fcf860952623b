/**
 * A PostgreSQL of one's own is restored to a moment by pgBackRest, as docs/backup.md says, and the service starts on
 * it.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { Vault } from '../../src/seal/vault.ts';
import { ACCOUNT, POSTGRES_BIN } from '../../verify/drill/debian.ts';
import { TEST_SECRETS } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { addPartner, anApplication, post } from '../support/service.ts';
import { REPOSITORY } from '../support/sources.ts';
import { startPatiently } from '../support/start-patiently.ts';

const MISSING = [
  ...(existsSync('/usr/bin/pgbackrest') ? [] : ['pgbackrest']),
  ...(POSTGRES_BIN === null ? ['postgresql'] : []),
];
const skip = MISSING.length > 0 && `not installed: apt-get install ${MISSING.join(' ')}`;
/** pgBackRest knows the ends of backups by the second. */
const APART_MS = 1_100;

const DOCUMENT = readFileSync(join(REPOSITORY, 'docs/backup.md'), 'utf8');
/** The blocks of the document in this language, in their order. */
const blocks = (language: string) =>
  [...DOCUMENT.matchAll(new RegExp(`\`\`\`${language}\n([^\`]+)\`\`\``, 'g'))].map(
    (match) => match[1] as string,
  );

class OwnServer {
  readonly url: string;
  readonly #folder: string;
  readonly #data: string;
  readonly #options;
  #server: ReturnType<typeof spawn> | null = null;

  constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#data = join(folder, 'main');
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    mkdirSync(join(folder, 'repository'));
    const [configuration = '', settings = ''] = blocks('ini');
    const file = join(folder, 'pgbackrest.conf');
    writeFileSync(
      file,
      configuration
        .replace('/var/lib/pgbackrest', join(folder, 'repository'))
        .replace('/var/lib/postgresql/15/main', this.#data),
    );
    writeFileSync(join(folder, 'extra.conf'), settings);
    if (ACCOUNT !== null) {
      for (const path of ['', 'repository', 'pgbackrest.conf', 'extra.conf']) {
        chownSync(join(folder, path), ACCOUNT.uid, ACCOUNT.gid);
      }
    }
    const env = {
      PATH: `${POSTGRES_BIN}:/usr/bin:/bin`,
      PGBACKREST_CONFIG: file,
      PGBACKREST_LOG_LEVEL_FILE: 'off',
      PGBACKREST_LOCK_PATH: folder,
      PGBACKREST_PG1_PORT: String(port),
      PGBACKREST_PG1_SOCKET_PATH: folder,
      PGBACKREST_PG1_USER: 'postgres',
    };
    this.#options = { cwd: folder, env, stdio: 'pipe' as const, ...ACCOUNT };
    this.run('initdb', '-D', this.#data, '-U', 'postgres', '--auth=trust', '--no-sync');
    const own = [`port = ${port}`, `unix_socket_directories = '${folder}'`, "include '../extra.conf'"];
    writeFileSync(join(this.#data, 'postgresql.conf'), `${own.join('\n')}\n`, { flag: 'a' });
  }

  run(program: string, ...args: string[]): void {
    execFileSync(program, args, this.#options);
  }

  /** Runs commands of the document. */
  command(lines: string): void {
    this.run('/bin/sh', '-ec', lines);
  }

  async start(): Promise<void> {
    this.#server = spawn('postgres', ['-D', this.#data], { ...this.#options, stdio: 'ignore' });
    await eventually('the server to take writes', async () => {
      const [row] = await this.ask('SELECT pg_is_in_recovery() AS recovers').catch(() => []);
      return row?.recovers === false;
    });
  }

  async stop(): Promise<void> {
    if (this.#server === null || this.#server.exitCode !== null) return;
    const exit = once(this.#server, 'exit');
    this.#server.kill('SIGINT');
    await exit;
  }

  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
  async ask(text: string): Promise<any[]> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The service on this server, for the time of `work`. */
async function serveOn(server: OwnServer, work: (url: string, keys: () => Promise<string>) => Promise<void>) {
  const database = openPatiently(server.url, 5);
  const store = { database, vault: new Vault(TEST_SECRETS), clock: machineClock };
  await migrate(database, machineClock);
  const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
  const service = await startPatiently(config, store, pino({ level: 'silent' }));
  try {
    await work(service.url, async () => (await addPartner(store)).apiKey);
  } finally {
    await service.stop();
    await database.end();
  }
}

test('a moment of a PostgreSQL of one’s own comes back, and nothing after it', {
  skip,
}, async (t) => {
  const server = new OwnServer(mkdtempSync(join(tmpdir(), 'ventanilla-pgbackrest-')), await freePort());
  t.after(async () => {
    await server.stop();
    server.remove();
  });
  await server.start();
  const [setUp = '', restore = ''] = blocks('sh').filter((lines) => lines.startsWith('pgbackrest '));
  const [kept, lost] = [anApplication(), anApplication()];
  let apiKey = '';
  let moment = '';
  await serveOn(server, async (url, newKey) => {
    apiKey = await newKey();
    server.command(setUp);
    assert.equal((await post(`${url}/PRO`, apiKey, { applications: [kept] })).status, 200);
    await sleep(APART_MS);
    moment = (await server.ask('SELECT clock_timestamp()::text AS now'))[0].now;
    await sleep(APART_MS);
    assert.equal((await post(`${url}/PRO`, apiKey, { applications: [lost] })).status, 200);
    await server.ask('SELECT pg_switch_wal()');
  });
  await server.stop();
  server.command(restore.replace(/--target='[^']+'/, `--target='${moment}'`));
  await server.start();
  await serveOn(server, async (url) => {
    const { body } = await post(`${url}/PRO`, apiKey, { applications: [kept, lost] });
    const { results } = body as { results: { id_number: string }[] };
    // The application from before the moment holds its phone; the later one is not known any more.
    assert.deepEqual(
      results.map(({ id_number }) => id_number),
      [lost.id_number],
    );
  });
});
