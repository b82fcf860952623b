/** A partner may send one ID number with any number of phones: the person can still be erased (docs/subject.md). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { idNumberIndexOf, phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, REJECTED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { assertInvariants, tablesWith } from '../support/erased.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json, run } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const WHY = ['--reason', 'ticket 1', '--yes', '--close'];

it('a person with 1,100 applications is erased in transactions of 500, each with its row of the record', async () => {
  const person = { name: 'Persona Repetida', id_number: '98765432101' };
  const open = 700;
  const ids = await register(
    key,
    Array.from({ length: 1_100 }, (_, n) =>
      applicant({ ...person, phone: toPhone(`+57300${1_000_000 + n}`), ...(n === open ? {} : REJECTED) }),
    ),
  );
  const done = await json('subject', 'erase', '--id-number', person.id_number, ...WHY);
  assert.deepEqual(done.applications.toSorted(), ids.toSorted());
  assert.deepEqual(done.closed, [ids[open]]);
  const traces = [person.name, person.id_number, toBigint(idNumberIndexOf(vault, person.id_number))];
  assert.deepEqual(await tablesWith(store, traces), []);
  await assertInvariants(store);
  const acts = (await json('audit', 'list')).filter(({ act }: { act: string }) => act === 'subject erase');
  assert.equal(acts.length, 3);
  assert.deepEqual(
    (await json('subject', 'erasures')).map(({ applications }: { applications: [] }) => applications.length),
    [500, 500, 100],
  );
});

it('says so where it has erased traces of messages to a phone without an application', async () => {
  const phone = '+573005551234';
  await database.query(
    'INSERT INTO recipients (phone_index, sent_at, message_id, partner_id, is_rejected) VALUES ($1, now(), 128, $2, true)',
    [toBigint(phoneIndexOf(vault, toPhone(phone))), partner],
  );
  assert.match((await run('subject', 'erase', '--phone', phone, ...WHY)).out, /^Erased: traces of messages/);
  assert.match((await run('subject', 'erase', '--phone', phone, ...WHY)).out, /^Nothing of this person/);
});

it('ends with exit code 1 where a partner sends the person again and again', async () => {
  const person = { name: 'Persona Constante', id_number: '98765432102', ...REJECTED };
  let sent = 0;
  const again = () =>
    register(key, [applicant({ ...person, phone: toPhone(`+57301${1_000_000 + sent++}`) })]);
  await again();
  // Each search for applications finds one more.
  const query = async (...args: unknown[]) => {
    if (JSON.stringify(args[0]).includes('look_up')) await again();
    return Reflect.apply(store.runtime.query, store.runtime, args);
  };
  const beset = new Proxy(store.runtime, {
    get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)),
  });
  const beside = commandLine({ ...store, runtime: beset });
  const erase = ['subject', 'erase', '--id-number', person.id_number, ...WHY];
  const { code, out } = await beside.run(...erase);
  assert.equal(code, 1);
  assert.match(
    out,
    /^Found .*\nErased: applications .*\n(.*\n)*More applications of the person come in all the time/,
  );
  assert.equal((await run(...erase)).code, 0);
  assert.deepEqual(await tablesWith(store, [person.name, person.id_number]), []);
});
