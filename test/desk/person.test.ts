/** The page of a person in the operator API (docs/operators.md, "A person"; D11, D48, D49). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { personRoute } from '../../src/subjects/desk/routes/person.ts';
import { Person, type PersonReply } from '../../src/subjects/desk/routes/person-forms.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Uno', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
const desk = await startTestConsole(store, [personRoute({ database: runtime, vault, clock: machineClock })]);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();

async function person(id: number): Promise<PersonReply> {
  const { status, body } = await viewer.ask('GET', `/api/persons/${id}`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.ok(Value.Check(Person, body), JSON.stringify([...Value.Errors(Person, body)]));
  return body;
}
const matchedOf = ({ applications }: PersonReply) => applications.map(({ id, matched }) => [id, matched]);
const one = async (id_number: string, phone: string | null, more = {}) =>
  (
    await register(key, [applicant({ id_number, phone: phone === null ? null : toPhone(phone), ...more })])
  )[0]!;

const before = await one('CC 79.555.123', '+573005550777', IN_REVIEW);
const samePhone = await one('66.777.888', null, IN_REVIEW);
const latest = await one('79555123', '+573005550778');
const stranger = await one('11.222.333', '+573005550779');

describe('the page of a person', () => {
  it('D49: has the applications with the ID number in any spelling, newest first, and masks them', async () => {
    for (const id of [before, latest]) {
      const shown = await person(id);
      const expected = [latest, before].map((at) => [
        at,
        at === id ? ['number', ...matched(at, id)] : ['id_number'],
      ]);
      assert.deepEqual(matchedOf(shown), expected);
      assert.doesNotMatch(JSON.stringify(shown), /Gómez|79\.?555|0777|0778|Bogot/);
    }
  });

  it('D11: has the applications with its phone, and what each shares', async () => {
    await json('application', 'reject', `${latest}`, '--reason', 'no').catch(() => {});
    const [again] = await register(key, [
      applicant({ id_number: '99.888.777', phone: toPhone('+573005550790'), ...IN_REVIEW }),
    ]);
    await json('application', 'reject', `${again}`, '--reason', 'no');
    const [newest] = await register(key, [
      applicant({ id_number: '55.444.333', phone: toPhone('+573005550790'), ...IN_REVIEW }),
    ]);
    assert.deepEqual(matchedOf(await person(newest!)), [
      [newest, ['number', 'phone', 'id_number']],
      [again, ['phone']],
    ]);
  });

  it('an application without a phone has what shares its ID number alone', async () => {
    assert.deepEqual(matchedOf(await person(samePhone)), [[samePhone, ['number', 'id_number']]]);
  });

  it('tells the chat, documents, contracts, exports and suppressions', async () => {
    await database.query(
      `INSERT INTO conversations (application_id, partner_id, phone_index, status, turn, place)
       VALUES ($1, 1, 7, 'pending_signature', 1, 'contract')`,
      [stranger],
    );
    await database.query(
      `INSERT INTO documents (application_id, partner_id, purpose, state, sha256)
       VALUES ($1, 1, 'debts', 'accepted', '\\x01'), ($1, 1, 'earnings', 'rejected', '\\x02')`,
      [stranger],
    );
    await json('suppression', 'add', '+573005550779');
    await json('subject', 'export', '--id-number', '11222333', '--reveal', '--reason', 'ticket 4711');
    const { applications, suppressions, erased_at: erasedAt } = await person(stranger);
    const [shown] = applications;
    assert.deepEqual(
      [shown?.chat?.step, shown?.documents, shown?.contract, shown?.exports.length],
      ['contract', 2, null, 1],
    );
    assert.deepEqual(
      suppressions.map(({ is_active, source }) => [is_active, source]),
      [[true, 'operator']],
    );
    assert.deepEqual(erasedAt, []);
  });

  it('an erasure leads to nobody, and a later application of the phone tells when it was', async () => {
    await json('subject', 'erase', '--phone', '+573005550779', '--close', '--reason', 'ticket', '--yes');
    const erased = await person(stranger);
    assert.deepEqual(matchedOf(erased), [[stranger, ['number']]]);
    assert.deepEqual(
      [erased.applications[0]?.person, erased.suppressions, erased.erased_at],
      [{ initials: null, phone: null, id_number: null }, [], []],
    );
    const later = await one('11.222.333', '+573005550779', IN_REVIEW);
    const shown = await person(later);
    assert.deepEqual(matchedOf(shown), [[later, ['number', 'phone', 'id_number']]]);
    assert.equal(shown.erased_at.length, 1);
  });

  it('there is none of an application that does not exist', async () => {
    for (const id of ['999999', '0', 'x', '1e3'])
      assert.equal((await viewer.ask('GET', `/api/persons/${id}`)).status, 404, id);
  });
});

/** What an application shares with itself. */
function matched(at: number, id: number): string[] {
  assert.equal(at, id);
  return ['phone', 'id_number'];
}
