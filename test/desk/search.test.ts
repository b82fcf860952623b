/** The search of the operator API (docs/operators.md, "Find"; D11, D48, D49). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inOneTransaction } from '../../src/ground/postgres/database.ts';
import { searchRoute } from '../../src/subjects/desk/routes/search.ts';
import { Found, type FoundReply } from '../../src/subjects/desk/routes/search-forms.ts';
import { countSearch, MOST_SEARCHES } from '../../src/subjects/desk/sql/operator-searches.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Uno 100%_<b>', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
await json('partner', 'add', '--name', 'Otro', '--country', 'MX');
const register = await registrarOf(store);
const desk = await startTestConsole(store, [searchRoute({ database: runtime, vault, clock: machineClock })]);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();

const ask = (q: string) => viewer.ask('POST', '/api/search', { q });
async function find(q: string): Promise<FoundReply> {
  const { status, body } = await ask(q);
  assert.equal(status, 200, JSON.stringify(body));
  assert.ok(Value.Check(Found, body), JSON.stringify([...Value.Errors(Found, body)]));
  return body;
}
const idsOf = ({ applications }: FoundReply) => applications.map(({ id }) => id);

const [first] = await register(key, [
  applicant({ id_number: 'C.C. 79.555.123', phone: toPhone('+573005550777') }),
]);
const [other] = await register(key, [
  applicant({ ...IN_REVIEW, id_number: 'GOMA850101HDFXXX09', phone: toPhone('+573005550888') }),
]);
// Of the same person, with another phone.
const [second] = await register(key, [applicant({ id_number: '79555123', phone: toPhone('+573005550999') })]);

it('an operator may search 60 times at once and then once a second; others may go on', async () => {
  const [operator, other] = [101, 102];
  // Within a transaction no time passes.
  await inOneTransaction(database, async (session) => {
    for (let n = 1; n <= MOST_SEARCHES; n += 1)
      assert.equal(await countSearch(session, operator), null, `${n}`);
    assert.equal(await countSearch(session, operator), 1);
    assert.equal(await countSearch(session, operator), 1);
    assert.equal(await countSearch(session, other), null);
  });
  const later = (ms: number) =>
    database.query(
      "UPDATE operator_searches SET busy_until = busy_until - $2 * interval '1 ms' WHERE operator_id = $1",
      [operator, ms],
    );
  await later(1_000);
  assert.equal(await countSearch(database, operator), null);
  const { rows } = await database.query(
    'SELECT searched::integer, refused::integer FROM operator_searches WHERE operator_id = $1',
    [operator],
  );
  assert.deepEqual(rows[0], { searched: MOST_SEARCHES + 1, refused: 2 });
  // A clock that goes back leaves nobody outside.
  await later(-86_400_000);
  assert.equal(await countSearch(database, operator), null);
});

it('one search too many gets 429 with the seconds to wait', async () => {
  await ask('3005550777');
  await eventually('a refusal', async () => {
    await database.query("UPDATE operator_searches SET busy_until = now() + interval '60.9 seconds'");
    const { status, body, headers } = await ask('3005550777');
    if (status !== 429) return false;
    assert.match(body.error, /^too many searches within a minute: wait \d seconds?$/);
    assert.match(headers.get('retry-after') ?? '', /^[12]$/);
    return true;
  });
  await database.query('DELETE FROM operator_searches');
});

describe('the search', () => {
  it('finds an application by its number, and masks its person', async () => {
    for (const q of [`${first}`, `#${first}`, ` ${first} `]) {
      const found = await find(q);
      const one = found.applications.find(({ id }) => id === first);
      assert.deepEqual(one?.matched, ['number'], q);
      assert.deepEqual(one?.person, { initials: 'A. G.', phone: '…77', id_number: one?.person.id_number });
      assert.doesNotMatch(JSON.stringify(found), /Gómez|79\.?555|0777/);
    }
  });

  for (const q of [
    ...[
      '+573005550777',
      '3005550777',
      '300 555 07 77',
      '(300) 555-0777',
      '+57 300-555-0777',
      'tel:+573005550777',
    ],
    ...['\u202a+57 300 555 0777\u202c', '00573005550777'],
  ]) {
    it(`D11: finds a phone as ${JSON.stringify(q)}`, async () => {
      const found = await find(q);
      assert.deepEqual([idsOf(found), found.applications[0]?.matched], [[first], ['phone']]);
      assert.deepEqual(
        found.persons.map(({ application, applications, matched }) => [application, applications, matched]),
        [[first, 1, ['phone']]],
      );
    });
  }

  for (const q of ['79555123', '79.555.123', 'CC 79555123', 'c.c. 79 555 123', '７９５５５１２３']) {
    it(`D49: finds an ID number as ${JSON.stringify(q)}, and its applications are one person`, async () => {
      const found = await find(q);
      assert.deepEqual(idsOf(found), [second, first]);
      assert.deepEqual(
        found.persons.map(({ application, applications, matched }) => [application, applications, matched]),
        [[second, 2, ['id_number']]],
      );
    });
  }

  it('D49: finds an ID number with letters, in small ones too', async () => {
    assert.deepEqual(idsOf(await find('goma850101hdfxxx09')), [other]);
  });

  it('finds partners by a part of the name and operators by a part of the login; no sign is a wildcard', async () => {
    const names = async (q: string) => (await find(q)).partners.map(({ name }) => name);
    assert.deepEqual(await names('uno'), ['Uno 100%_<b>']);
    assert.deepEqual(await names('o'), ['Otro', 'Uno 100%_<b>']);
    assert.deepEqual(await names('%'), ['Uno 100%_<b>']);
    assert.deepEqual(await names('U_o'), []);
    assert.deepEqual(
      (await find('VER')).operators.map(({ login }) => login),
      ['vera'],
    );
  });

  it('finds nothing for a name of a person, for nobody, and for hidden characters alone', async () => {
    for (const q of ['Gómez', '+573005550000', '1', '999999999999999', '\u200b', '\u0000', '---', '0']) {
      const { applications, persons } = await find(q);
      assert.deepEqual([applications, persons], [[], []], q);
    }
    for (const q of ['', 'x'.repeat(201)]) assert.equal((await ask(q)).status, 400);
    assert.equal((await viewer.ask('GET', '/api/search?q=1')).status, 404);
    assert.equal((await desk.visitor().ask('POST', '/api/search', { q: '1' })).status, 401);
  });

  it('shows the newest 50 of a person with more, and says that there are more', async () => {
    const ids = await register(
      key,
      Array.from({ length: 60 }, () => applicant({ phone: null, id_number: '88 222 333' })),
    );
    const found = await find('88222333');
    assert.deepEqual([idsOf(found), found.more], [ids.toReversed().slice(0, 50), true]);
    assert.deepEqual(
      found.persons.map(({ applications }) => applications),
      [50],
    );
  });

  it('finds what is in look-up buckets too', async () => {
    await database.query('SELECT close_segments(1)');
    await database.query(
      "UPDATE closed_segments SET closed_ms = closed_ms - 100000, closed_at = closed_at - interval '1 hour'",
    );
    await database.query('SELECT fill_look_up_buckets()');
    assert.equal((await database.query('SELECT FROM closed_segments WHERE in_buckets')).rowCount, 1);
    assert.deepEqual(idsOf(await find('79555123')), [second, first]);
    assert.deepEqual(idsOf(await find('3005550888')), [other]);
  });

  it('finds an erased application by its number alone, without a person', async () => {
    await json('subject', 'erase', '--phone', '+573005550777', '--close', '--reason', 'ticket', '--yes');
    const found = await find(`${first}`);
    assert.deepEqual(
      [idsOf(found), found.applications[0]?.person, found.persons],
      [[first], { initials: null, phone: null, id_number: null }, []],
    );
    assert.deepEqual(idsOf(await find('3005550777')), []);
    assert.deepEqual(idsOf(await find('79555123')), [second]);
  });
});
