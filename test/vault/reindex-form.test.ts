/** A store of the version before D49: its indexes of ID numbers are made again, and nothing finds less meanwhile. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { beforeEach, describe, it } from 'node:test';
import { loadWitnesses } from '../../src/app/subjects.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { formerIdNumberIndexOf, idNumberIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import type { Reindexing } from '../../src/seal/reindex.ts';
import { checkSecrets, checkSecretsOfCommand, confirmSecrets } from '../../src/seal/secrets.ts';
import { type Secrets, Vault } from '../../src/seal/vault.ts';
import { openEnvelope, sealEnvelope } from '../../src/subjects/applications/sql/envelope.ts';
import { fillLookUpBuckets } from '../../src/subjects/applications/sql/partitions.ts';
import { eraseSubject } from '../../src/subjects/rights/uses/erase-subject.ts';
import { exportSubject } from '../../src/subjects/rights/uses/export-subject.ts';
import { reindex } from '../../src/subjects/vault/uses/reindex.ts';
import { commandLine, REVEAL } from '../cli/harness.ts';
import { applicant, REJECTED } from '../support/applicant.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';
import { forgetServices, putFormerForm } from '../support/former-form.ts';
import { registrarOf } from '../support/intake.ts';
import { closePartition } from '../support/old-partitions.ts';
import { remac } from '../support/remac.ts';
import { LeapingClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { database, vault } = store;
const WITNESSES = await loadWitnesses();
const { reindexings } = WITNESSES;
const NEWER = { ...TEST_SECRETS, newerIndexKeys: [createHash('sha256').update('newer').digest()] };
const context = { database, vault, clock: new LeapingClock(), actor: 'ana' };
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const SPELLINGS = ['1.077.345.210', '1077345210', 'CC 1077345210'];
let phones = 0;

/** Registers an application of a phone of its own for each ID number, in one batch. */
async function register(idNumbers: readonly string[]): Promise<number[]> {
  const one = (id_number: string) => {
    phones += 1;
    return applicant({
      id_number,
      phone: toPhone(`+5730055${String(phones).padStart(5, '0')}`),
      ...REJECTED,
    });
  };
  return (await registrarOf(store))(key, idNumbers.map(one));
}

/** The applications of the spellings above, in two partitions and many batches, in a store of the form before. */
async function formerStore(): Promise<number[]> {
  const ids = await register(SPELLINGS);
  await closePartition(database);
  ids.push(...(await register(SPELLINGS)), ...(await register(['1 077 345 210'])));
  await putFormerForm(database, vault);
  await fillLookUpBuckets(database);
  return ids.toSorted();
}

const found = async ({ run, json: read } = commandLine(store)) => {
  const lists = [];
  for (const spelling of SPELLINGS)
    lists.push(await read('application', 'list', '--id-number', spelling, '--limit', '50', ...REVEAL));
  assert.equal((await run('subject', 'erase', '--id-number', SPELLINGS[0]!, '--reason', 'x')).code, 0);
  return lists.map((list) => {
    for (const one of list) assert.equal(one.fault, null);
    return list.map(({ id }: { id: number }) => id).toSorted();
  });
};
const checks = [checkSecrets, checkSecretsOfCommand, confirmSecrets] as const;
const refusedAs = async (secrets: Secrets, message: RegExp) => {
  for (const check of checks)
    await assert.rejects(check(database, secrets, WITNESSES, machineClock), { message });
};
const numbersOf = async () =>
  (await database.query('SELECT id, id_numbers, phones FROM batches ORDER BY id')).rows as {
    id: string;
    id_numbers: (string | null)[];
    phones: (string | null)[];
  }[];

