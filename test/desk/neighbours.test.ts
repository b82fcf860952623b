/** The neighbours of an application: whom it shares something with, without saying what (docs/operators.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { Neighbours } from '../../src/subjects/desk/routes/neighbour-forms.ts';
import { neighbourRoute } from '../../src/subjects/desk/routes/neighbours.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const keyOf = async (name: string) => {
  const { id: partner } = await json('partner', 'add', '--name', name, '--country', 'CO');
  return (await json('key', 'issue', '--partner', `${partner}`)).id as number;
};
const [key, other] = [await keyOf('Acme'), await keyOf('Other')];
const register = await registrarOf(store);
const desk = await startTestConsole(store, [
  neighbourRoute({ database: runtime, vault, clock: machineClock }),
]);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();

const read = async (id: number) => (await viewer.ask('GET', `/api/applications/${id}/neighbours`)).body;
const idsOf = ({ applications }: { applications: { id: number }[] }) => applications.map(({ id }) => id);
let serial = 0;
/** Somebody with a phone, an ID number and a city that nobody else has, unless the test says so. */
const somebody = (changes: object = {}) => {
  serial += 1;
  return applicant({
    ...IN_REVIEW,
    phone: toPhone(`+57301${String(serial).padStart(7, '0')}`),
    ...{ id_number: `30${String(serial).padStart(8, '0')}`, city: `Pueblo ${serial}`, ...changes },
  });
};
const one = async (changes: object = {}, by = key) => (await register(by, [somebody(changes)]))[0]!;
/** As if its batch had been registered so many hours before. */
const hoursBefore = (id: number, hours: number) =>
  database.query(
    "UPDATE batches SET created_at = created_at - $2 * interval '1 hour' WHERE id = ANY (ARRAY[batch_of($1)])",
    [id, hours],
  );

describe('the neighbours of an application', () => {
  it('are those of the same ID number in any spelling, and of the same phone, before and after it', async () => {
    const phone = toPhone('+573025550001');
    const first = await one({ id_number: '1.077.345.210', phone });
    await json('application', 'reject', `${first}`, '--reason', 'x');
    const second = await one({ id_number: 'CC 1077345210' });
    const third = await one({ phone });
    assert.deepEqual(idsOf((await read(second)).same_id_number), [first]);
    const { same_id_number: byNumber, same_phone: byPhone } = await read(first);
    assert.deepEqual([idsOf(byNumber), idsOf(byPhone)], [[second], [third]]);
    const [{ status }] = (await read(third)).same_phone.applications;
    assert.equal(status, 'rejected');
  });

  it('are those of the same partner and city within a day, in any case and accents', async () => {
    const id = await one({ city: 'Nuquí' });
    const [same, elsewhere] = await register(key, [somebody({ city: ' NUQUI' }), somebody()]);
    const [ofOther, before, longBefore] = [
      await one({ city: 'Nuquí' }, other),
      await one({ city: 'nuqui' }),
      await one({ city: 'Nuquí' }),
    ];
    await hoursBefore(before, 23);
    await hoursBefore(longBefore, 25);
    const { same_city: city } = await read(id);
    assert.deepEqual(idsOf(city), [before, same]);
    assert.equal(city.count, 2);
    assert.ok(![elsewhere, ofOther, longBefore].some((each) => idsOf(city).includes(each!)));
  });

  it('say nothing personal, and nothing of an erased one', async () => {
    const personal = { name: 'Wilhelmina Quux', city: 'Xanadu', id_number: '77001122334' };
    const id = await one({ ...personal, phone: toPhone('+573025550002') });
    const twin = await one(personal);
    const body = await read(id);
    assert.ok(Value.Check(Neighbours, body), JSON.stringify([...Value.Errors(Neighbours, body)]));
    assert.deepEqual([idsOf(body.same_id_number), idsOf(body.same_city)], [[twin], [twin]]);
    assert.doesNotMatch(JSON.stringify(body), /Quux|Xanadu|77001122334|3025550002/);
    await json('subject', 'erase', '--phone', '+573025550002', '--yes', '--close', '--reason', 'asked');
    for (const { count } of Object.values<{ count: number }>(await read(id))) assert.equal(count, 0);
  });

  it("looks at a bounded number of the partner's batches, and says so", async () => {
    const key = await keyOf('Busy');
    const ids: number[] = [];
    for (let batch = 0; batch < 60; batch += 1) ids.push(await one({ city: 'Tumaco' }, key));
    const middle = await read(ids[30]!);
    assert.deepEqual([middle.same_city.count, middle.same_city.is_whole], [49, false]);
    assert.equal(middle.same_city.applications.length, 20);
    const [alone] = await register(await keyOf('Small'), [somebody(), somebody()]);
    const { looked_at: lookedAt, is_whole: isWhole } = (await read(alone!)).same_city;
    assert.deepEqual([lookedAt, isWhole], [1, true]);
  });

  it('is 404 where there is none, and 304 where nothing changed', async () => {
    for (const unknown of ['999999999', '0', 'x'])
      assert.equal((await viewer.ask('GET', `/api/applications/${unknown}/neighbours`)).status, 404);
    const path = `/api/applications/${await one()}/neighbours`;
    const { headers } = await viewer.ask('GET', path);
    const again = await viewer.ask('GET', path, undefined, { 'If-None-Match': headers.get('etag')! });
    assert.equal(again.status, 304);
  });
});
