/** What a payment stands on, and why one is refused: in codes, with the date (D46, D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Terms } from '../../src/domain/loan/terms.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { deskRoutes } from '../../src/subjects/desk/routes/desk-routes.ts';
import { CONFLICTS } from '../../src/subjects/desk/rules/conflict.ts';
import { applyNext } from '../../src/subjects/desk/uses/apply-proposals.ts';
import { APPROVED, applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { makeProposalsDue, seenBy } from '../support/proposals.ts';
import { testSigning } from '../support/signing.ts';
import { untilDone } from '../support/until-done.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const signing = await testSigning(store);
let terms: Terms | null = signing.context.terms;
const context = {
  database: runtime,
  vault,
  clock: machineClock,
  undoSeconds: 600,
  dueHours: 24,
  terms: async () => terms,
  lookShare: 0,
};
const noFiles = () => Promise.reject(new Error('these tests open no document'));
const desk = await startTestConsole(store, deskRoutes(context, noFiles));
const ruth = await (await desk.enrolled('ruth', 'reviewer')).signIn();
const rob = await (await desk.enrolled('rob', 'reviewer', new Map([['COP', 10n ** 14n]]))).signIn();

const read = async (id: number) => (await ruth.ask('GET', `/api/applications/${id}`)).body;
async function act(visitor: Visitor, id: number, what: string, body: object) {
  const headers = { 'If-Match': `"${(await read(id)).last_event}"` };
  return visitor.ask('POST', `/api/applications/${id}/${what}`, body, headers);
}
const pay = (visitor: Visitor, id: number, changes: object = {}) =>
  act(visitor, id, 'proposals', { act: 'disburse', reason: 'paid', ...changes });

/** The lines that pay a contract by its list; `more`: a change of the amount. */
async function linesOf(id: number, more = 0, reference = `TR-${id}`) {
  const plan: { payee: string; amount: string }[] = await signing.json('disbursement', 'plan', `${id}`);
  const { rows } = await database.query<{ day: string }>(
    "SELECT to_char(clock_timestamp() AT TIME ZONE 'America/Bogota', 'YYYY-MM-DD') AS day",
  );
  return plan.map(({ payee, amount }) => ({
    ...{ payee, amount: `${Number(amount) + more}`, reference, value_date: rows[0]!.day },
  }));
}
/** A signed contract whose time to withdraw is over. */
async function payable(): Promise<number> {
  const id = await signing.beginWithoutDebts();
  await signing.sign(id);
  await database.query(
    "UPDATE application_states SET withdrawable_until = now() - interval '1 second' WHERE application_id = $1",
    [id],
  );
  return id;
}
const factsOf = async (proposal: number) => {
  const { body } = await rob.ask('GET', '/api/proposals?list=to_confirm');
  return body.proposals.find(({ id }: { id: number }) => id === proposal).facts;
};
const confirm = async (proposal: number) =>
  rob.ask('POST', `/api/proposals/${proposal}/confirm`, { seen: await seenBy(rob, proposal) });
const applyAll = async () => {
  await makeProposalsDue(store);
  await untilDone(
    async () => (await applyNext(context, (_id, error) => assert.fail(String(error)))) === null,
  );
};
const proposalOf = async (id: number) =>
  (await database.query('SELECT state, returned_for, lines FROM proposals WHERE id = $1', [id])).rows[0];

