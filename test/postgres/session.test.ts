/** Sessions have the settings that the service needs, whatever URL, role, database and pooler say (D15, D16, D37). */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { openEmbedded } from '../../src/ground/embedded/server.ts';
import { type Database, inTransaction } from '../../src/ground/postgres/database.ts';
import { checkServer, openDatabase } from '../../src/ground/postgres/open-database.ts';
import { CommitInDoubtError } from '../../src/ground/postgres/session.ts';
import { SetupError } from '../../src/ground/postgres/setup-error.ts';
import { migrate } from '../../src/ground/schema/migrations.ts';
import { PARTNER_LIMITS } from '../../src/listeners/partner/partner-api.ts';
import type { ListenerLimits } from '../../src/wire/gate/connections.ts';
import { testDatabase } from '../support/database.ts';
import { withDefaults } from '../support/database-defaults.ts';
import { eventually } from '../support/eventually.ts';
import { poolerUrl } from '../support/like-a-pooler.ts';
import { openWithLimits } from '../support/open-patiently.ts';
import { addPartner, anApplication, post, postUntilServed } from '../support/service.ts';
import { startPatiently } from '../support/start-patiently.ts';

const store = await testDatabase();
const { vault, url } = store;

function pool(t: TestContext, connectionString: string): Database {
  const database = openWithLimits(connectionString, 6);
  t.after(() => database.end());
  return database;
}

async function serve(t: TestContext, database: Database, limits?: ListenerLimits): Promise<string> {
  const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
  const service = await startPatiently(
    config,
    { database, vault, clock: machineClock },
    pino({ level: 'silent' }),
    limits,
  );
  t.after(() => service.stop());
  return `${service.url}/PRO`;
}

describe('D15, D16: defaults, the URL and a transaction', () => {
  it('D37: the URL cannot set how long the driver waits', () => {
    const address = { connectionString: `${url}?query_timeout=600000` };
    assert.throws(
      () => openDatabase(address, { max: 1, onError: () => {}, clock: machineClock }),
      (error) => error instanceof SetupError && /query_timeout/.test(error.message),
    );
  });

  it('D16: a flood stops at the cap though transactions are repeatable read by default', async (t) => {
    await withDefaults(t, store, { default_transaction_isolation: 'repeatable read' });
    const { apiKey } = await addPartner(store, { dailyCap: 50 });
    const services = await Promise.all([1, 2, 3].map(() => serve(t, pool(t, url))));
    const counts = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const body = { applications: [anApplication(), anApplication()] };
        const headers = { 'Idempotency-Key': `flood-${index}` };
        // A busy machine may refuse some: the same request again registers nothing twice.
        return eventually('an answer', async () => {
          const answer = await post(services[index % 3] as string, apiKey, body, headers).catch(() => null);
          return answer?.status === 200 && [(answer.body as { processed: number }).processed];
        });
      }),
    ).then((found) => found.flat());
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      50,
    );
  });

  const CALL = `SELECT register_batches(1::smallint, NULL, false, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
    '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`;

  it('D15, D16: register_batches checks its own transaction', async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const level of ['REPEATABLE READ', 'SERIALIZABLE']) {
      await client.query(`BEGIN ISOLATION LEVEL ${level}`);
      await assert.rejects(client.query(CALL), { code: 'VN002', message: new RegExp(level) });
      await client.query('ROLLBACK');
    }
    for (const [weak, at] of [
      ['off', 'on'],
      ['local', 'on'],
      ['remote_write', 'on'],
      ['on', 'on'],
      ['remote_apply', 'remote_apply'],
    ]) {
      await client.query(`SET synchronous_commit = ${weak}; SET client_min_messages = error`);
      await client.query('BEGIN');
      await client.query(CALL);
      const { rows } = await client.query(
        "SELECT current_setting('synchronous_commit') AS commit, current_setting('client_min_messages') AS messages",
      );
      assert.deepEqual([rows[0].commit, rows[0].messages], [at, 'warning'], weak);
      await client.query('COMMIT');
    }
    await client.end();
  });
});

