/** The timeline of an application: its history, its pends and its signature, each with who did it (D34, D46, D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { deskRoutes } from '../../src/subjects/desk/routes/desk-routes.ts';
import { Application, type ApplicationReply } from '../../src/subjects/desk/routes/forms.ts';
import { endDuePends } from '../../src/subjects/desk/sql/pends.ts';
import { applyNext } from '../../src/subjects/desk/uses/apply-proposals.ts';
import { rejectWithdrawn, withdraw } from '../../src/subjects/signing/uses/withdraw.ts';
import { APPROVED, applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';
import { conversationsOf } from '../support/conversations.ts';
import { testDatabase } from '../support/database.ts';
import { makeProposalsDue, seenBy } from '../support/proposals.ts';
import { testSigning } from '../support/signing.ts';
import { untilDone } from '../support/until-done.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const signing = await testSigning(store);
const { run, json } = signing;
const talks = await conversationsOf(store, signing.key);
const context = {
  database: runtime,
  vault,
  clock: machineClock,
  undoSeconds: 600,
  dueHours: 24,
  terms: async () => null,
  lookShare: 0,
};
const noFiles = () => Promise.reject(new Error('these tests open no document'));
const desk = await startTestConsole(store, deskRoutes(context, noFiles));
const people = {
  ruth: await desk.enrolled('ruth', 'reviewer'),
  rob: await desk.enrolled('rob', 'reviewer', new Map([['COP', 10n ** 14n]])),
};
const [ruth, rob] = [await people.ruth.signIn(), await people.rob.signIn()];

const by = (name: 'ruth' | 'rob') => ({ way: 'operator', id: people[name].id, login: name });
const APPLICANT = { way: 'applicant', id: null, login: 'applicant' };
const SERVICE = { way: 'service', id: null, login: 'ventanilla' };

let serial = 0;
async function anApplication(changes: object = {}): Promise<number> {
  serial += 1;
  const phone = toPhone(`+57304555${String(serial).padStart(4, '0')}`);
  const made = applicant({ ...IN_REVIEW, id_number: `8800${serial}`, phone, ...changes });
  const [id] = await signing.register(signing.key, [made]);
  return id!;
}

async function read(id: number): Promise<ApplicationReply> {
  const { status, body } = await ruth.ask('GET', `/api/applications/${id}`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.ok(Value.Check(Application, body), JSON.stringify([...Value.Errors(Application, body)]));
  return body;
}

async function act(visitor: Visitor, id: number, what: string, body: object): Promise<void> {
  const headers = { 'If-Match': `"${(await read(id)).last_event}"` };
  const answer = await visitor.ask('POST', `/api/applications/${id}/${what}`, body, headers);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

/** What the timeline says beside the times and the reasons. */
const told = async (id: number) =>
  (await read(id)).timeline.map(({ act, by, second, missing, end }) => ({
    ...{ act, by },
    ...(second && { second }),
    ...(missing && { missing }),
    ...(end && { end }),
  }));

async function apply(): Promise<void> {
  await makeProposalsDue(store);
  await untilDone(
    async () => (await applyNext(context, (_id, error) => assert.fail(String(error)))) === null,
  );
}