describe('the lines of a proposed payment (D46, D48)', () => {
  it('are confirmed by the second operator as they are, and paid', async () => {
    const id = await payable();
    const lines = await linesOf(id);
    const { status, body } = await pay(ruth, id, { lines });
    assert.equal(status, 200, JSON.stringify(body));
    const facts = await factsOf(body.id);
    assert.deepEqual([facts.lines, facts.objections], [lines, []]);
    assert.ok(!JSON.stringify(await proposalOf(body.id)).includes('applicant'), 'they lie sealed');
    assert.equal((await confirm(body.id)).status, 200);
    await applyAll();
    assert.equal((await read(id)).status, 'disbursed');
    const [row] = await signing.json('disbursement', 'list', `${id}`);
    assert.deepEqual([row.payee, row.amount, row.reference], ['applicant', lines[0]!.amount, `TR-${id}`]);
    assert.match(row.recorded_by, /^operator \d+$/);
    assert.match(row.second, /^operator \d+$/);
    assert.equal((await proposalOf(body.id)).lines, null, 'they go with the end of the proposal');
  });

  it('that differ from the list, or are none, are refused at once without the override', async () => {
    const id = await payable();
    for (const lines of [[], await linesOf(id, 1)]) {
      const refused = await pay(ruth, id, { lines });
      assert.deepEqual([refused.status, refused.body.code], [409, 'lines_differ']);
    }
    const wrong = await pay(ruth, id, { lines: [...(await linesOf(id)), ...(await linesOf(id))] });
    assert.deepEqual([wrong.status, wrong.body.error], [400, 'body: line 2 repeats line 1']);
    const rejected = await act(ruth, id, 'proposals', {
      act: 'reject',
      reason: 'x',
      lines: await linesOf(id),
    });
    assert.equal(rejected.status, 400);
    const silent = await pay(ruth, id, {
      override: true,
      reason_code: 'funds_transferred',
      reason: 'funds_transferred',
    });
    assert.deepEqual([silent.status, /must say in words why/.test(silent.body.error)], [400, true]);
    const { status, body } = await pay(ruth, id, { lines: await linesOf(id, 1), override: true });
    assert.deepEqual([status, body.needs_second], [200, 'override']);
    assert.deepEqual((await factsOf(body.id)).objections, ['lines_differ'], 'the second operator is told');
    assert.equal((await confirm(body.id)).status, 200);
    await applyAll();
    assert.equal((await read(id)).status, 'disbursed');
  });

  it('are missed in a payment in spite of the contract and of its time to withdraw: both are told before the confirmation', async () => {
    const id = await payable();
    await database.query(
      "UPDATE application_states SET withdrawable_until = now() + interval '1 day' WHERE application_id = $1",
      [id],
    );
    const { body } = await pay(ruth, id, { override: true });
    const { objections, lines, seen } = await factsOf(body.id);
    assert.deepEqual([objections, lines], [['withdrawable', 'lines_differ'], []]);
    await database.query(
      "UPDATE application_states SET withdrawable_until = now() - interval '1 day' WHERE application_id = $1",
      [id],
    );
    const changed = await rob.ask('POST', `/api/proposals/${body.id}/confirm`, { seen });
    assert.deepEqual([changed.status, changed.body.code], [409, 'changed'], 'what is told has changed');
  });

  it('come back where the maximum fell meanwhile, and nothing is paid (D45)', async () => {
    const id = await payable();
    const { body } = await pay(ruth, id, { lines: await linesOf(id) });
    assert.equal((await confirm(body.id)).status, 200);
    const before = terms!;
    const month = (await linesOf(id))[0]!.value_date.slice(0, 7);
    const CO = { ...before.countries.CO!, legal_maximum: { [month]: '1' } };
    terms = { ...before, countries: { CO } };
    await applyAll();
    terms = before;
    const { state, returned_for } = await proposalOf(body.id);
    assert.deepEqual([state, returned_for], ['returned', 'above_maximum']);
    assert.equal((await read(id)).status, 'pending_signature');
    assert.deepEqual(await signing.json('disbursement', 'list', `${id}`), []);
  });

  it('of another proposal, or changed ones, pay nothing', async () => {
    const [id, other] = [await payable(), await payable()];
    const [mine, theirs] = [
      (await pay(ruth, id, { lines: await linesOf(id) })).body,
      (await pay(ruth, other, { lines: await linesOf(other) })).body,
    ];
    await confirm(mine.id);
    await database.query(
      'UPDATE proposals SET lines = (SELECT o.lines FROM proposals o WHERE o.id = $2) WHERE id = $1',
      [mine.id, theirs.id],
    );
    await applyAll();
    assert.equal((await proposalOf(mine.id)).state, 'returned');
    assert.equal((await read(id)).status, 'pending_signature');
  });
});