describe('D15: a server that takes no writes is refused by name', () => {
  const skip = store.isSpread && 'the cluster of the tests runs with fsync off, which is refused first';
  it('D15: default_transaction_read_only', { skip }, async (t) => {
    await withDefaults(t, store, { default_transaction_read_only: 'on' });
    await assert.rejects(checkServer(pool(t, url)), (error) => {
      return error instanceof SetupError && /default_transaction_read_only/.test(error.message);
    });
  });

  it('D15: a standby', async () => {
    const row = { fsync: 'on', version: '180000', standby: true, read_only: false };
    const standby = { query: async () => ({ rows: [row] }) } as unknown as Database;
    await assert.rejects(checkServer(standby), (error) => {
      return error instanceof SetupError && /standby.*primary/.test(error.message);
    });
  });
});

describe('D15, D16: a session in which our triggers do not run is refused by name', () => {
  const refused = (error: unknown) =>
    error instanceof SetupError && error.message.includes('session_replication_role = replica');

  it('D15: if the database sets that by default, also through a pooler', async (t) => {
    await withDefaults(t, store, { session_replication_role: 'replica' });
    await assert.rejects(pool(t, url).query('SELECT 1'), refused);
    await assert.rejects(pool(t, await poolerUrl(t, url)).query('SELECT 1'), refused);
  });

  it('D15: if options in the URL set that; with local the triggers run as with origin', async (t) => {
    // Only a superuser may set it.
    const address = new URL(store.ownerUrl);
    address.searchParams.set('options', '-c session_replication_role=replica');
    await assert.rejects(pool(t, address.href).query('SELECT 1'), refused);
    address.searchParams.set('options', '-c session_replication_role=local');
    await pool(t, address.href).query('SELECT 1');
  });
});

describe('D15, D16: through a pooler', () => {
  it('D15: a registration still commits to disk, and the batch is registered', async (t) => {
    const { apiKey } = await addPartner(store);
    const answer = await post(await serve(t, pool(t, await poolerUrl(t, url))), apiKey, {
      applications: [anApplication()],
    });
    assert.deepEqual([answer.status, (answer.body as { processed: number }).processed], [200, 1]);
  });
});