describe('the timeline', () => {
  it('has each pend, who began it, what was missing, and how it ended by whom (D48)', async () => {
    const person = await talks.applicantAt();
    await person.tap();
    const { id } = person;
    const missing = ['income_statement', 'explanation'];
    await act(ruth, id, 'pend', { missing, message: null, hours: 24 });
    await act(rob, id, 'resume', {});
    await act(rob, id, 'pend', { missing: ['id_document'], message: null, hours: 24 });
    await person.write('aquí está');
    assert.equal(await endDuePends(runtime), 1);
    await act(ruth, id, 'claim', {});
    await act(ruth, id, 'pend', { missing: ['partner_answer'], message: null, hours: 24 });
    await database.query("UPDATE open_pends SET ends_at = now() - interval '1 second'");
    assert.equal(await endDuePends(runtime), 1);
    await act(ruth, id, 'pend', { missing: ['debt_statement'], message: null, hours: 24 });
    await json('application', 'reject', `${id}`, '--reason', 'no answer', '--as', 'luz');
    assert.equal(await endDuePends(runtime), 1);
    assert.deepEqual(await told(id), [
      { act: 'register', by: SERVICE },
      { act: 'interested', by: APPLICANT },
      { act: 'pend', by: by('ruth'), missing },
      { act: 'pend_end', by: by('rob'), missing, end: 'resumed' },
      { act: 'pend', by: by('rob'), missing: ['id_document'] },
      { act: 'pend_end', by: APPLICANT, missing: ['id_document'], end: 'answered' },
      { act: 'pend', by: by('ruth'), missing: ['partner_answer'] },
      { act: 'pend_end', by: SERVICE, missing: ['partner_answer'], end: 'over' },
      { act: 'pend', by: by('ruth'), missing: ['debt_statement'] },
      { act: 'reject', by: { way: 'command_line', id: null, login: 'luz' } },
      { act: 'pend_end', by: SERVICE, missing: ['debt_statement'], end: 'decided' },
    ]);
  });

  it('names operators by id and login, both of a payment, and the command line as such (D48)', async () => {
    const id = await anApplication();
    const decision = { reason: 'fine', act: 'approve', reason_code: 'income_verified' };
    await act(ruth, id, 'proposals', decision);
    const approval = (await read(id)).proposal!;
    await rob.ask('POST', `/api/proposals/${approval.id}/confirm`, {
      seen: await seenBy(rob, approval.id),
    });
    await apply();
    await act(rob, id, 'proposals', { reason: 'paid', act: 'disburse' });
    const payment = (await read(id)).proposal!;
    await ruth.ask('POST', `/api/proposals/${payment.id}/confirm`, {
      seen: await seenBy(ruth, payment.id),
    });
    await apply();
    assert.deepEqual((await told(id)).slice(1), [
      { act: 'approve', by: by('ruth'), second: by('rob') },
      { act: 'disburse', by: by('rob'), second: by('ruth') },
    ]);
  });

  it('says "by the command line" also where that shows the history (D48)', async () => {
    const id = await anApplication();
    await json('application', 'approve', `${id}`, '--reason', 'fine', '--as', 'luz');
    const { out } = await run('application', 'show', `${id}`);
    assert.match(out, /luz, by the command line/);
    assert.doesNotMatch(out, /ventanilla, by the command line/);
    const { history } = await json('application', 'show', `${id}`);
    assert.deepEqual(
      history.map(({ way }: { way: string }) => way),
      ['service', 'command_line'],
    );
  });

  it('lets nobody act at the command line in the name of an account', async () => {
    const id = await anApplication();
    const name = `operator ${people.ruth.id}`;
    const { code, err } = await run('application', 'approve', `${id}`, '--reason', 'x', '--as', name);
    assert.notEqual(code, 0);
    assert.match(err, /no "operator" or "account" with a number/);
    assert.equal((await read(id)).status, 'in_review');
  });

  it('has the signature, and the withdrawal from it (D46)', async () => {
    const id = await signing.begin(APPROVED);
    await signing.sign(id);
    const signed = await read(id);
    assert.equal(signed.status, 'pending_signature');
    assert.deepEqual((await told(id)).at(-1), { act: 'sign', by: APPLICANT });
    assert.equal(signed.timeline.at(-1)?.at, signed.signed_at);
    await signing.proven(id, (session) => withdraw(session, id));
    await inTransaction(database, (session) => rejectWithdrawn(session, id));
    const { timeline } = await read(id);
    assert.deepEqual(
      timeline.slice(1).map(({ act, by: { way }, reason_code }) => [act, way, reason_code]),
      [
        ['sign', 'applicant', null],
        ['reject', 'applicant', 'contract_withdrawn'],
      ],
    );
    assert.deepEqual(desk.failures, []);
  });

  it('an earlier application of the person says that it is signed', async () => {
    const id = await signing.begin({ ...APPROVED, id_number: '7766554433' });
    await signing.sign(id);
    const later = await anApplication({ id_number: '7766554433' });
    const { body } = await ruth.ask('GET', `/api/applications/${later}/neighbours`);
    const [earlier] = body.same_id_number.applications;
    assert.deepEqual([earlier?.id, earlier?.signed_at], [id, (await read(id)).signed_at]);
  });
});
