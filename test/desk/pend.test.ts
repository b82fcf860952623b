/** Pended applications: the time stands still, the applicant hears why, and it ends by itself (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { applicationRoutes } from '../../src/subjects/desk/routes/application.ts';
import { Application } from '../../src/subjects/desk/routes/forms.ts';
import { pendRoutes } from '../../src/subjects/desk/routes/pend.ts';
import { proposalRoutes } from '../../src/subjects/desk/routes/proposals.ts';
import { Pend } from '../../src/subjects/desk/routes/work-forms.ts';
import { MOST_PENDS } from '../../src/subjects/desk/rules/pend.ts';
import { expandReviews } from '../../src/subjects/desk/sql/expansion.ts';
import { endDuePends } from '../../src/subjects/desk/sql/pends.ts';
import { checkTerms } from '../../src/subjects/signing/uses/check-terms.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { besideLock } from '../support/held-lock.ts';
import { registrarOf } from '../support/intake.ts';
import { shifted } from '../support/shifted.ts';
import { TERMS } from '../support/terms.ts';
import { runJob } from '../support/upkeep.ts';

const HOSTILE = `<script>alert("1")</script> {{x}} *b*`;
const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
const talks = await conversationsOf(store, key);
const context = {
  database: runtime,
  vault,
  clock: machineClock,
  undoSeconds: 600,
  dueHours: 24,
  terms: async () => checkTerms(TERMS, 'terms.json'),
};
const desk = await startTestConsole(store, [
  ...applicationRoutes(context),
  ...pendRoutes(context),
  ...proposalRoutes(context),
]);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();
const people = { ruth: await desk.enrolled('ruth', 'reviewer'), rob: await desk.enrolled('rob', 'reviewer') };
const [ruth, rob] = [await people.ruth.signIn(), await people.rob.signIn()];

const DUE_HOURS = 24;
const expand = () => expandReviews(database, '0', 1_000, DUE_HOURS);
let serial = 0;
async function anApplication(): Promise<number> {
  serial += 1;
  const phone = toPhone(`+57302555${String(serial).padStart(4, '0')}`);
  const [id] = await register(key, [applicant({ ...IN_REVIEW, id_number: `8800${serial}`, phone })]);
  await expand();
  return id!;
}
/** An applicant with a conversation in the channel's window, in review. */
async function talking() {
  const person = await talks.applicantAt();
  await person.tap();
  await expand();
  return person;
}
const read = async (id: number) => (await viewer.ask('GET', `/api/applications/${id}`)).body;
const PENDED = { missing: ['income_statement'], message: null, hours: 48 };
const pend = async (visitor: Visitor, id: number | string, changes: object = {}, tag?: string | null) => {
  const last = tag === undefined ? `"${(await read(Number(id)))?.last_event}"` : tag;
  const body = { ...PENDED, ...changes };
  return visitor.ask('POST', `/api/applications/${id}/pend`, body, last === null ? {} : { 'If-Match': last });
};
const resume = (visitor: Visitor, id: number) => visitor.ask('POST', `/api/applications/${id}/resume`, {});
const item = async (id: number) =>
  (
    await database.query(
      `SELECT state, claimed_by, nullif(due_at, 'infinity') - clock_timestamp() AS left, time_left,
         extract(epoch FROM due_at)::float8 - extract(epoch FROM clock_timestamp())::float8 AS seconds
       FROM review_items WHERE application_id = $1`,
      [id],
    )
  ).rows[0];
const newest = async (id: number) =>
  (await database.query('SELECT * FROM pends WHERE application_id = $1 ORDER BY id DESC LIMIT 1', [id]))
    .rows[0];
const texts = async (person: Awaited<ReturnType<typeof talking>>) =>
  (await person.replies()).map(({ text }) => text);
const ages = (id: number, hours: number) =>
  database.query(
    `UPDATE open_pends SET ends_at = now() - interval '1 second', at = ${shifted('at', '$2::interval')} WHERE application_id = $1`,
    [id, `-${hours} hours`],
  );

const NINE_DAYS = "interval '9 days'";

