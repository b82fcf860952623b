/**
 * A data key is replaced while services run: everything is sealed again, and the old key is proved to be needed no
 * more.
 */
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import { readiness } from '../../src/app/readiness.ts';
import { loadWitnesses } from '../../src/app/subjects.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { NOBODY } from '../../src/program/subject/watcher.ts';
import { knownDataKeys, readDataKeys, SealMark } from '../../src/seal/data-keys.ts';
import { checkSecrets, checkSecretsOfCommand, confirmSecrets } from '../../src/seal/secrets.ts';
import { MOST_SEALS, Vault } from '../../src/seal/vault.ts';
import type { SealedKind } from '../../src/seal/witness.ts';
import { openEnvelope, sealEnvelope } from '../../src/subjects/applications/sql/envelope.ts';
import { trimSurplus } from '../../src/subjects/applications/sql/surplus.ts';
import { readEndpoint } from '../../src/subjects/events/push/sql/endpoints.ts';
import { lockAccount, openTotp, setFactors } from '../../src/subjects/operators/sql/factors.ts';
import { addOperator } from '../../src/subjects/operators/uses/manage.ts';
import { sealLog, vaultService } from '../../src/subjects/vault/service.ts';
import { awaitReseal, reseal } from '../../src/subjects/vault/uses/operate.ts';
import { resealTurn } from '../../src/subjects/vault/uses/reseal-step.ts';
import { commandLine, REVEAL } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { setEndpoint } from '../support/pushes.ts';
import { NEW, OLD, ONLY_NEW } from '../support/rotated-secrets.ts';
import { addPartner, anApplication, post } from '../support/service.ts';
import { startWithoutUpkeep } from '../support/start-patiently.ts';
import { batchOf, emptyApplications } from '../support/stored-applications.ts';
import { LeapingClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database } = store;
const old = { ...store, vault: new Vault(OLD) };
/** Its commands do not wait for real time. */
const clock = new LeapingClock();
const next = { ...store, vault: new Vault(NEW), clock };
const WITNESSES = await loadWitnesses();
const kinds = WITNESSES.dataKeys;
const { run, json } = commandLine(next);
const { keyId, partnerId, apiKey } = await addPartner(store);

let phones = 0;
/** The ids of applications that one call registers, sealed by `process`. */
async function register(process: TestDatabase, count: number, city = 'Cali'): Promise<number[]> {
  const register = await registrarOf(process);
  const some = Array.from({ length: count }, () => {
    phones += 1;
    return applicant({ phone: `+5730055${`${phones}`.padStart(5, '0')}` as never, city });
  });
  return register(keyId, some);
}

/** The ids of the data keys of all sealed rows. */
async function keysOf(): Promise<number[]> {
  const { rows } = await database.query(
    `SELECT DISTINCT get_byte(sealed, 0) AS key FROM
      (SELECT envelope AS sealed FROM batches UNION ALL SELECT sealed FROM partner_endpoints) AS s ORDER BY 1`,
  );
  return rows.map(({ key }) => key);
}

/** As if no service had said for a minute that it seals. */
async function forgetServices(): Promise<void> {
  await database.query(
    "UPDATE secret_checks SET seals_at = now() - interval '61 seconds' WHERE seals_at IS NOT NULL",
  );
}

/** Ends the pause before the next step. */
const endPause = () => database.query("UPDATE reseals SET next_at = now() - interval '1 second'");

beforeEach(async () => {
  await emptyApplications(database);
  await database.query('DELETE FROM reseals');
  await database.query("DELETE FROM secret_checks WHERE name LIKE 'DATA_KEYS%'");
  await database.query("UPDATE elapsed SET refused_keys = '{}'");
  await database.query('TRUNCATE partner_endpoints');
  await database.query('DELETE FROM operators');
  await setEndpoint(old, partnerId, { url: 'https://partner.example/', host: '' });
  await confirmSecrets(database, OLD, WITNESSES, machineClock);
  await forgetServices();
});

