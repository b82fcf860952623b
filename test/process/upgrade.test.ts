/**
 * An upgrade by one version, and the way back (docs/deploy.md). The next version is a copy of this one with migrations
 * of the next schema, which add a column to every table: the older processes must not mind them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../support/database.ts';
import { registerApplicants } from '../support/delivery-run.ts';
import { addPartner } from '../support/service.ts';
import { REPOSITORY, until } from './support.ts';
import { nextVersion, OWN, started, stop, type Version, versionsOn } from './versions.ts';

const store = await testDatabase();
const { command, start } = versionsOn(store, { CHANNEL: 'log' });

/** The next version adds a column to every table. */
async function withColumns(): Promise<string> {
  const { rows } = await store.database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
       AND NOT relispartition AND relname <> 'schema_migrations' ORDER BY relname`,
  );
  assert.ok(rows.length > 20);
  return nextVersion(rows.map(({ name }) => `ALTER TABLE ${name} ADD COLUMN of_next text`));
}

/**
 * Sends batches until it is stopped, and asks each time whether the service is ready. On a busy machine a probe may
 * take longer than its 1.5 s now and then; a fault is a service that is not ready for a fifth of the probes.
 */
function traffic({ url, ready }: Version, apiKey: string) {
  let isOn = true;
  let [probes, unready] = [0, 0];
  const faults: string[] = [];
  const ids: number[] = [];
  const ended = (async () => {
    while (isOn) {
      const [registered, status] = await Promise.allSettled([registerApplicants(url, apiKey, 3), ready()]);
      if (registered.status === 'fulfilled') ids.push(...registered.value);
      else faults.push(String(registered.reason));
      probes += 1;
      if (status.status === 'rejected' || status.value !== 200) unready += 1;
    }
  })();
  return {
    ids,
    async end() {
      isOn = false;
      await ended;
      if (unready > probes / 5) faults.push(`not ready at ${unready} of ${probes} probes`);
      return faults;
    },
  };
}

async function sent(ids: readonly number[]): Promise<void> {
  await until('the messages to be sent', async () => {
    const { rows } = await store.database.query(
      "SELECT FROM messages WHERE application_id = ANY ($1) AND status IN ('accepted', 'sent')",
      [ids],
    );
    return rows.length === ids.length;
  });
}

test('the old version serves and delivers while the next one migrates, and starts again after it', async (t) => {
  const { apiKey } = await addPartner(store);
  const nextFolder = await withColumns();
  const old = await start(REPOSITORY);
  const load = traffic(old, apiKey);
  await until('some answers', () => load.ids.length >= 9);

  const status = await command(nextFolder, ['migrate', '--status', '--json']).exit;
  const { pending, rolling } = JSON.parse(status.out);
  assert.deepEqual([pending.length > 20, rolling], [true, true]);
  // A backup keeps a lock on a table that every request reads.
  const backup = await store.database.connect();
  await backup.query('BEGIN; SELECT FROM partners');
  // Only the old version delivers.
  const migrating = command(nextFolder, ['serve'], { DELIVERY: 'off' });
  await until('the migration to wait for the backup', async () => {
    const { rows } = await store.database.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ALTER TABLE partners%'",
    );
    return rows.length > 0;
  });
  const meanwhile = load.ids.length;
  await until('answers beside the waiting migration', () => load.ids.length >= meanwhile + 30);
  backup.release(true);
  const next = await started(migrating);
  const { rows } = await store.database.query(
    'SELECT count(*)::int AS count FROM schema_migrations WHERE schema > $1',
    [OWN],
  );
  assert.ok(rows[0].count > 20);
  const before = load.ids.length;
  await until('more answers', () => load.ids.length >= before + 9);
  await until('the next version to be ready', async () => (await next.ready()) === 200);
  const ofNext = await registerApplicants(next.url, apiKey, 30);
  assert.deepEqual(await load.end(), []);
  await sent([...load.ids, ...ofNext]);

  await stop(next);
  await stop(old);
  const again = await start(REPOSITORY);
  await t.test(
    'the way back: the old version starts on the upgraded store, serves and delivers',
    async () => {
      await until('the old version to be ready', async () => (await again.ready()) === 200);
      await sent(await registerApplicants(again.url, apiKey, 30));
      assert.equal((await command(REPOSITORY, ['migrate']).exit).out, 'Nothing to do.\n');
    },
  );

  await t.test('a later migration that is not additive ends that: not ready, and no start', async () => {
    await store.database.query(
      `INSERT INTO schema_migrations (name, checksum, schema, additive) VALUES ('9999_breaking.sql', 'x', $1, false)`,
      [OWN + 1],
    );
    assert.equal(await again.ready(), 503);
    const log = () => again.running.out + again.running.err;
    await until('the log to say why', () =>
      /not ready: the database has migration 9999_breaking/.test(log()),
    );
    const { code, err } = await command(REPOSITORY, ['serve']).exit;
    assert.equal(code, 1);
    assert.equal((await command(REPOSITORY, ['migrate', '--status']).exit).err, err);
    assert.match(
      err,
      /^error: the database has migration 9999_breaking\.sql, which .*: update the service\n$/,
    );
  });
  await stop(again);
});