describe('a pend', () => {
  it('stops the time, gives the claim back, is shown, and goes on with the time that was left (D48)', async () => {
    const id = await anApplication();
    await database.query(
      `UPDATE review_items SET due_at = now() + interval '5 hours' WHERE application_id = $1`,
      [id],
    );
    const { status, body } = await pend(ruth, id, { missing: ['income_statement', 'explanation'] });
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(Value.Check(Pend, body), JSON.stringify([...Value.Errors(Pend, body)]));
    assert.deepEqual(
      [body.missing, body.by, body.message, body.end],
      [['income_statement', 'explanation'], { id: people.ruth.id, login: 'ruth' }, 'none', null],
    );
    assert.equal(Date.parse(body.ends_at) - Date.parse(body.at), 48 * 3_600_000);
    const pended = await item(id);
    assert.deepEqual([pended.state, pended.claimed_by, pended.left], ['pended', null, null]);
    const shown = await read(id);
    assert.ok(Value.Check(Application, shown), JSON.stringify([...Value.Errors(Application, shown)]));
    assert.deepEqual([shown.review?.state, shown.review?.due_at, shown.review?.pend], ['pended', null, body]);
    await database.query(`UPDATE review_items SET time_left = interval '3 hours' WHERE application_id = $1`, [
      id,
    ]);
    const resumed = await resume(rob, id);
    assert.deepEqual([resumed.status, resumed.body.end], [200, 'resumed']);
    const { state, claimed_by, seconds } = await item(id);
    assert.deepEqual([state, claimed_by], ['waiting', people.rob.id]);
    assert.ok(seconds > 2.9 * 3600 && seconds <= 3 * 3600, `${seconds}`);
    assert.equal((await read(id)).review.pend, null);
    const acts = (await json('audit', 'list', '--application', `${id}`)).map(
      ({ act }: { act: string }) => act,
    );
    assert.deepEqual(acts.toSorted(), ['application pend', 'application resume']);
    assert.deepEqual(desk.failures, []);
  });

  it('needs the last event: 428 without, 412 after another one, with who did what (D48)', async () => {
    const id = await anApplication();
    assert.equal((await pend(ruth, id, {}, null)).status, 428);
    assert.equal((await pend(ruth, id, {}, '"999999999"')).status, 412);
    await database.query(
      `INSERT INTO application_events (application_id, at, actor, action, from_status, to_status, reason)
       VALUES ($1, clock_timestamp(), $2, 'free_phone', 'in_review', 'in_review', 'x')`,
      [id, `operator ${people.rob.id}`],
    );
    const { status, body } = await pend(ruth, id, {}, '"0"');
    assert.equal(status, 412);
    assert.deepEqual([body.by, body.act], [{ id: people.rob.id, login: 'rob' }, 'free_phone']);
    assert.equal((await item(id)).state, 'waiting');
    assert.equal((await pend(ruth, id)).status, 200);
  });

  it('is refused to who may not: viewers, nobody, another claim, no review, a bad body', async () => {
    const id = await anApplication();
    assert.equal((await pend(viewer, id)).status, 403);
    assert.equal((await resume(viewer, id)).status, 403);
    assert.equal((await pend(desk.visitor(), id)).status, 401);
    await database.query('SELECT take_claim($1, $2, 120)', [id, people.rob.id]);
    const claimed = await pend(ruth, id);
    assert.deepEqual([claimed.status, claimed.body.by.login], [409, 'rob']);
    assert.ok(Date.parse(claimed.body.until) > 0);
    for (const changes of [
      { missing: [] },
      { missing: ['x'] },
      { missing: ['explanation', 'explanation'] },
      { hours: 0 },
      { hours: 721 },
      { hours: 1.5 },
      { message: ' ' },
      { message: 'a\u0000' },
      { message: 'a\u202eb' },
      { message: 'x'.repeat(1_001) },
    ]) {
      assert.equal((await pend(rob, id, changes)).status, 400, JSON.stringify(changes));
    }
    for (const unknown of ['999999999', '0', 'x'])
      assert.equal((await pend(ruth, unknown, {}, '"0"')).status, 404, unknown);
    await json('application', 'reject', `${id}`, '--reason', 'x');
    assert.equal((await pend(rob, id)).status, 409);
    assert.equal((await resume(rob, id)).status, 409);
  });

  it('is one at a time, also of two at the same moment, and is refused while a decision is proposed', async () => {
    const id = await anApplication();
    const tag = `"${(await read(id)).last_event}"`;
    const both = await Promise.all([pend(ruth, id, {}, tag), pend(rob, id, {}, tag)]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409]);
    assert.equal((await database.query('SELECT FROM pends WHERE application_id = $1', [id])).rowCount, 1);
    const again = await pend(ruth, id);
    assert.deepEqual([again.status, again.body.error], [409, 'it is pended already']);
    const other = await anApplication();
    await database.query("SELECT set_item_state($1, 'proposed')", [other]);
    assert.match((await pend(ruth, other)).body.error, /a decision on it is proposed/);
  });

  it('and a proposal at the same moment: one of them counts, whichever comes first', async () => {
    const seen = new Set<string>();
    for (let n = 0; n < 12; n += 1) {
      const id = await anApplication();
      const tag = `"${(await read(id)).last_event}"`;
      const propose = () =>
        ruth.ask(
          'POST',
          `/api/applications/${id}/proposals`,
          { act: 'reject', reason: 'x' },
          { 'If-Match': tag },
        );
      const asked = n % 2 === 0 ? [propose(), pend(ruth, id, {}, tag)] : [pend(ruth, id, {}, tag), propose()];
      const answers = await Promise.all(asked);
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409], `${n}`);
      const { state } = await item(id);
      seen.add(state);
      const { rows } = await database.query(
        `SELECT (SELECT count(*)::integer FROM open_pends WHERE application_id = $1) AS pends,
           (SELECT count(*)::integer FROM open_proposals WHERE application_id = $1) AS proposals`,
        [id],
      );
      assert.deepEqual(rows[0], state === 'pended' ? { pends: 1, proposals: 0 } : { pends: 0, proposals: 1 });
    }
    assert.ok([...seen].every((state) => ['pended', 'proposed'].includes(state)));
  });

  it(`ends at ${MOST_PENDS} an application (docs/upkeep.md)`, async () => {
    const id = await anApplication();
    await database.query(
      `INSERT INTO pends (application_id, operator_id, missing, at, ends_at, message, ended_at, ending)
       SELECT $1, $2, '{explanation}', now(), now(), 'none', now(), 'over' FROM generate_series(1, $3)`,
      [id, people.ruth.id, MOST_PENDS],
    );
    assert.match((await pend(ruth, id)).body.error, /has had 100 pends/);
  });
});

