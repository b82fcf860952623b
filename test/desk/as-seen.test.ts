/** A decision is confirmed, and proposed on many, as it was shown (D48): what has changed since is shown first. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isWorse } from '../../src/subjects/desk/uses/look-at-many.ts';
import { testDatabase } from '../support/database.ts';
import { fileOf } from '../support/files.ts';
import { ALL_AGAINST, proposalDesk, seenBy } from '../support/proposals.ts';

const store = await testDatabase();
const { database } = store;
const desk = await proposalDesk(store);
const ana = await desk.operator('ana', 'reviewer', 500_000_000n);
const bob = await desk.operator('bob');
const { addDocument, addCheck } = fileOf(store);

describe('a confirmation (D48)', () => {
  const waiting = async () => {
    const [id] = await desk.register(1, { debt_amount: 6_000_000 });
    const made = await desk.proposed(ana.visitor, id!, {
      ...{ act: 'approve', reason_code: 'documents_verified', reason: 'seen' },
    });
    return { application: id!, ...made };
  };
  const confirm = (proposal: number, seen: string) => desk.act(bob.visitor, proposal, 'confirm', { seen });

  it('says what was shown', async () => {
    const { id } = await waiting();
    assert.equal((await desk.act(bob.visitor, id, 'confirm', {})).status, 400);
    assert.equal((await confirm(id, await seenBy(bob.visitor, id))).status, 200);
    assert.equal((await confirm(id, 'anything')).status, 200, 'a repetition confirms nothing more');
  });

  for (const [what, change] of [
    ['a document came', ({ application }) => addDocument(application, 'received')],
    [
      'a document was refused',
      ({ application }) =>
        database.query("UPDATE documents SET state = 'rejected' WHERE application_id = $1", [application]),
    ],
    ['an income was observed', ({ application }) => addCheck(application, 'operator', 100)],
    ['another income was observed', ({ application }) => addCheck(application, 'operator', 200)],
    ['the income was accepted', ({ application }) => addCheck(application, 'operator', 200, true)],
    [
      'the proposal has another reason',
      ({ id }) => database.query("UPDATE proposals SET reason = 'another' WHERE id = $1", [id]),
    ],
  ] as const satisfies [string, (one: { application: number; id: number }) => Promise<unknown>][]) {
    it(`is refused where ${what} since, and tells what is there now`, async () => {
      const made = await waiting();
      if (what === 'a document was refused') await addDocument(made.application, 'accepted');
      if (what !== 'an income was observed') await addCheck(made.application, 'operator', 100);
      const before = await seenBy(bob.visitor, made.id);
      await change(made);
      const { status, body } = await confirm(made.id, before);
      assert.deepEqual([status, body.code], [409, 'changed']);
      const { proposals } = (await bob.visitor.ask('GET', '/api/proposals?list=to_confirm')).body;
      const listed = proposals.find(({ id }: { id: number }) => id === made.id);
      assert.deepEqual(body.proposal, listed);
      assert.notEqual(listed.facts.seen, before);
      assert.equal(listed.state, 'proposed');
      const acts = await desk.json('audit', 'list', '--application', `${made.application}`);
      assert.ok(!acts.some(({ act }: { act: string }) => act === 'proposal confirm'));
      assert.equal((await confirm(made.id, body.proposal.facts.seen)).status, 200);
    });
  }

  it('stays as it is where nothing of it changed', async () => {
    const { id, application } = await waiting();
    const seen = await seenBy(bob.visitor, id);
    await waiting();
    const { body } = await bob.visitor.ask('GET', `/api/applications/${application}`);
    assert.equal(body.proposal.facts.seen, seen);
    assert.equal((await confirm(id, seen)).status, 200);
  });
});

describe('a decision on many (D48)', () => {
  const DECISION = { act: 'approve', reason_code: 'documents_verified', reason: 'seen' } as const;

  it('is refused where more speaks against it than was shown, and tells what does now', async () => {
    const ids = await desk.register(3);
    for (const id of ids) await addDocument(id, 'accepted');
    const applications = ids.map((id) => ({ id, last_event: '0' }));
    const bulk = (seen: object) =>
      ana.visitor.ask('POST', '/api/proposals/bulk', { ...DECISION, applications, seen }, KEY);
    const KEY = { 'Idempotency-Key': 'as seen' };
    await database.query("UPDATE documents SET state = 'rejected' WHERE application_id = ANY ($1)", [
      ids.slice(0, 2),
    ]);
    const none = { ...ALL_AGAINST, contradicted: 0 };
    const { status, body } = await bulk(none);
    assert.deepEqual([status, body.code], [409, 'changed']);
    const { body: look } = await ana.visitor.ask('POST', '/api/proposals/bulk/look', {
      ...{ act: DECISION.act, applications },
    });
    assert.deepEqual(body.look, look);
    assert.deepEqual(
      (await database.query('SELECT FROM open_proposals WHERE application_id = ANY ($1)', [ids])).rows,
      [],
    );
    // One of them is there again: less speaks against it than was shown.
    await addDocument(ids[0]!, 'accepted');
    assert.equal((await bulk({ ...none, contradicted: 2 })).body.proposed, 3);
    await database.query("UPDATE documents SET state = 'rejected' WHERE application_id = ANY ($1)", [ids]);
    assert.equal((await bulk({ ...none, contradicted: 2 })).body.proposed, 3, 'a repetition');
  });

  it('counts the authority, the score, and what contradicts its own reason', () => {
    const now = {
      ...{ count: 9, totals: [], aboveAuthority: 2, againstScore: 3 },
      contradicted: [
        { code: 'documents_verified', why: 'no_document', count: 4 },
        { code: 'income_verified', why: 'no_income', count: 1 },
        { code: 'income_verified', why: 'income_unconfirmed', count: 2 },
      ],
    } as const;
    const seen = { aboveAuthority: 2, againstScore: 3, contradicted: 4 };
    assert.equal(isWorse(now, 'documents_verified', seen), false);
    assert.equal(isWorse(now, 'documents_verified', { ...seen, contradicted: 3 }), true);
    assert.equal(isWorse(now, 'income_verified', { ...seen, contradicted: 3 }), false);
    assert.equal(isWorse(now, 'income_verified', { ...seen, contradicted: 2 }), true);
    assert.equal(isWorse(now, 'exception_granted', { ...seen, contradicted: 0 }), false);
    assert.equal(isWorse(now, 'documents_verified', { ...seen, aboveAuthority: 1 }), true);
    assert.equal(isWorse(now, 'documents_verified', { ...seen, againstScore: 2 }), true);
  });
});
