/** A start goes on after a database that stalls, loses a connection or fails over at any moment of it (D37). */
import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { openStore } from '../../src/app/open-store.ts';
import { startService } from '../../src/app/serve.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { FUNCTIONS } from '../../src/ground/schema/functions.ts';
import { knownMigrations } from '../../src/ground/schema/migration-files.ts';
import { insertFirstPartner } from '../../src/subjects/partners/sql/partners.ts';
import { textOf } from '../../src/subjects/partners/uses/keys.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { emptyDatabaseUrl } from '../support/empty-database.ts';
import { eventually } from '../support/eventually.ts';
import { as, RUNTIME_ROLE, runtimePassword } from '../support/runtime-role.ts';

/** Longer than a statement or a connection may take. */
const STALL_MS = 3_600;
const AT_ONCE = 10;
const base64 = (key: Buffer) => key.toString('base64');
const SECRETS = {
  DATA_KEYS: `1:${base64(TEST_SECRETS.dataKeys.get(1)!)}`,
  INDEX_KEY: base64(TEST_SECRETS.indexKey),
  API_KEY_PEPPER: base64(TEST_SECRETS.apiKeyPepper),
};

/**
 * What happens at a message of the client: `stall` holds all traffic for a while, `cut` ends all connections before the
 * server gets the message, `cut_after` when the server answers it.
 */
type Trouble = 'stall' | 'cut' | 'cut_after';

/** A proxy that makes trouble once. */
class Troublemaker {
  readonly #target: { host: string; port: number };
  readonly #at: number;
  readonly #trouble: Trouble;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#accept(client));
  /** The messages of the client so far. */
  seen = 0;

  constructor(databaseUrl: string, at: number, trouble: Trouble) {
    const { hostname, port } = new URL(databaseUrl);
    this.#target = { host: hostname, port: Number(port) };
    this.#at = at;
    this.#trouble = trouble;
  }

  async start(t: TestContext): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      this.#server.close();
      this.#cutAll();
    });
    return (this.#server.address() as { port: number }).port;
  }

  #cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(client: Socket): void {
    const server = connect(this.#target);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    }
    let isLast = false;
    client.on('data', (chunk) => {
      this.seen += 1;
      const isHere = this.seen === this.#at;
      if (isHere && this.#trouble === 'cut') return this.#cutAll();
      if (isHere && this.#trouble === 'stall') this.#stall();
      if (isHere) isLast = this.#trouble === 'cut_after';
      server.write(chunk);
    });
    server.on('data', (chunk) => (isLast ? this.#cutAll() : client.write(chunk)));
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
  }

  /** The kernel keeps what comes meanwhile. */
  #stall(): void {
    const held = [...this.#sockets];
    for (const socket of held) socket.cork();
    const accepted: Socket[] = [];
    const hold = (socket: Socket) => {
      accepted.push(socket);
      socket.pause();
    };
    this.#server.on('connection', hold);
    setTimeout(() => {
      this.#server.off('connection', hold);
      for (const socket of held) socket.uncork();
      for (const socket of accepted) socket.resume();
    }, STALL_MS);
  }
}

/** The settings of a service on this database. `databaseUrl`: the way to it. */
function configOf(ownerUrl: string, databaseUrl: string) {
  const urls = {
    DATABASE_URL: as(databaseUrl, RUNTIME_ROLE, runtimePassword(ownerUrl)),
    MIGRATE_DATABASE_URL: databaseUrl,
  };
  const variables = { ...urls, CHANNEL: 'log', DELIVERY: 'off', ...SECRETS };
  return { ...readConfig(variables), port: 0, opsPort: 0 };
}

/** Starts and stops a service whose database makes this trouble. Returns the migrations and the number of messages. */
async function startThrough(t: TestContext, ownerUrl: string, at = 0, trouble: Trouble = 'cut') {
  const proxy = new Troublemaker(ownerUrl, at, trouble);
  const address = new URL(ownerUrl);
  address.hostname = '127.0.0.1';
  address.port = String(await proxy.start(t));
  const config = configOf(ownerUrl, address.href);
  const store = await openStore(config, {
    clock: machineClock,
    kind: 'service',
    makes: 'store',
    signal: new AbortController().signal,
    notice: () => {},
    lost: assert.fail,
    onError: () => {},
  });
  try {
    const service = await startService(config, store, pino({ level: 'silent' }));
    try {
      await store.confirm();
    } finally {
      await service.stop();
    }
  } finally {
    await store.close();
  }
  return { applied: store.applied, messages: proxy.seen };
}

/** What a server with a full disk answers. */
const FULL_DISK = `
  CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
  CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON secret_checks
    FOR EACH ROW EXECUTE FUNCTION full_disk()`;

const used = await testDatabase();

describe('D37: the start of a service', () => {
  for (const trouble of ['stall', 'cut', 'cut_after'] as const) {
    it(`D37: survives ${trouble} at each message of the start`, async (t) => {
      const { messages } = await startThrough(t, used.ownerUrl);
      assert.ok(messages > 15, `${messages}`);
      const places = Array.from({ length: messages }, (_, index) => index + 1);
      const failures: string[] = [];
      const lane = async () => {
        for (let at = places.shift(); at !== undefined; at = places.shift()) {
          const place = at;
          await startThrough(t, used.ownerUrl, at, trouble).catch((error) =>
            failures.push(`${place}: ${error}`),
          );
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      assert.deepEqual(failures, []);
    });
  }

  it('D37: the first start applies each migration and the functions once', async (t) => {
    const names = [...(await knownMigrations()).map(({ name }) => name), FUNCTIONS];
    const { messages, applied } = await startThrough(t, await emptyDatabaseUrl());
    assert.deepEqual(applied, names);
    for (const [index, trouble] of (['cut', 'cut_after', 'cut', 'cut_after'] as const).entries()) {
      const at = Math.round(((index + 1) * messages) / 5);
      const again = await startThrough(t, await emptyDatabaseUrl(), at, trouble);
      assert.deepEqual(again.applied, names, `${trouble} at message ${at} of ${messages}`);
    }
  });

  it('D37: waits until the server has room where its disk is full, and says so', async (t) => {
    const { database, ownerUrl } = await testDatabase();
    await database.query(FULL_DISK);
    const notices: string[] = [];
    const store = await openStore(configOf(ownerUrl, ownerUrl), {
      clock: machineClock,
      kind: 'service',
      makes: 'store',
      signal: new AbortController().signal,
      notice: (text) => notices.push(text),
      lost: assert.fail,
      onError: () => {},
    });
    t.after(() => store.close());
    const confirmed = store.confirm();
    await eventually('the notice', () => notices.length > 0);
    await database.query('DROP TRIGGER full_disk ON secret_checks');
    await confirmed;
    assert.deepEqual(notices, ['waiting for the database of DATABASE_URL: its disk is full (53100)']);
  });

  it('the first partner is found again when the answer to its insertion was lost', async () => {
    const { database, vault } = used;
    const text = (apiKey: string) => textOf(vault, apiKey);
    const insert = (apiKey: string) =>
      insertFirstPartner(database, vault, { name: 'First', country: 'CO' }, text(apiKey));
    assert.deepEqual([await insert('one'), await insert('one'), await insert('two')], [true, true, false]);
  });
});
