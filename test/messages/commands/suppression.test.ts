/** `ventanilla suppression`: the phones that get no messages. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { toApplicationId } from '../../../src/domain/application/ids.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { suppressApplicants } from '../../../src/subjects/messages/sql/suppressions.ts';
import { commandLine } from '../../cli/harness.ts';
import { applicant } from '../../support/applicant.ts';
import { testDatabase } from '../../support/database.ts';
import { registrarOf } from '../../support/intake.ts';

const store = await testDatabase();
const { run, json } = commandLine(store);

beforeEach(() => store.database.query('DELETE FROM suppressions'));

test('an empty list is valid JSON and a friendly text', async () => {
  assert.equal((await run('suppression', 'list', '--json')).out, '[]\n');
  assert.equal((await run('suppression', 'list')).out, 'No suppressed phones.\n');
});

test('a phone is added, listed under the same index and removed, in any way of writing', async () => {
  const { phone_index, added } = await json('suppression', 'add', '+57 300 123-4567');
  assert.equal(added, true);
  assert.deepEqual(await json('suppression', 'add', '0057 (300) 1234567'), { phone_index, added: false });
  const [{ created_at, ...row }, ...others] = await json('suppression', 'list');
  assert.deepEqual([row, others], [{ phone_index, source: 'operator' }, []]);
  assert.match(created_at, /^\d{4}-\d\d-\d\dT[\d:.]{12}\+00:00$/);
  assert.match(
    (await run('suppression', 'list')).out,
    new RegExp(`^INDEX +SOURCE +SINCE\n${phone_index} +operator`),
  );
  assert.deepEqual(await json('suppression', 'remove', '+573001234567'), { phone_index, removed: true });
  assert.deepEqual(await json('suppression', 'list'), []);
});

test('a phone as dialled at home is that of the one country with partners where it is valid; a second country is refused', async () => {
  const partnerIn = (country: string) =>
    json('partner', 'add', '--name', `Acme ${country}`, '--country', country);
  await partnerIn('CO');
  await partnerIn('PE');
  const { phone_index } = await json('suppression', 'add', '300 123 4567');
  for (const same of ['+573001234567', '573001234567', '(300) 123-4567', '+57 (0)300 1234567']) {
    assert.deepEqual(await json('suppression', 'add', same), { phone_index, added: false }, same);
  }
  const inPeru = await json('suppression', 'add', '987 654 321');
  assert.deepEqual(await json('suppression', 'remove', '+51987654321'), {
    phone_index: inPeru.phone_index,
    removed: true,
  });
  // The digits begin like a number of Greece, where there is no partner.
  // The other ones are too short for their countries.
  for (const nobodys of ['302101234567', '+57 300 123 456', '234 5678'])
    assert.match((await run('suppression', 'add', nobodys)).err, /no country has such a phone/, nobodys);
  await partnerIn('CL');
  for (const action of ['add', 'remove']) {
    const { code, out, err } = await run('suppression', action, '987 654 321');
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /can be one of several countries \((PE, CL|CL, PE)\): write the phone with \+/);
  }
});

test('both forms of a Mexican mobile are one phone', async () => {
  const { phone_index } = await json('suppression', 'add', '+52 1 55 1234 5678');
  assert.deepEqual(await json('suppression', 'remove', '+525512345678'), { phone_index, removed: true });
});

test('the text says what happened, and never shows the phone', async () => {
  const phone = '+573009998877';
  const texts = [
    await run('suppression', 'add', phone),
    await run('suppression', 'add', phone),
    await run('suppression', 'list'),
    await run('suppression', 'remove', phone),
  ].map(({ out }) => out);
  assert.match(texts[0] as string, /^No more messages go to this phone \([0-9a-f]{12} in the list\)\.\n$/);
  assert.match(texts[1] as string, /^This phone was already suppressed/);
  assert.match(texts[3] as string, /^Messages may go to this phone again/);
  assert.doesNotMatch(texts.join(''), /3009998877/);
  assert.match((await run('suppression', 'list', '--help')).out, /not stored in clear/);
});

test('the list is complete and newest first, over more than one piece', async () => {
  await store.database.query(
    `INSERT INTO suppressions (phone_index, source, created_at, heard_ms)
    SELECT hashint8extended(n, 0), 'keyword', '2026-01-01'::timestamptz + (n / 3) * interval '1 microsecond', 0
    FROM generate_series(1, 2500) n`,
  );
  const list = await json('suppression', 'list');
  assert.equal(list.length, 2500);
  const { rows } = await store.database.query(
    "SELECT left(lpad(to_hex(phone_index), 16, '0'), 12) AS i FROM suppressions ORDER BY created_at DESC, phone_index DESC",
  );
  assert.deepEqual(
    list.map(({ phone_index }: { phone_index: string }) => phone_index),
    rows.map(({ i }) => i),
  );
  assert.equal((await json('suppression', 'list', '--limit', '7')).length, 7);
});

test('the phone of an application is suppressed for the channel, and an operator can lift it', async () => {
  const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const register = await registrarOf(store);
  const phone = '+573005550001';
  const [id] = await register(key, [applicant({ phone: toPhone(phone) })]);
  for (let time = 0; time < 2; time++)
    await suppressApplicants(store.database, [toApplicationId(id as number)]);
  assert.deepEqual(
    (await json('suppression', 'list')).map(({ source }: { source: string }) => source),
    ['channel'],
  );
  assert.equal((await json('suppression', 'remove', phone)).removed, true);
});

const REFUSED: readonly (readonly [args: string[], code: number, message: RegExp])[] = [
  [['add', '302101234567'], 1, /no country has such a phone/],
  [['add', '+57 abc'], 1, /no country has such a phone/],
  [['add', '+123'], 1, /no country has such a phone/],
  [['remove', '+573000000000'], 1, /no opt-out and no operator suppresses the phone/],
  [['remove'], 2, /missing required argument/],
];
for (const [args, code, message] of REFUSED) {
  test(`refused with ${code}: suppression ${args.join(' ')}`, async () => {
    const result = await run('suppression', ...args);
    assert.deepEqual([result.code, result.out], [code, '']);
    assert.match(result.err, message);
  });
}