describe('vault reseal', () => {
  it('seals every envelope and endpoint with the first key; what they hold stays', async () => {
    const ids = [
      ...(await register(old, 250)),
      ...(await register(old, 100, 'x'.repeat(80))),
      ...(await register(old, 1)),
    ];
    const before = await database.query('SELECT * FROM batches ORDER BY id');
    const endpoint = await readEndpoint(database, next.vault, partnerId);
    assert.deepEqual(await keysOf(), [1]);
    assert.match(
      (await run('vault', 'reseal', '--wait')).out,
      /^The last reseal, with data key 2, sealed 6 values again\.\n$/,
    );
    assert.deepEqual(await keysOf(), [2]);
    const after = await database.query('SELECT * FROM batches ORDER BY id');
    for (const [index, row] of after.rows.entries()) {
      const { envelope, ...others } = row;
      const { envelope: sealed, ...same } = before.rows[index];
      assert.deepEqual(others, same);
      const opened = [envelope, sealed].map((bytes) => openEnvelope(next.vault, row.seal_id, bytes));
      assert.deepEqual(opened[0], opened[1]);
    }
    assert.deepEqual(await readEndpoint(database, next.vault, partnerId), endpoint);
    assert.equal((await json('application', 'show', `${ids[0]}`, ...REVEAL)).city, 'Cali');
  });

  it('seals the secrets of operators’ codes: the codes count on, and the account is whole', async () => {
    const { operator } = await addOperator(old, { login: 'ana', role: 'reviewer', authority: new Map() });
    const secret = Buffer.from('twenty bytes of them');
    const account = (await lockAccount(database, old.vault, operator.id))!;
    await setFactors(database, old.vault, account, { password: 'none', totp: secret });
    await run('vault', 'reseal', '--wait');
    const onlyNew = new Vault(ONLY_NEW);
    const { totp } = (await lockAccount(database, onlyNew, operator.id))!;
    assert.ok(openTotp(onlyNew, operator.id, totp!).equals(secret));
    assert.equal((await json('vault', 'retire', '1')).retired, true);
  });

  it('writes a page of each kind by one statement that the store takes', async () => {
    const rows = [{ id: '1', under: ['1', '1'], sealed: Buffer.of(1) }];
    const vault = { sealingKey: { id: 2 }, reseal: () => Buffer.of(2) } as unknown as Vault;
    for (const kind of kinds.filter(({ name }) => name !== 'envelopes')) {
      let writes = 0;
      const query = async (text: string, values: unknown[]) => {
        if (/^\s*SELECT/.test(text)) return { rows };
        writes += 1;
        return store.runtime.query(text, values);
      };
      const { resealed } = await kind.reseal({ query } as unknown as Database, vault, '');
      assert.deepEqual([kind.name, writes, resealed], [kind.name, 1, 0]);
    }
  });

  it('returns at once; processes take the steps in turn, and one goes on where another was killed', async () => {
    await register(old, 1);
    await register(old, 1200);
    const started = await run('vault', 'reseal');
    assert.match(
      started.out,
      /^The services seal everything again with data key 2\. vault status tells how far/,
    );
    assert.match(started.err, /^No running service seals with that key yet/);
    assert.match((await run('vault', 'reseal')).out, /^The services are already at it/);
    // A process that takes a step and dies: nobody takes the step for half a minute.
    const dies = { ...next, kinds: kinds.map((kind) => ({ ...kind, reseal: () => assert.fail('killed') })) };
    await assert.rejects(resealTurn(dies), /killed/);
    assert.deepEqual(await resealTurn({ ...next, kinds }), { kind: 'idle' });
    let turns = 0;
    for (let kind = ''; kind !== 'finished'; turns += 1) {
      await endPause();
      ({ kind } = await resealTurn({ ...next, kinds }));
      if (kind === 'step')
        assert.match((await run('vault', 'status')).out, /A reseal with data key 2 is under way, at the /);
    }
    assert.ok(turns >= 2, `${turns} turns`);
    assert.deepEqual(await keysOf(), [2]);
    assert.deepEqual((await json('vault', 'status')).reseal.resealed, 14);
  });

  it('is held to 25,000 applications a second', async () => {
    await register(old, 100);
    await run('vault', 'reseal');
    await resealTurn({
      ...next,
      kinds: [
        { ...kinds[0]!, reseal: async () => ({ next: null, resealed: 0, unopened: 0, applications: 0 }) },
        kinds[1]!,
      ],
    });
    const { rows } = await database.query('SELECT kind FROM reseals');
    assert.deepEqual(rows, [{ kind: 'envelopes' }]);
    await endPause();
    const slow = { next: '5', resealed: 1, unopened: 0, applications: 50_000 };
    const reseal = async () => {
      await clock.advance(500);
      return slow;
    };
    const turn = await resealTurn({ ...next, kinds: [kinds[0]!, { ...kinds[1]!, reseal }] });
    // Two seconds of work less the time that it took, and two milliseconds for a timer that rings early.
    assert.deepEqual(turn, { kind: 'step', restMs: 1_502 });
    // For every process, until then.
    assert.deepEqual(await resealTurn({ ...next, kinds }), { kind: 'idle' });
  });

  it('--wait gives up where nobody takes a step for five minutes', async () => {
    await run('vault', 'reseal');
    // As after a process that died in a step: nobody takes the step for a while.
    await database.query("UPDATE reseals SET next_at = now() + interval '1 minute'");
    const begunMs = clock.monotonicMs();
    const { code, err } = await run('vault', 'reseal', '--wait');
    assert.equal(code, 1);
    assert.match(err, /the reseal has stood still for five minutes: vault status shows which keys/);
    assert.equal(clock.monotonicMs() - begunMs, 301_000);
  });

  it('is refused while a running service seals with another key, and pauses where one comes', async () => {
    await register(old, 1);
    await new SealMark(old.vault).tell(database);
    const refused = await run('vault', 'reseal', '--wait');
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(
      refused.err,
      /a running service still seals with data key 1: start every service and worker with key 2 first/,
    );
    await forgetServices();
    await run('vault', 'reseal');
    await new SealMark(old.vault).tell(database);
    assert.deepEqual(await resealTurn({ ...next, kinds }), { kind: 'idle' });
    await forgetServices();
    assert.equal((await resealTurn({ ...next, kinds })).kind, 'step');
  });

  it('leaves an envelope that changes meanwhile to its writer: no refused applicant comes back', async () => {
    const [id] = await register(old, 2);
    const { id: batchId, seal_id: sealId, envelope } = await batchOf(database, id!);
    const records = openEnvelope(next.vault, sealId, envelope);
    const trimmed = sealEnvelope(old.vault, sealId, [{ position: 0, application: records['0']! }]);
    // The trim comes between the reading of the step and the transaction that writes.
    const trimming = Object.create(database, {
      query: { value: database.query.bind(database) },
      connect: {
        async value() {
          await database.query('UPDATE batches SET envelope = $2 WHERE id = $1', [batchId, trimmed]);
          return database.connect();
        },
      },
    });
    const envelopes = kinds.find(({ name }) => name === 'envelopes')!;
    const step = await envelopes.reseal(trimming, next.vault, '');
    assert.deepEqual([step.resealed, step.unopened], [0, 0]);
    assert.deepEqual((await batchOf(database, id!)).envelope, trimmed);
  });

  it('an envelope that is resealed before it is trimmed is trimmed all the same', async () => {
    const [id] = await register(old, 2);
    const { id: batchId } = await batchOf(database, id!);
    await database.query(
      `UPDATE batches SET surplus = true, created_at = now() - interval '1 minute', phones[2] = NULL, id_numbers[2] = NULL
      WHERE id = $1`,
      [batchId],
    );
    await run('vault', 'reseal', '--wait');
    await trimSurplus(database, next.vault, machineClock);
    const { envelope, seal_id: sealId } = await batchOf(database, id!);
    assert.deepEqual(Object.keys(openEnvelope(new Vault(ONLY_NEW), sealId, envelope)), ['0']);
  });
});