describe('D15: a commit that waits for its standby and is cut short', { concurrency: false }, async () => {
  /** A server whose synchronous standby never comes, until `release`. */
  async function standbyless(t: TestContext) {
    const dataDir = await mkdtemp(join(tmpdir(), 'ventanilla-standby-'));
    const server = await openEmbedded({ dataDir, clock: machineClock });
    const database = openDatabase(server.superuser, { max: 6, onError: () => {}, clock: machineClock });
    await migrate(database, machineClock);
    const operator = new pg.Client({ ...server.superuser });
    await operator.connect();
    const setStandbys = async (names: string) => {
      await operator.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
      await operator.query('SELECT pg_reload_conf()');
      if (names !== '') await eventually('the new setting', isProbeHeld);
    };
    /** The server applies a new setting some time after the reload. Until then its commits do not wait. */
    const isProbeHeld = async () => {
      const prober = new pg.Client({ ...server.superuser, application_name: 'probe' });
      prober.on('error', () => {});
      await prober.connect();
      const probe = prober.query("COMMENT ON SCHEMA public IS 'probe'").then(
        () => 'answered',
        () => 'cut short',
      );
      const outcome = await eventually('the probe to be answered or held', async () => {
        const { rowCount } = await operator.query(
          "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'probe'",
        );
        return rowCount === 1 ? 'held' : Promise.race([probe, sleep(10, undefined)]);
      });
      if (outcome !== 'held') {
        await prober.end();
        return false;
      }
      await operator.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'probe'",
      );
      await probe;
      return true;
    };
    t.after(async () => {
      await setStandbys('');
      await operator.end();
      await database.end();
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    });
    // The service writes more than the test asks for.
    const waiting = async (what = 'register_batches') => {
      const { rows } = await operator.query<{ pid: number; begun: string }>(
        `SELECT pid, query_start::text AS begun FROM pg_stat_activity
        WHERE wait_event = 'SyncRep' AND query ~ $1`,
        [what],
      );
      return rows;
    };
    const cancelWaiting = async (what?: string) => {
      const cancelled = await waiting(what);
      for (const { pid } of cancelled) await operator.query('SELECT pg_cancel_backend($1)', [pid]);
      return cancelled;
    };
    return {
      database,
      setStandbys,
      waiting,
      cancelWaiting,
      /** Ends the next wait of a commit, as an operator does who looks for hanging processes. */
      async cancelOne(): Promise<void> {
        const cancelled = await eventually('a commit that waits', async () => {
          const found = await cancelWaiting();
          return found.length > 0 && found;
        });
        // A session takes a moment to end its wait.
        await eventually('the end of its wait', async () =>
          (await waiting()).every(
            ({ pid, begun }) => !cancelled.some((one) => one.pid === pid && one.begun === begun),
          ),
        );
      },
      async stored(): Promise<number> {
        return (await operator.query('SELECT count(*)::integer AS n FROM applications')).rows[0].n;
      },
    };
  }

  it('D15: every write that the server only warns about fails', async (t) => {
    const { database, setStandbys, cancelWaiting } = await standbyless(t);
    await database.query('CREATE TABLE words (word text)');
    await setStandbys('nobody');
    const writes = [
      () => database.query("INSERT INTO words VALUES ('single')"),
      () => database.query({ text: 'INSERT INTO words VALUES ($1)', values: ['with a value'] }),
      () => inTransaction(database, (session) => session.query("INSERT INTO words VALUES ('transaction')")),
    ];
    for (const write of writes) {
      // The limit is for the write alone; a new connection on a busy machine is not part of this test.
      await database.query('SELECT 1');
      let outcome: unknown;
      const settled = write().then(
        () => {
          outcome = 'a success';
        },
        (error: unknown) => {
          outcome = error;
        },
      );
      await eventually('the end of the write', async () => {
        await cancelWaiting('words|COMMIT');
        return outcome !== undefined;
      });
      await settled;
      assert.ok(outcome instanceof CommitInDoubtError, String(outcome));
    }
    // The remaining sessions work.
    assert.equal((await database.query('SELECT count(*)::integer AS n FROM words')).rows[0].n, 3);
  });

  it('D15: a batch is answered when the standby is there again, and stored once', async (t) => {
    const { database, setStandbys, cancelOne, waiting, stored } = await standbyless(t);
    const { apiKey } = await addPartner({ database, vault });
    const service = await serve(t, database);
    await setStandbys('nobody');
    const applications = [anApplication(), anApplication({ phone: null })];
    const answer = post(service, apiKey, { applications });
    await cancelOne();
    // The batch is sent again, finds what the first try stored, and waits for the standby instead of it.
    await eventually('a commit that waits', async () => (await waiting()).length > 0);
    assert.equal(await stored(), 2);
    await setStandbys('');
    const { status, body } = await answer;
    assert.deepEqual([status, (body as { processed: number }).processed], [200, 2]);
    assert.equal(await stored(), 2);
  });

  it('D15, D36: a batch is not acknowledged without the standby, nor is its retry', async (t) => {
    const { database, setStandbys, cancelOne, cancelWaiting } = await standbyless(t);
    const { apiKey } = await addPartner({ database, vault });
    // A commit that waits for ever is given up at the end of a request's time.
    const service = await serve(t, database, PARTNER_LIMITS);
    await setStandbys('nobody');
    const body = JSON.stringify({ applications: [anApplication()] });
    const send = () => post(service, apiKey, body, { 'Idempotency-Key': 'one' });
    const first = assert.rejects(send(), TypeError, 'closed without an answer');
    await cancelOne();
    let over = false;
    const both = Promise.all([first, assert.rejects(send(), TypeError, 'so is the retry')]).finally(() => {
      over = true;
    });
    await eventually('both to be closed', async () => {
      await cancelWaiting();
      return over;
    });
    await both;
    await setStandbys('');
    const { status, headers } = await postUntilServed(service, apiKey, body, {
      'Idempotency-Key': 'one',
    });
    assert.deepEqual([status, headers.get('idempotency-replayed')], [200, 'true']);
  });
});