describe('vault reindex of a store of the form before D49', () => {
  beforeEach(async () => {
    await database.query('DELETE FROM batches');
    await database.query('DELETE FROM look_up_buckets');
    await database.query('DELETE FROM open_phones');
    await database.query('DELETE FROM suppressions');
    await database.query('DELETE FROM reindexes');
    await database.query('DELETE FROM secret_checks');
    await confirmSecrets(database, TEST_SECRETS, WITNESSES, machineClock);
    await forgetServices(database);
    // The test before may have left the MACs of a newer key.
    await remac(store);
  });

  it('is asked for before anything is looked for, and then every spelling finds all', async () => {
    const ids = await formerStore();
    await refusedAs(
      TEST_SECRETS,
      /^this version compares ID numbers .*: stop every service and worker, and run vault reindex$/,
    );
    // A process that is past its start finds nobody, and says so.
    for (const spelling of SPELLINGS) {
      await assert.rejects(json('application', 'list', '--id-number', spelling), /vault reindex/);
      await assert.rejects(
        exportSubject(context, { idNumber: spelling }, async () => {}),
        { code: 'VN005' },
      );
    }
    await assert.rejects(register(['5']), 'nothing is registered in the new form beside the one before');
    const made = await commandLine({ ...store, clock: new LeapingClock() }).json('vault', 'reindex');
    assert.deepEqual([made.written > 0, made.unopened], [true, 0]);
    for (const check of checks) await check(database, TEST_SECRETS, WITNESSES, machineClock);
    for (const _ of ['before the buckets are filled', 'after']) {
      assert.deepEqual(await found(), [ids, ids, ids]);
      await fillLookUpBuckets(database);
    }
    await forgetServices(database);
    assert.equal(await reindex(context, reindexings), null);
  });

  it('is over or goes on wherever it fails, also with a newer key at once: no index is made twice', async () => {
    const ids = await formerStore();
    await database.query("INSERT INTO suppressions (phone_index, source) VALUES (11, 'operator')");
    const newer = new Vault(NEWER);
    const before = await numbersOf();
    let failed = 0;
    const failing = reindexings.map((kind): Reindexing => {
      const undone = new Set<string>();
      return {
        ...kind,
        step: async (session, remaking, from) => {
          const done = await kind.step(session, remaking, from);
          if (undone.has(from)) return done;
          undone.add(from);
          failed += 1;
          throw new Error('the step fails');
        },
      };
    });
    for (let turn = 0; ; turn += 1) {
      assert.ok(turn < 1_000);
      const done = await reindex({ ...context, vault: newer }, failing).catch((error: Error) => {
        if (error.message !== 'the step fails') throw error;
        return null;
      });
      if (done !== null) break;
      for (const secrets of [TEST_SECRETS, NEWER]) await refusedAs(secrets, /^a vault reindex is not over/);
    }
    assert.ok(failed >= reindexings.length);
    const again = (index: string | null) =>
      index &&
      toBigint(newer.indexAgain(BigInt.asUintN(64, BigInt(index)).toString(16).padStart(16, '0')) as never);
    const one = toBigint(idNumberIndexOf(newer, '1077345210'));
    assert.deepEqual(
      await numbersOf(),
      before.map(({ id, id_numbers, phones: some }) => ({
        ...{ id, id_numbers: id_numbers.map(() => one) },
        phones: some.map(again),
      })),
    );
    await refusedAs(TEST_SECRETS, /^INDEX_KEY is not the one/);
    assert.deepEqual(await found(commandLine({ ...store, vault: newer })), [ids, ids, ids]);
  });

  it('lets one process take steps at a time', async () => {
    const ids = await formerStore();
    const both = await Promise.allSettled([1, 2].map(() => reindex(context, reindexings)));
    assert.ok(both.some(({ status }) => status === 'fulfilled'));
    for (const end of both) {
      if (end.status === 'rejected')
        assert.match(String(end.reason), /another vault reindex (is under way|has just)/);
    }
    assert.deepEqual(await found(), [ids, ids, ids]);
  });

  it('leaves what does not open or is not of its row as it is, and counts it', async () => {
    const [damaged] = (await register(['9.1', '9.2'])) as [number];
    const [swapped] = (await register(['8.1', '8.2'])) as [number];
    const [erased] = (await register(['7.1', '7.2'])) as [number];
    await json('subject', 'erase', '--id-number', '7.1', '--reason', 'x', '--yes');
    await putFormerForm(database, vault);
    await database.query(
      'UPDATE batches SET envelope = set_byte(envelope, 40, 255 - get_byte(envelope, 40)) WHERE id = batch_of($1)',
      [damaged],
    );
    const { rows } = await database.query(
      'SELECT id, seal_id, envelope FROM batches WHERE id = batch_of($1)',
      [swapped],
    );
    const records = openEnvelope(vault, rows[0].seal_id, rows[0].envelope);
    const others = [1, 0].map((other, position) => ({ position, application: records[other]! }));
    await database.query('UPDATE batches SET envelope = $2 WHERE id = $1', [
      rows[0].id,
      sealEnvelope(vault, rows[0].seal_id, others),
    ]);
    const before = await numbersOf();
    const done = await reindex(context, reindexings);
    assert.equal(done?.unopened, 4);
    const after = await numbersOf();
    assert.deepEqual(after.slice(0, 2), before.slice(0, 2));
    assert.deepEqual(after[2]?.id_numbers, ['0', toBigint(idNumberIndexOf(vault, '72'))]);
    const shown = async (id: number) =>
      (await commandLine(store).run('application', 'show', `${id}`, '--json', ...REVEAL)).out;
    assert.equal(JSON.parse(await shown(swapped)).fault, 'mismatch');
    assert.equal(JSON.parse(await shown(erased)).fault, null);
  });

  it('asks for the data key that it lacks, and goes on with it', async () => {
    const [lost] = (await register(['6.1'])) as [number];
    await putFormerForm(database, vault);
    const poor = new Vault({ ...TEST_SECRETS, dataKeys: new Map([[2, Buffer.alloc(32, 2)]]) });
    await assert.rejects(reindex({ ...context, vault: poor }, reindexings), {
      message:
        /a data key that this command lacks: set DATA_KEYS as the services have it, and run this command again$/,
    });
    await refusedAs(TEST_SECRETS, /^a vault reindex is not over/);
    assert.equal((await reindex(context, reindexings))?.unopened, 0);
    const [found] = await json('application', 'list', '--id-number', '61');
    assert.equal(found.id, lost);
  });

  it('an erasure or a suppression that was under way when it began says so, and does nothing by halves', async () => {
    const ids = await register(SPELLINGS);
    // The reindex of a newer key stops after its beginning, as if it was killed.
    const killed: Reindexing[] = [{ name: 'open phones', step: async () => assert.fail('killed') }];
    await assert.rejects(reindex({ ...context, vault: new Vault(NEWER) }, killed), /killed/);
    const why = { close: true, reason: 'x' };
    const eraser = { ...context, database: store.coordinator ?? database };
    for (const asked of [{ idNumber: SPELLINGS[0] }, { phone: '+57 300 599 9999' }])
      await assert.rejects(eraseSubject(eraser, asked, why), { code: 'VN005' });
    for (const act of ['add', 'remove'])
      await assert.rejects(json('suppression', act, '+57 300 599 9999'), /vault reindex/);
    await reindex({ ...context, vault: new Vault(NEWER) }, reindexings);
    await assert.rejects(eraseSubject(eraser, { idNumber: SPELLINGS[0] }, why), { code: 'VN005' });
    const now = { ...eraser, vault: new Vault(NEWER) };
    assert.deepEqual((await eraseSubject(now, { idNumber: SPELLINGS[0] }, why)).applications.toSorted(), ids);
  });

  it('a backup is made of such a store, and comes back: who looks for nobody by an index needs no reindex', async () => {
    await formerStore();
    await checkSecrets(database, TEST_SECRETS, WITNESSES, machineClock, 'backup');
    const newer = checkSecrets(database, NEWER, WITNESSES, machineClock, 'backup');
    await assert.rejects(newer, /INDEX_KEY has a newer key/);
  });

  it('a store without applications is asked for it too', async () => {
    await putFormerForm(database, vault);
    await refusedAs(TEST_SECRETS, /run vault reindex$/);
    assert.equal((await reindex(context, reindexings))?.unopened, 0);
    for (const check of checks) await check(database, TEST_SECRETS, WITNESSES, machineClock);
  });

  it('a text without letters and digits has one index in both forms', () => {
    assert.equal(formerIdNumberIndexOf(vault, '---'), idNumberIndexOf(vault, '---'));
  });
});