describe('the end of a pend', () => {
  it('comes when the hours are over, by the database alone, in one of several processes (D39)', async () => {
    const [id, other] = [await anApplication(), await anApplication()];
    await pend(ruth, id);
    await pend(ruth, other);
    assert.equal(await endDuePends(runtime), 0);
    await ages(id, 48);
    const held = `SELECT FROM open_pends WHERE application_id = ${id} FOR UPDATE`;
    assert.equal(await besideLock(database, held, () => endDuePends(runtime)), 0, 'another process has it');
    const ended = await Promise.all([1, 2, 3].map(() => endDuePends(runtime)));
    assert.equal(
      ended.reduce((sum, count) => sum + count, 0),
      1,
    );
    assert.equal((await newest(id)).ending, 'over');
    const { state, seconds } = await item(id);
    assert.equal(state, 'waiting');
    assert.ok(seconds > (DUE_HOURS - 1) * 3600, `${seconds}`);
    assert.equal((await newest(other)).ending, null);
  });

  it('begins again where the clock was ahead when it began (D39)', async () => {
    const id = await anApplication();
    await pend(ruth, id, { hours: 2 });
    await database.query(
      `UPDATE open_pends SET at = ${shifted('at', NINE_DAYS)}, ends_at = ${shifted('ends_at', NINE_DAYS)} WHERE application_id = $1`,
      [id],
    );
    await database.query(
      `UPDATE pends SET at = ${shifted('at', NINE_DAYS)}, ends_at = ${shifted('ends_at', NINE_DAYS)} WHERE application_id = $1`,
      [id],
    );
    await endDuePends(runtime);
    const { rows } = await database.query(
      `SELECT extract(epoch FROM o.ends_at - now())::float8 AS seconds, o.ends_at = p.ends_at AS same
       FROM open_pends o JOIN pends p ON p.id = o.pend_id WHERE o.application_id = $1`,
      [id],
    );
    assert.ok(rows[0].seconds > 7_000 && rows[0].seconds <= 7_200, `${rows[0].seconds}`);
    assert.ok(rows[0].same);
  });

  it('comes with a decision of the command line too', async () => {
    const id = await anApplication();
    await pend(ruth, id);
    await json('application', 'approve', `${id}`, '--reason', 'x');
    assert.equal((await read(id)).review, null);
    await endDuePends(runtime);
    assert.equal((await newest(id)).ending, 'decided');
  });

  for (const what of ['a message', 'a file'] as const) {
    it(`comes with ${what} of the applicant, and not with what came before`, async () => {
      const person = await talking();
      await person.write('gracias');
      await pend(ruth, person.id);
      assert.equal(await endDuePends(runtime), 0);
      await (what === 'a file' ? person.sendFile() : person.write('aquí está'));
      assert.equal(await endDuePends(runtime), 1);
      assert.equal((await newest(person.id)).ending, 'answered');
      assert.equal((await item(person.id)).state, 'waiting');
    });
  }

  it('comes with the erasure of the person, and pends go with deleted applications', async () => {
    const id = await anApplication();
    await pend(ruth, id);
    const phone = `+57302555${String(serial).padStart(4, '0')}`;
    const exported = await json('subject', 'export', '--phone', phone, '--reveal', '--reason', 'ticket 1');
    assert.deepEqual(exported.applications[0].pends[0].missing, ['income_statement']);
    await json('subject', 'erase', '--phone', phone, '--yes', '--close', '--reason', 'ticket 2');
    assert.equal((await newest(id)).ending, 'decided');
    assert.equal(
      (await database.query('SELECT FROM open_pends WHERE application_id = $1', [id])).rowCount,
      0,
    );
    const gone = 90 * 128 * 8_388_608 + 3;
    await database.query(
      `INSERT INTO pends (application_id, operator_id, missing, at, ends_at, message)
       VALUES ($1, $2, '{explanation}', now(), now(), 'none')`,
      [gone, people.ruth.id],
    );
    await runJob(runtime, 'delete notes and pends without applications');
    assert.equal(await newest(gone), undefined);
    assert.equal((await newest(id)).ending, 'decided');
  });
});