describe('a payment', () => {
  it('is refused with a code before the signature, and until the period is over, with the date (D46)', async () => {
    const id = await signing.begin(APPROVED);
    assert.equal((await read(id)).payment_held_by, 'not_signed');
    const unsigned = await pay(ruth, id);
    assert.deepEqual([unsigned.status, unsigned.body.code, unsigned.body.until], [409, 'not_signed', null]);
    await signing.sign(id);
    const { signed_at, withdrawable_until, payment_held_by } = await read(id);
    assert.ok(Date.parse(withdrawable_until) > Date.parse(signed_at));
    assert.equal(payment_held_by, 'withdrawable');
    const early = await pay(ruth, id);
    assert.deepEqual(
      [early.status, early.body.code, early.body.until],
      [409, 'withdrawable', withdrawable_until],
    );
    assert.match(early.body.error, /may withdraw from the contract until/);

    await database.query(
      "UPDATE application_states SET withdrawable_until = now() - interval '1 second' WHERE application_id = $1",
      [id],
    );
    assert.equal((await read(id)).payment_held_by, null);
    const { status, body } = await pay(ruth, id, { lines: await linesOf(id) });
    assert.equal(status, 200, JSON.stringify(body));
    const seen = await seenBy(rob, body.id);
    assert.equal((await rob.ask('POST', `/api/proposals/${body.id}/confirm`, { seen })).status, 200);
    await makeProposalsDue(store);
    await untilDone(
      async () => (await applyNext(context, (_id, error) => assert.fail(String(error)))) === null,
    );
    const paid = await read(id);
    assert.deepEqual([paid.status, paid.payment_held_by, paid.signed_at], ['disbursed', null, signed_at]);
  });

  it('of an application without a conversation is held by nothing (D34)', async () => {
    const [id] = await signing.register(signing.key, [
      applicant({ ...APPROVED, phone: toPhone('+573045550001') }),
    ]);
    const { status, signed_at, payment_held_by } = await read(id!);
    assert.deepEqual([status, signed_at, payment_held_by], ['pending_signature', null, null]);
    assert.equal((await pay(ruth, id!)).status, 200);
  });
});

describe('a refusal with 409', () => {
  it('has a code, and who stands in the way', async () => {
    const [id] = await signing.register(signing.key, [
      applicant({ ...IN_REVIEW, id_number: '90909090', phone: toPhone('+573045550002') }),
    ]);
    const pend = { missing: ['explanation'], message: null, hours: 1 };
    const approve = { act: 'approve', reason: 'fine' };
    const seen: string[] = [];
    const refused = async (
      answer: Promise<{ status: number; body: { code: string; by?: { login: string } } }>,
    ) => {
      const { status, body } = await answer;
      assert.equal(status, 409, JSON.stringify(body));
      seen.push(body.code);
      return body;
    };
    await refused(pay(ruth, id!));
    assert.equal((await act(ruth, id!, 'claim', {})).status, 200);
    assert.equal((await refused(act(rob, id!, 'proposals', approve))).by?.login, 'ruth');
    assert.equal((await refused(act(rob, id!, 'pend', pend))).by?.login, 'ruth');
    await refused(act(ruth, id!, 'resume', {}));
    assert.equal((await act(ruth, id!, 'pend', pend)).status, 200);
    await refused(act(rob, id!, 'pend', pend));
    await refused(act(rob, id!, 'proposals', approve));
    assert.equal((await act(rob, id!, 'resume', {})).status, 200);
    assert.equal((await act(rob, id!, 'proposals', approve)).status, 200);
    assert.equal((await refused(act(ruth, id!, 'proposals', approve))).by?.login, 'rob');
    assert.deepEqual(seen, [
      ...['illegal', 'claimed', 'claimed', 'not_pended', 'pended', 'pended', 'proposed'],
    ]);
    for (const code of seen) assert.ok((CONFLICTS as readonly string[]).includes(code), code);
    assert.deepEqual(desk.failures, []);
  });
});