describe('the upkeep of a service', () => {
  /** A service that seals these kinds. `ended` waits until its log says that a reseal is over. */
  function serviceOf(some: readonly SealedKind[]) {
    const log: string[] = [];
    const jobs = vaultService(some).upkeep ?? [];
    const stopping = new AbortController();
    const context = {
      ...next,
      clock: machineClock,
      log: pino({}, { write: (line) => void log.push(line) }),
      failed: (work: string, error: unknown) => assert.fail(`${work}: ${error}`),
      setting: () => assert.fail('no setting is read'),
      watcher: NOBODY,
      stopping: stopping.signal,
    };
    const turn = async () => {
      for (const { run } of jobs) await run(context);
    };
    const ended = () =>
      eventually(
        'the end of the reseal',
        () => log.join('').includes('everything is sealed with this') || undefined,
      );
    return { turn, ended, stopping };
  }

  it('takes the steps of a reseal beside its turns, and says when it is over; a stop ends the work', async () => {
    await register(old, 150);
    const { turn, ended, stopping } = serviceOf(kinds);
    await turn();
    assert.deepEqual(await keysOf(), [1]);
    await run('vault', 'reseal');
    await turn();
    await ended();
    assert.deepEqual(await keysOf(), [2]);

    await database.query('DELETE FROM reseals');
    stopping.abort();
    await run('vault', 'reseal');
    await turn();
    assert.equal((await json('vault', 'status')).reseal.finished_at, null);
  });

  it('takes one step after the other within one turn, although timers ring early', async () => {
    const STEPS = 300;
    const small: SealedKind = {
      ...kinds[0]!,
      reseal: async (_database, _vault, from) => ({
        next: Number(from) < STEPS ? `${Number(from) + 1}` : null,
        // The rate allows the next step after a little less than 3 ms, which a timer cuts to 2.
        applications: 75,
        resealed: 0,
        unopened: 0,
      }),
    };
    const { turn, ended } = serviceOf([small]);
    await turn();
    await run('vault', 'reseal');
    await turn();
    await ended();
  });
});

