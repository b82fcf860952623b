/** One person is one person, in whatever spelling partners send the ID number (D49). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { fillLookUpBuckets } from '../../src/subjects/applications/sql/partitions.ts';
import { neighbourRoute } from '../../src/subjects/desk/routes/neighbours.ts';
import { commandLine, REVEAL } from '../cli/harness.ts';
import { applicant, REJECTED } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { closePartition } from '../support/old-partitions.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { json, run } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
const WHY = ['--reason', 'ticket 1'];
let phones = 0;

/**
 * Registers an application for each ID number, each with a phone of its own, so that the ID number alone joins them.
 */
async function registerAll(idNumbers: readonly string[]): Promise<number[]> {
  const ids: number[] = [];
  for (const id_number of idNumbers) {
    phones += 1;
    const phone = toPhone(`+5730066${String(phones).padStart(5, '0')}`);
    ids.push(...(await register(key, [applicant({ id_number, phone, ...REJECTED })])));
  }
  return ids;
}
const idsOf = (applications: readonly { id: number }[]) => applications.map(({ id }) => id).toSorted();
const listed = async (idNumber: string) =>
  idsOf(await json('application', 'list', '--id-number', idNumber, '--limit', '50'));

it('D49: search, export and the desk find all of them by each of the spellings, also in look-up buckets', async () => {
  const spellings = ['1.077.345.210', '1077345210', '1 077 345 210', 'CC 1077345210', '１０７７３４５２１０'];
  const [, ...others] = ['01077345210', '1077345211'];
  const first = await registerAll(spellings.slice(0, 2));
  await closePartition(database);
  const all = [...first, ...(await registerAll(spellings.slice(2)))];
  await registerAll(others);
  const desk = await startTestConsole(store, [
    neighbourRoute({ database: runtime, vault, clock: machineClock }),
  ]);
  const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();
  for (const _ of ['before the buckets are filled', 'after']) {
    for (const spelling of spellings) {
      assert.deepEqual(await listed(spelling), all.toSorted(), spelling);
      const exported = await json('subject', 'export', '--id-number', spelling, ...REVEAL);
      assert.deepEqual([idsOf(exported.applications), exported.spellings], [all.toSorted(), 5]);
      // What is shown is what was sent.
      const shown = exported.applications.map((one: { id_number: string }) => one.id_number);
      assert.deepEqual(shown.toSorted(), spellings.toSorted());
    }
    const { body } = await viewer.ask('GET', `/api/applications/${all.at(-1)}/neighbours`);
    assert.deepEqual(idsOf(body.same_id_number.applications), all.slice(0, -1).toSorted());
    await fillLookUpBuckets(database);
  }
  const { err } = await run('subject', 'export', '--id-number', '1077345210', ...REVEAL);
  assert.equal(err, 'Found 5 applications, with the ID number in 5 spellings.\n');
});

it('D49: an erasure leaves nobody of them, and says how many it found and in how many spellings', async () => {
  const all = await registerAll(['20.111.222', '20111222', 'CE-20111222', '20111222']);
  const left = await registerAll(['020111222']);
  const asked = ['subject', 'erase', '--id-number', 'c.e. 20 111 222', ...WHY];
  assert.match(
    (await run(...asked)).out,
    /^Found 4 applications, with the ID number in 3 spellings\.\nThis would be erased:\n/,
  );
  const would = await json(...asked);
  assert.deepEqual(
    [idsOf(would.applications.map((id: number) => ({ id }))), would.spellings],
    [all.toSorted(), 3],
  );
  const erased = await json(...asked, '--yes');
  assert.deepEqual([erased.applications.toSorted(), erased.spellings], [all.toSorted(), 3]);
  for (const idNumber of ['20111222', '20.111.222', 'CE 20111222'])
    assert.deepEqual(await listed(idNumber), []);
  assert.deepEqual(await listed('020111222'), left, 'leading zeros count');
  const { out } = await run('subject', 'erase', '--id-number', '020111222', ...WHY, '--yes');
  assert.match(out, /^Found 1 application, with the ID number in 1 spelling\.\nErased: applications /);
});

it('D49: a phone that names the person is counted in its own spellings', async () => {
  const forms = ['+525511112222', '+5215511112222'].map(toPhone);
  for (const phone of forms) await register(key, [applicant({ phone, ...REJECTED })]);
  const would = await json('subject', 'erase', '--phone', forms[0]!, ...WHY);
  assert.deepEqual([would.applications.length, would.spellings], [2, 2]);
});

it('D49: who has no number, but a type or dashes, is nobody else', async () => {
  const nobody = ['---', '--', 'CC', 'C.C.', 'cc', 'CE', '...'];
  const ids = await registerAll(nobody);
  for (const [n, idNumber] of nobody.entries()) assert.deepEqual(await listed(idNumber), [ids[n]], idNumber);
});

it('D11: a phone is found as people paste it: with an extension, marks of direction, and full-width digits', async () => {
  const [id] = await register(key, [applicant({ phone: toPhone('+573006699999'), ...REJECTED })]);
  for (const phone of [
    '+57 300 669 9999 ext. 12',
    '\u202a+57 300\u2011669\u20119999\u202c',
    '３００ ６６９ ９９９９',
  ]) {
    assert.deepEqual(idsOf(await json('application', 'list', '--phone', phone)), [id], phone);
    assert.deepEqual((await json('subject', 'erase', '--phone', phone, ...WHY)).applications, [id], phone);
  }
});