describe('the message of a pend', () => {
  it('goes into the chat in the window, above the open question, and the conversation goes on by itself', async () => {
    const person = await talking();
    const before = await person.place();
    const question = (await texts(person)).at(-1)!;
    assert.equal((await read(person.id)).chat.takes_text, true);
    const { status, body } = await pend(ruth, person.id, { message: HOSTILE });
    assert.deepEqual([status, body.message], [200, 'said']);
    await talks.settle();
    const [said, again] = (await texts(person)).slice(-2);
    assert.equal(said, HOSTILE);
    assert.ok(again?.includes(question), again);
    assert.equal(await person.place(), before);
    await person.choose(0);
    assert.notEqual(await person.place(), before, 'the answer to the open question counts');
    assert.deepEqual(talks.faults, []);
  });

  it('has up to 1,000 characters, as a reader counts them', async () => {
    const person = await talking();
    const longest = '💬'.repeat(1_000);
    const { status, body } = await pend(ruth, person.id, { message: longest });
    assert.deepEqual([status, body.message], [200, 'said']);
    await talks.settle();
    assert.ok((await texts(person)).includes(longest));
  });

  it('is the only thing that is said in a conversation that an operator holds', async () => {
    const person = await talking();
    await json('conversation', 'hand-over', `${person.id}`);
    const before = (await texts(person)).length;
    assert.equal((await pend(ruth, person.id, { message: 'hola' })).body.message, 'said');
    await talks.settle();
    assert.deepEqual((await texts(person)).slice(before), ['hola']);
    assert.match(await person.place(), / operator$/);
  });

  it('is not said outside of the window, to nobody, after an opt-out, and after the end; the pend holds (D31, D42)', async () => {
    const silent = await anApplication();
    const [late, stopped, suppressed, ended] = [
      await talking(),
      await talking(),
      await talking(),
      await talking(),
    ];
    await database.query(
      `UPDATE conversations SET heard_at = now() - interval '25 hours' WHERE application_id = $1`,
      [late.id],
    );
    await stopped.write('STOP');
    await json('suppression', 'add', suppressed.phone);
    await json('conversation', 'close', `${ended.id}`);
    await talks.deliver();
    for (const { id, replies } of [
      { id: silent, replies: async () => [] },
      late,
      stopped,
      suppressed,
      ended,
    ]) {
      const before = (await replies()).length;
      assert.equal((await read(id)).chat.takes_text, false, `${id}`);
      const { status, body } = await pend(ruth, id, { message: 'hola' });
      assert.deepEqual([status, body.message], [200, 'no_window'], `${id}`);
      assert.equal((await replies()).length, before);
      assert.equal((await item(id)).state, 'pended');
    }
  });

  it('and the pend commit together or not at all', async () => {
    const person = await talking();
    const before = await person.replies();
    const turn = (await person.row()).turn;
    await database.query('ALTER TABLE operator_events RENAME TO operator_events_away');
    try {
      assert.equal((await pend(ruth, person.id, { message: 'hola' })).status, 500);
    } finally {
      await database.query('ALTER TABLE operator_events_away RENAME TO operator_events');
      desk.failures.length = 0;
    }
    assert.equal((await pend(ruth, person.id, { message: 'hola' }, '"77"')).status, 412);
    assert.deepEqual(await person.replies(), before);
    assert.equal((await person.row()).turn, turn);
    assert.equal((await item(person.id)).state, 'waiting');
    assert.equal(await newest(person.id), undefined);
  });
});
