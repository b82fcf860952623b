/** The page of an application: what it reads without a reason, and what it reveals with one (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { applicationRoutes } from '../../src/subjects/desk/routes/application.ts';
import { Application, Revealed } from '../../src/subjects/desk/routes/forms.ts';
import { MOST_REVEALS_AN_HOUR } from '../../src/subjects/desk/rules/queue.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { besideLock } from '../support/held-lock.ts';
import { registrarOf } from '../support/intake.ts';

const HOSTILE = `<script>alert("1")</script>'"`;
const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const partner = await json('partner', 'add', '--name', HOSTILE, '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner.id}`);
const register = await registrarOf(store);
const talks = await conversationsOf(store, key);
const desk = await startTestConsole(
  store,
  applicationRoutes({ database: runtime, vault, clock: machineClock, terms: async () => null }),
);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();
const ruth = await desk.enrolled('ruth', 'reviewer');
const reviewer = await ruth.signIn();

const PERSON = {
  name: HOSTILE,
  id_number: '98765432101',
  city: 'Bogotá <i>',
  phone: toPhone('+573005559871'),
};
const [, id] = await register(key, [
  applicant({ ...PERSON, ...IN_REVIEW }),
  applicant({
    name: 'Bo',
    id_number: '55555555',
    phone: toPhone('+573005551234'),
    platform: HOSTILE,
    ...IN_REVIEW,
  }),
]);

const read = (visitor: Visitor, of: number | string, headers = {}) =>
  visitor.ask('GET', `/api/applications/${of}`, undefined, headers);
const revealing = (visitor: Visitor, of: number, reason: string) =>
  visitor.ask('POST', `/api/applications/${of}/reveal`, { reason });
const recorded = async () =>
  (
    await database.query(
      "SELECT actor, application_id, reason FROM operator_events WHERE act = 'application reveal' ORDER BY id",
    )
  ).rows;

describe('the page of an application', () => {
  it('has the form that the document tells, as plain JSON, with every hostile text as data', async () => {
    const { status, headers, body } = await read(viewer, id!);
    const criteria: { points: number; most: number; lost: number }[] = body.criteria;
    assert.equal(status, 200);
    assert.match(headers.get('content-type')!, /^application\/json/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.ok(Value.Check(Application, body), JSON.stringify([...Value.Errors(Application, body)]));
    assert.equal(body.platform, HOSTILE);
    assert.deepEqual(body.partner, { id: partner.id, name: HOSTILE });
    assert.equal(body.timeline[0]?.act, 'register');
    assert.equal(
      criteria.reduce((sum, { points }) => sum + points, 0),
      body.score,
    );
    for (const { points, most, lost } of criteria) assert.equal(points + lost, most);
  });

  it('has no personal data', async () => {
    const person = await talks.applicantAt({
      name: 'Wilhelmina Quux',
      id_number: '77001122334',
      city: 'Xanadu',
    });
    await person.tap();
    await person.write('mi secreto es verde');
    const { body } = await read(viewer, person.id);
    assert.ok(Value.Check(Application, body), JSON.stringify([...Value.Errors(Application, body)]));
    assert.ok((body.chat.conversation?.inputs.length ?? 0) > 0);
    assert.ok((body.chat.conversation?.replies.length ?? 0) > 0);
    assert.deepEqual(body.person, {
      ...{
        initials: 'W. Q.',
        phone: `…${person.phone.slice(-2)}`,
        id_number: '…34',
        city: '***',
        fault: null,
      },
    });
    const text = JSON.stringify(body);
    for (const personal of [
      'Wilhelmina',
      'Quux',
      '77001122334',
      person.phone.slice(3),
      'Xanadu',
      'secreto',
    ]) {
      assert.ok(!text.includes(personal), `the reply has ${personal}`);
    }
    assert.deepEqual(desk.failures, []);
  });

  it('has the last event as its ETag, and answers 304 until the next one', async () => {
    const before = await read(viewer, id!);
    const tag = before.headers.get('etag')!;
    assert.equal(tag, `"${before.body.last_event}"`);
    for (const known of [tag, `W/${tag}`, `"x", ${tag}`]) {
      const again = await read(viewer, id!, { 'If-None-Match': known });
      assert.deepEqual([again.status, again.body, again.headers.get('etag')], [304, null, tag]);
    }
    await json('application', 'approve', `${id}`, '--reason', HOSTILE, '--reason-code', 'income_verified');
    const after = await read(viewer, id!, { 'If-None-Match': tag });
    assert.equal(after.status, 200);
    assert.notEqual(after.headers.get('etag'), tag);
    const { act, reason, reason_code, from, to } = after.body.timeline.at(-1);
    assert.deepEqual(
      [act, reason, reason_code, from, to],
      ['approve', HOSTILE, 'income_verified', 'in_review', 'pending_signature'],
    );
  });

  it('is 404 where there is none', async () => {
    for (const unknown of ['999999999', '0', '1.5', 'x', '9'.repeat(30)]) {
      assert.equal((await read(viewer, unknown)).status, 404, unknown);
      assert.equal((await read(viewer, unknown, { 'If-None-Match': '"0"' })).status, 404, unknown);
    }
    assert.equal((await revealing(reviewer, 999_999_999, 'who is it')).status, 404);
  });

  it('shows what is left of an erased one', async () => {
    const person = await talks.applicantAt({ name: 'Gone Person', id_number: '606060606' });
    await person.tap();
    await json('subject', 'erase', '--phone', person.phone, '--yes', '--close', '--reason', 'asked');
    const { status, body } = await read(viewer, person.id);
    assert.equal(status, 200);
    assert.deepEqual(body.person, { initials: null, phone: null, id_number: null, city: null, fault: null });
    assert.equal(body.chat.conversation, null);
    assert.equal(body.status, 'rejected');
  });
});

describe('the reveal', () => {
  it('answers name, phone, ID number and chat, and has recorded the reason before', async () => {
    const person = await talks.applicantAt({ name: HOSTILE, id_number: '70707070707' });
    await person.tap();
    await person.write(HOSTILE);
    const { status, body } = await revealing(reviewer, person.id, 'the applicant calls: ticket 5');
    assert.equal(status, 200);
    assert.ok(Value.Check(Revealed, body), JSON.stringify([...Value.Errors(Revealed, body)]));
    assert.deepEqual([body.name, body.phone, body.id_number], [HOSTILE, person.phone, '70707070707']);
    assert.ok(
      body.chat.some(
        (line: { from: string; text: string | null }) => line.from === 'applicant' && line.text === HOSTILE,
      ),
    );
    assert.ok(body.chat.some((line: { from: string }) => line.from === 'service'));
    assert.deepEqual((await recorded()).at(-1), {
      ...{
        actor: `operator ${ruth.id}`,
        application_id: `${person.id}`,
        reason: 'the applicant calls: ticket 5',
      },
    });
  });

  it('is refused without a reason, and to a viewer, and records nothing then', async () => {
    const before = await recorded();
    for (const reason of ['', 'x', '    a    ', 'two\nlines', 'x'.repeat(501)]) {
      const { status, body } = await revealing(reviewer, id!, reason);
      assert.equal(status, 400, JSON.stringify(reason));
      assert.match(body.error, /reason/);
    }
    assert.equal((await reviewer.ask('POST', `/api/applications/${id}/reveal`, {})).status, 400);
    assert.equal((await revealing(viewer, id!, 'a good reason')).status, 403);
    assert.deepEqual(await recorded(), before);
  });

  it('shows nothing where the record cannot be written', async () => {
    await database.query('ALTER TABLE operator_events RENAME TO operator_events_away');
    try {
      const { status, body } = await revealing(reviewer, id!, 'a good reason');
      assert.equal(status, 500);
      assert.deepEqual(Object.keys(body), ['error']);
    } finally {
      await database.query('ALTER TABLE operator_events_away RENAME TO operator_events');
      desk.failures.length = 0;
    }
  });

  it(`is refused from the one after ${MOST_REVEALS_AN_HOUR} in an hour on, at one moment too, for this operator alone`, async () => {
    const eager = await (await desk.enrolled('eager', 'reviewer')).signIn();
    const answers = [];
    for (let done = 0; done < MOST_REVEALS_AN_HOUR - 1; done += 1)
      answers.push(await revealing(eager, id!, 'a good reason'));
    assert.ok(answers.every(({ status }) => status === 200));
    const three = () => Promise.all([1, 2, 3].map(() => revealing(eager, id!, 'a good reason')));
    const last = await besideLock(database, 'SELECT FROM operator_events_head FOR UPDATE', three, 3);
    assert.deepEqual(last.map(({ status }) => status).toSorted(), [200, 429, 429]);
    const refused = last.find(({ status }) => status === 429)!;
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal((await revealing(reviewer, id!, 'a good reason')).status, 200);
  });
});
