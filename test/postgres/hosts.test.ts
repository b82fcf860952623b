/** `DATABASE_URL` may name a primary and its standbys; the service finds the primary (D15, D37). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { awaitServer } from '../../src/ground/postgres/await-server.ts';
import { CONNECT_TIMEOUT_MS, type Database } from '../../src/ground/postgres/database.ts';
import { checkServer, openDatabase } from '../../src/ground/postgres/open-database.ts';
import { Patience } from '../../src/ground/postgres/patience.ts';
import { SetupError } from '../../src/ground/postgres/setup-error.ts';
import { eventually, SLACK_MS } from '../support/eventually.ts';
import { TestServer } from '../support/servers.ts';

const READ_WRITE = '?target_session_attrs=read-write';
const signal = new AbortController().signal;

function open(t: TestContext, connectionString: string): Database {
  const database = openDatabase({ connectionString }, { max: 4, onError: () => {}, clock: machineClock });
  t.after(() => database.end());
  return database;
}

/** A host that takes connections and answers nothing, as if its machine hangs. */
async function silentPlace(t: TestContext): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    t.after(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function portOf(database: Database): Promise<string> {
  const { rows } = await database.query("SELECT '127.0.0.1:' || current_setting('port') AS place");
  return rows[0].place;
}

describe('D37: several servers in DATABASE_URL', () => {
  it('D15: new sessions go to the primary, wherever it is in the list and whichever other server hangs', async (t) => {
    const primary = await TestServer.start(t);
    const standby = await primary.addStandby(t);
    const hangs = await silentPlace(t);
    for (const places of [
      [primary.place, standby.place],
      [standby.place, primary.place],
      [hangs, standby.place, primary.place],
    ]) {
      for (const parameters of ['', READ_WRITE, '?target_session_attrs=primary']) {
        const database = open(t, primary.urlOf(places, parameters));
        const found = await eventually('a session', () => portOf(database).catch(() => undefined));
        assert.equal(found, primary.place, `${places} ${parameters}`);
        await checkServer(database);
      }
    }
    const alone = open(t, primary.urlOf([standby.place], READ_WRITE));
    await assert.rejects(alone.query('SELECT 1'), { name: 'WrongServerError' });
    const any = open(t, primary.urlOf([standby.place], '?target_session_attrs=any'));
    assert.equal(await portOf(any), standby.place);
    await assert.rejects(checkServer(any), (error) => {
      return error instanceof SetupError && /standby.*target_session_attrs/.test(error.message);
    });
  });

  it('D37: after a failover the pool uses the new primary and not the old one', async (t) => {
    const primary = await TestServer.start(t);
    const standby = await primary.addStandby(t);
    await primary.ask('CREATE TABLE words (word text)');
    await primary.makeSynchronous();
    const database = open(t, primary.urlOf([primary.place, standby.place], READ_WRITE));
    await Promise.all([1, 2, 3].map(() => database.query("INSERT INTO words VALUES ('before')")));
    await primary.end('SIGKILL');
    await standby.promote();
    await eventually('a write', () =>
      database.query("INSERT INTO words VALUES ('after')").then(
        () => true,
        () => false,
      ),
    );
    assert.equal(await portOf(database), standby.place);
    const { rows } = await database.query('SELECT count(*)::integer AS n FROM words');
    assert.equal(rows[0].n, 4);
  });

  it('D15, D37: of two primaries the later one is used, by old sessions too', async (t) => {
    const primary = await TestServer.start(t);
    const standby = await primary.addStandby(t);
    await primary.ask('CREATE TABLE words (word text)');
    await primary.makeSynchronous();
    const database = open(t, primary.urlOf([primary.place, standby.place], READ_WRITE));
    await Promise.all([1, 2, 3, 4].map(() => database.query("INSERT INTO words VALUES ('before')")));
    // The old primary runs on: it does not know of the failover, and waits for its standby.
    await standby.promote();
    const writes = [1, 2].map(() => database.query("INSERT INTO words VALUES ('lost')"));
    for (const { status } of await Promise.allSettled(writes)) assert.equal(status, 'rejected');
    await eventually('a write', () =>
      database.query("INSERT INTO words VALUES ('after')").then(
        () => true,
        () => false,
      ),
    );
    const places = await Promise.all(Array.from({ length: 8 }, () => portOf(database)));
    assert.deepEqual([...new Set(places)], [standby.place]);
    const words = await standby.ask<{ word: string }>("SELECT word FROM words WHERE word <> 'before'");
    assert.deepEqual(words, [{ word: 'after' }]);
  });

  it('D15: a long statement ends when its server is not the primary any more', async (t) => {
    const primary = await TestServer.start(t);
    const standby = await primary.addStandby(t);
    const database = open(t, primary.urlOf([primary.place, standby.place], READ_WRITE));
    const client = await eventually('a session', () => database.connect().catch(() => undefined));
    await client.query('SET statement_timeout = 0');
    const query = { text: 'SELECT pg_sleep(600)', query_timeout: 600_000 };
    const sleeping = assert.rejects(client.query(query), /another primary/);
    await standby.promote();
    await sleeping;
    client.release(true);
    assert.equal(await eventually('a session', () => portOf(database).catch(() => undefined)), standby.place);
    await eventually('the end of the statement on the old server', async () => {
      const active = "SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(600)%'";
      return (await primary.ask(`${active} AND pid <> pg_backend_pid()`)).length === 0;
    });
  });

  it('D37: a server with default_transaction_read_only is a primary and is not read-write', async (t) => {
    const primary = await TestServer.start(t);
    await primary.ask('ALTER SYSTEM SET default_transaction_read_only = on');
    await primary.ask('SELECT pg_reload_conf()');
    await eventually('the setting', async () => {
      const [row] = await primary.ask<{ is_on: boolean }>(
        "SELECT current_setting('default_transaction_read_only') = 'on' AS is_on",
      );
      return row?.is_on;
    });
    const places = [primary.place, await silentPlace(t)];
    const strict = open(t, primary.urlOf(places, READ_WRITE));
    await assert.rejects(strict.query('SELECT 1'), ({ cause }) => /takes no writes/.test(`${cause}`));
    const database = open(t, primary.urlOf(places, '?target_session_attrs=primary'));
    assert.equal(await eventually('a session', () => portOf(database).catch(() => undefined)), primary.place);
  });

  it('D37: if none of many servers answers, the wait for a connection is as long as with one server', async (t) => {
    // One after the other, they would take two and a half minutes.
    const places = Array(100).fill(await silentPlace(t));
    const url = `postgres://u:p@${places}/name`;
    const database = open(t, url);
    const start = performance.now();
    await assert.rejects(Promise.all([1, 2, 3].map(() => database.query('SELECT 1'))));
    assert.ok(performance.now() - start < CONNECT_TIMEOUT_MS + SLACK_MS);
  });

  it('D37: a primary that is elected later is waited for; the notice names no host', async (t) => {
    const primary = await TestServer.start(t);
    const standby = await primary.addStandby(t);
    await primary.end('SIGINT');
    const database = open(t, primary.urlOf([primary.place, standby.place], READ_WRITE));
    const notices: string[] = [];
    const awaited = awaitServer(
      database,
      new Patience({
        what: 'the database of DATABASE_URL',
        signal,
        notice: (text) => notices.push(text),
        clock: machineClock,
      }),
    );
    await eventually('the notice', () => notices.length > 0);
    await standby.promote();
    await awaited;
    assert.equal(notices.length, 1);
    assert.match(notices[0] as string, /^waiting for the database of DATABASE_URL: /);
    assert.ok(!notices[0]?.includes(primary.connection.password));
  });
});

describe('D37: a wrong list of servers in DATABASE_URL is refused at the start', () => {
  const secret = 'hunter2';
  for (const [what, rest, text] of [
    [
      'an unknown target_session_attrs',
      'a,b/name?target_session_attrs=master',
      /target_session_attrs.*primary/,
    ],
    [
      'one that reads only',
      'a/name?target_session_attrs=prefer-standby',
      /target_session_attrs.*the service/,
    ],
    ['a list in host', '/name?host=a,b', /host1:5432,host2:5432/],
    ['a list in port', 'a/name?port=1,2', /host1:5432,host2:5432/],
    ['a list and host', 'a,b/name?host=c', /host1:5432,host2:5432/],
    ['an empty name', 'a,/name', /host1:5432,host2:5432/],
  ] as const) {
    it(`D37: ${what}`, () => {
      assert.throws(
        () =>
          openDatabase(
            { connectionString: `postgres://u:${secret}@${rest}` },
            { max: 1, onError() {}, clock: machineClock },
          ),
        (error) => error instanceof SetupError && text.test(error.message) && !error.message.includes(secret),
      );
    });
  }
});
