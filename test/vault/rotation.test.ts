/** A new data key comes to three services under load, one service after the other. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { readiness } from '../../src/app/readiness.ts';
import { loadWitnesses } from '../../src/app/subjects.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { SealMark } from '../../src/seal/data-keys.ts';
import { confirmSecrets } from '../../src/seal/secrets.ts';
import { Vault } from '../../src/seal/vault.ts';
import { commandLine } from '../cli/harness.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { NEW, OLD, ONLY_NEW } from '../support/rotated-secrets.ts';
import { addPartner, anApplication, post } from '../support/service.ts';
import { startWithoutUpkeep } from '../support/start-patiently.ts';
import { LeapingClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database } = store;
const witnesses = await loadWitnesses();
const { apiKey } = await addPartner(store);

/** Starts a service as a process does that has these secrets. */
async function serve(secrets: typeof OLD) {
  const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
  const own = { ...store, vault: new Vault(secrets) };
  const log: string[] = [];
  const service = await startWithoutUpkeep(config, own, pino({ level: 'silent' }));
  await confirmSecrets(database, secrets, witnesses, machineClock);
  after(() => service.stop());
  const mark = new SealMark(own.vault);
  return {
    url: `${service.url}/PRO`,
    stop: () => service.stop(),
    /** As the upkeep does every 15 seconds. */
    mark: () => mark.tell(database),
    isReady: readiness(own, pino({}, { write: (line) => void log.push(line) })),
    log,
    /** They do not wait for real time. */
    commands: commandLine({ ...own, clock: new LeapingClock() }),
  };
}
type Running = Awaited<ReturnType<typeof serve>>;

const acknowledged: number[] = [];
let services: Running[] = [];
let stopLoad = false;

/** Sends one batch after the other, to one service after the other; a service that is gone gets no more. */
async function load(offset: number): Promise<void> {
  for (let n = offset; !stopLoad; n += 1) {
    const { url } = services[n % services.length]!;
    const applications = Array.from({ length: 1 + (n % 7) }, () => anApplication());
    const answer = await post(url, apiKey, { applications }).catch(() => null);
    if (answer?.status !== 200) continue;
    for (const { id } of (answer.body as { results: { id: number }[] }).results) acknowledged.push(id);
  }
}

/** As if the services that are gone had said nothing for a minute. */
async function forgetStopped(): Promise<void> {
  await database.query(
    "UPDATE secret_checks SET seals_at = now() - interval '61 seconds' WHERE seals_at IS NOT NULL",
  );
  for (const { mark } of services) await mark();
}

/** Loads the three services until each of them has acknowledged more. */
async function goOn(): Promise<void> {
  const target = acknowledged.length + 60;
  await eventually('more registrations', () => acknowledged.length >= target);
}

describe('a new data key under load', () => {
  it('that one of three services knows: the others say so, nothing is resealed or retired, and nothing is lost', async () => {
    services = [await serve(OLD), await serve(OLD), await serve(OLD)];
    const loads = [load(0), load(1), load(2)];
    await goOn();
    // One service alone comes back with the new key first: a round too early.
    await services[0]!.stop();
    services[0] = await serve(NEW);
    await goOn();
    for (const { mark } of services) await mark();
    assert.equal(await services[0]!.isReady(), true);
    for (const { isReady, log } of services.slice(1)) {
      assert.equal(await isReady(), 'unknown_data_key');
      assert.match(
        log.join(''),
        /other processes seal with data key 2, which this process does not have in DATA_KEYS/,
      );
    }
    const { run } = services[0]!.commands;
    assert.match((await run('vault', 'reseal')).err, /a running service still seals with data key 1/);
    assert.match((await run('vault', 'retire', '1')).err, /a running service still seals with data key 1/);
    const old = services[1]!.commands;
    assert.match((await old.run('vault', 'reseal')).err, /a running service still seals with data key 2/);
    assert.match(
      (await old.run('vault', 'retire', '2')).err,
      /a running service still seals with data key 2/,
    );

    // The other two follow, and the old key goes while the load goes on.
    for (const index of [1, 2]) {
      await services[index]!.stop();
      services[index] = await serve(NEW);
    }
    await forgetStopped();
    for (const { isReady } of services) assert.equal(await isReady(), true);
    const resealed = await services[2]!.commands.json('vault', 'reseal', '--wait');
    assert.ok(resealed.resealed > 0 && resealed.unopened === 0, JSON.stringify(resealed));
    assert.deepEqual(await services[2]!.commands.json('vault', 'retire', '1'), {
      key: 1,
      retired: true,
      damaged: 0,
    });
    await services[0]!.stop();
    services[0] = await serve(ONLY_NEW);
    await goOn();
    stopLoad = true;
    await Promise.all(loads);

    const { rows } = await database.query('SELECT id::float8 AS id FROM applications WHERE id = ANY ($1)', [
      acknowledged,
    ]);
    assert.equal(rows.length, acknowledged.length);
    const keys = await database.query('SELECT DISTINCT get_byte(envelope, 0) AS key FROM batches');
    assert.deepEqual(keys.rows, [{ key: 2 }]);
    const shown = await services[0]!.commands.json('application', 'list');
    assert.equal(shown.length, (await database.query('SELECT FROM applications')).rowCount);
    for (const { id, phone, fault } of shown) assert.ok(phone !== null && !fault, `application ${id}`);
  });
});