describe('vault retire', () => {
  it('is refused with the number of rows that need the key, and registrations with the key go on', async () => {
    await register(old, 201);
    const refused = await run('vault', 'retire', '1');
    assert.equal(refused.code, 1);
    assert.match(
      refused.err,
      /4 rows need data key 1 \(endpoints: 1, envelopes: 3\): run vault reseal --wait, then/,
    );
    assert.equal((await register(old, 1)).length, 1);
  });

  it('proves that no row needs the key; then a start without the key is taken, and one that seals with it refused', async () => {
    await register(old, 3);
    await run('vault', 'reseal', '--wait');
    const retired = await run('vault', 'retire', '1');
    assert.match(retired.out, /^No row needs data key 1: it is retired\. Leave it out of DATA_KEYS/);
    assert.match((await run('vault', 'retire', '1')).out, /^Data key 1 was retired before\./);
    await checkSecrets(database, ONLY_NEW, WITNESSES, machineClock);
    await confirmSecrets(database, ONLY_NEW, WITNESSES, machineClock);
    for (const check of [checkSecrets, checkSecretsOfCommand, confirmSecrets])
      await assert.rejects(
        check(database, OLD, WITNESSES, machineClock),
        /DATA_KEYS 1 is retired: put another key first/,
      );
    // The key may stay in the list for a while.
    await confirmSecrets(database, NEW, WITNESSES, machineClock);
    assert.match((await run('vault', 'status')).out, /1 +retired 20/);
  });

  it('a process that still seals with the key registers nothing, and is not ready', async () => {
    const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
    const service = await startWithoutUpkeep(config, old, pino({ level: 'silent' }));
    after(() => service.stop());
    const send = () => post(`${service.url}/PRO`, apiKey, { applications: [anApplication()] });
    assert.equal((await send()).status, 200);
    await run('vault', 'reseal', '--wait');
    await forgetServices();
    assert.equal((await run('vault', 'retire', '1')).code, 0);
    assert.equal((await send()).status, 500);
    assert.deepEqual(await keysOf(), [2]);
    const log: string[] = [];
    const isReady = readiness(old, pino({}, { write: (line) => void log.push(line) }));
    assert.equal(await isReady(), 'retired_data_key');
    assert.match(log.join(''), /this process seals with data key 1, which is retired/);
    assert.equal(await readiness(next, pino({ level: 'silent' }))(), true);
  });

  it('is refused for a key that seals, here or in a running service, and for one that nobody has', async () => {
    assert.match((await run('vault', 'retire', '2')).err, /data key 2 seals: put another key first/);
    await new SealMark(old.vault).tell(database);
    assert.match((await run('vault', 'retire', '1')).err, /a running service still seals with data key 1/);
    assert.match((await run('vault', 'retire', '7')).err, /there is no data key 7/);
    assert.equal((await run('vault', 'retire', 'x')).code, 2);
  });

  it('an envelope that no key opens does not hold a key', async () => {
    const [id] = await register(old, 1);
    await register(old, 1);
    await database.query(
      `UPDATE batches SET envelope = set_byte(envelope, 30, get_byte(envelope, 30) # 1) WHERE id = batch_of($1)`,
      [id],
    );
    assert.match(
      (await run('vault', 'retire', '1')).err,
      /2 rows need data key 1 \(endpoints: 1, envelopes: 1\)/,
    );
    const resealed = await json('vault', 'reseal', '--wait');
    assert.deepEqual([resealed.resealed, resealed.unopened], [2, 1]);
    assert.deepEqual(await keysOf(), [1, 2]);
    const retired = await json('vault', 'retire', '1');
    assert.deepEqual(retired, { key: 1, retired: true, damaged: 1 });
  });
});

