/** A synchronous standby that goes away and becomes the primary: acknowledged batches stay (D15, D36, D37). */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { type Database, inTransaction } from '../../src/ground/postgres/database.ts';
import { openDatabase } from '../../src/ground/postgres/open-database.ts';
import { PARTNER_LIMITS } from '../../src/listeners/partner/partner-api.ts';
import { Vault } from '../../src/seal/vault.ts';
import { TEST_SECRETS } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { migratePatiently } from '../support/open-patiently.ts';
import { TestServer } from '../support/servers.ts';
import { addPartner, anApplication, post, postUntilServed } from '../support/service.ts';
import { startPatiently } from '../support/start-patiently.ts';

const MAX = 4;
/** Sessions that were given up may still be ending while the next ones begin. */
const MOST_WAITING = 2 * MAX;

interface Pair {
  readonly primary: TestServer;
  readonly standby: TestServer;
  readonly database: Database;
}

async function pair(t: TestContext): Promise<Pair> {
  const primary = await TestServer.start(t);
  const standby = await primary.addStandby(t);
  const connectionString = primary.urlOf([primary.place, standby.place], '?target_session_attrs=read-write');
  const database = openDatabase({ connectionString }, { max: MAX, onError: () => {}, clock: machineClock });
  t.after(() => database.end());
  await migratePatiently(connectionString);
  await primary.ask('CREATE TABLE words (word text)');
  await primary.makeSynchronous();
  return { primary, standby, database };
}

/** With the limits of a real service: a commit that waits for ever is given up at the end of a request's time. */
async function serve(t: TestContext, { database }: Pair): Promise<string> {
  const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
  const vault = new Vault(TEST_SECRETS);
  const service = await startPatiently(
    config,
    { database, vault, clock: machineClock },
    pino({ level: 'silent' }),
    PARTNER_LIMITS,
  );
  t.after(() => service.stop());
  return `${service.url}/PRO`;
}

/** The most commits that waited at once, until `stop`. */
function watchWaiting(server: TestServer) {
  let isOver = false;
  let most = 0;
  const loop = (async () => {
    while (!isOver) {
      most = Math.max(most, (await server.waiting()).length);
      await sleep(50);
    }
  })();
  return async () => {
    isOver = true;
    await loop;
    return most;
  };
}

describe('D15: a synchronous standby that is away', { concurrency: false }, () => {
  it('D37: commits that wait for the standby are given up on the server too', async (t) => {
    const { primary, standby, database } = await pair(t);
    await standby.end('SIGKILL');
    const stop = watchWaiting(primary);
    const write = [
      () => database.query("INSERT INTO words VALUES ('single')"),
      () => inTransaction(database, (session) => session.query("INSERT INTO words VALUES ('transaction')")),
    ];
    const acknowledged = async () => {
      const outcomes = await Promise.allSettled([...write, ...write].map((one) => one()));
      return outcomes.filter(({ status }) => status === 'fulfilled').length;
    };
    // The standby's last process may answer a while longer than its postmaster.
    await eventually('the standby to answer no more', async () => (await acknowledged()) === 0);
    assert.equal(await acknowledged(), 0);
    await eventually('the server to have nothing that waits', async () => {
      return (await primary.waiting()).length === 0;
    });
    const most = await stop();
    assert.ok(most >= 1 && most <= MOST_WAITING, `${most} waited at once`);
    await standby.start();
    await eventually('a write', () =>
      database.query("INSERT INTO words VALUES ('again')").then(
        () => true,
        () => false,
      ),
    );
  });

  it('D15, D36: only batches that were acknowledged before are acknowledged', async (t) => {
    const both = await pair(t);
    const { primary, standby, database } = both;
    // On a busy machine a session may take longer than the service allows.
    const { apiKey } = await eventually('a partner', () =>
      addPartner({ database, vault: new Vault(TEST_SECRETS) }).catch(() => undefined),
    );
    const url = await serve(t, both);
    const idsOf = ({ body }: { body: never }) =>
      (body as { results: { id: number }[] }).results.map(({ id }) => id);
    const batch = (count: number) =>
      JSON.stringify({ applications: Array.from({ length: count }, () => anApplication()) });
    const kept = batch(3);
    const first = await postUntilServed(url, apiKey, kept, { 'Idempotency-Key': 'first' });
    assert.equal(first.status, 200);

    await standby.end('SIGKILL');
    const stop = watchWaiting(primary);
    const lost = batch(2);
    const send = () =>
      post(url, apiKey, lost, { 'Idempotency-Key': 'lost' }).then(
        ({ status }) => status,
        () => 'closed',
      );
    // The first writes may arrive in the standby's last moment; none is sent before it has certainly gone.
    await eventually('a commit that waits', async () => {
      void database.query("INSERT INTO words VALUES ('probe')").catch(() => {});
      return (await primary.waiting()).length > 0;
    });
    const answers = await Promise.all([
      send(),
      send(),
      ...Array.from({ length: 6 }, () =>
        post(url, apiKey, batch(1)).then(
          ({ status }) => status,
          () => 'closed',
        ),
      ),
    ]);
    assert.ok(
      answers.every((answer) => answer === 'closed' || answer === 500),
      answers.join(' '),
    );
    const most = await stop();
    assert.ok(most <= MOST_WAITING, `${most} waited at once`);

    await primary.end('SIGKILL');
    await standby.start();
    await standby.promote();
    const again = await eventually('the new primary', async () => {
      const answer = await post(url, apiKey, lost, { 'Idempotency-Key': 'lost' }).catch(() => null);
      return answer?.status === 200 && answer;
    });
    assert.equal(again.headers.get('idempotency-replayed'), null);
    const replay = await postUntilServed(url, apiKey, kept, { 'Idempotency-Key': 'first' });
    assert.deepEqual([replay.status, replay.text], [200, first.text]);
    const stored = await standby.ask<{ id: string }>('SELECT id FROM applications ORDER BY id');
    assert.deepEqual(
      stored.map(({ id }) => Number(id)).sort((a, b) => a - b),
      [...idsOf(first), ...idsOf(again)].sort((a, b) => a - b),
    );
  });
});