describe('the seals of a key', () => {
  const sealsOf = async (id: number) =>
    Number(
      (await database.query('SELECT seals FROM secret_checks WHERE name = $1', [`DATA_KEYS ${id}`])).rows[0]
        ?.seals,
    );

  it('are counted where vault reseal --wait fails, and every 15 seconds while it works', async () => {
    await forgetServices();
    await database.query('DELETE FROM reseals');
    const context = { database, vault: new Vault(NEW), clock, actor: 'ana' };
    const told: number[] = [];
    const kinds: SealedKind[] = [
      {
        ...WITNESSES.dataKeys[0]!,
        reseal: async (_, vault, from) => {
          told.push(await sealsOf(2));
          if (told.length === 3) throw new Error('a step fails');
          for (let n = 0; n < 5; n += 1) vault.seal('x', 'x');
          // One millisecond is missing after the first step, and has passed after the second.
          await clock.advance(told.length === 1 ? 14_999 : 0);
          return { next: `${Number(from) + 1}`, resealed: 5, unopened: 0, applications: 5 };
        },
      },
    ];
    const before = (await sealsOf(2)) || 0;
    await reseal(context, kinds);
    await assert.rejects(awaitReseal(context, kinds), /a step fails/);
    assert.deepEqual(
      told.map((seals) => seals || 0),
      [before, before, before + 10],
    );
    assert.equal(await sealsOf(2), before + 10);
    await database.query('DELETE FROM reseals');
    await forgetServices();
  });

  it('stay where a service starts without the key, for the case that the key comes back', async () => {
    await forgetServices();
    const third = { ...OLD, dataKeys: new Map([...OLD.dataKeys, [3, Buffer.alloc(32, 3)]]) };
    const sealing = { ...OLD, dataKeys: new Map([[3, Buffer.alloc(32, 3)], ...OLD.dataKeys]) };
    await confirmSecrets(database, sealing, WITNESSES, machineClock);
    const vault = new Vault(sealing);
    for (let n = 0; n < 7; n += 1) vault.seal('x', 'x');
    await new SealMark(vault).tell(database);
    await forgetServices();
    await confirmSecrets(database, OLD, WITNESSES, machineClock);
    assert.ok(!(await knownDataKeys(database)).has(3), 'data of the key counts as damaged');
    assert.ok((await readDataKeys(database)).every(({ id }) => id !== 3));
    await confirmSecrets(database, third, WITNESSES, machineClock);
    assert.equal((await readDataKeys(database)).find(({ id }) => id === 3)?.seals, 7);
    // Another key under the number has sealed nothing.
    await confirmSecrets(
      database,
      { ...OLD, dataKeys: new Map([...OLD.dataKeys, [3, Buffer.alloc(32, 4)]]) },
      WITNESSES,
      machineClock,
    );
    assert.equal((await readDataKeys(database)).find(({ id }) => id === 3)?.seals, 0);
    await confirmSecrets(database, OLD, WITNESSES, machineClock);
  });

  it('are counted over all processes, and the log tells of each twentieth from half of the bound on', async () => {
    const marks = [new SealMark(old.vault), new SealMark(old.vault)];
    const counted = await marks[0]!.tell(database);
    await register(old, 250);
    assert.equal(await marks[0]!.tell(database), counted + 3);
    assert.equal(await marks[0]!.tell(database), counted + 3);
    const [key] = (await json('vault', 'status')).keys;
    assert.deepEqual(
      [key.id, key.seals_now, key.seals, key.share],
      [1, true, counted + 3, (counted + 3) / MOST_SEALS],
    );

    const log: string[] = [];
    const tell = sealLog(old.vault, pino({}, { write: (line) => void log.push(line) }));
    for (const share of [0.1, 0.49, 0.51, 0.52, 0.56, 0.56, 1.01]) tell(Math.round(share * MOST_SEALS));
    const told = log
      .map((line) => JSON.parse(line))
      .map(({ level, data_key, seals }) => [level, data_key, (seals / MOST_SEALS).toFixed(2)]);
    assert.deepEqual(told, [
      [40, 1, '0.51'],
      [40, 1, '0.56'],
      [50, 1, '1.01'],
    ]);
  });
});
