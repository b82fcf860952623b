/** What speaks against a decision is told before it is sent and before it is confirmed (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REVIEW_ACTIONS } from '../../src/domain/application/lifecycle.ts';
import { codesOfOperators } from '../../src/domain/application/reason-codes.ts';
import {
  contradictedCodes,
  contradictionOf,
  type Evidence,
  speaksAgainst,
} from '../../src/subjects/desk/rules/against.ts';
import { testDatabase } from '../support/database.ts';
import { fileOf } from '../support/files.ts';
import { proposalDesk } from '../support/proposals.ts';

const store = await testDatabase();
const { database } = store;
const desk = await proposalDesk(store);
const ana = await desk.operator('ana', 'reviewer', 500_000_000n);
const bob = await desk.operator('bob');

const { addDocument, addCheck } = fileOf(store);

describe('a reason that the file contradicts (D48)', () => {
  const FILES: readonly [evidence: Evidence, contradicted: Record<string, string>][] = [
    [
      { documents: { accepted: 0, received: 0, rejected: 0 }, income: null },
      {
        ...{ documents_verified: 'no_document', income_verified: 'no_income' },
        documents_invalid: 'no_document',
      },
    ],
    [
      {
        documents: { accepted: 0, received: 0, rejected: 2 },
        income: { isConfirmed: false, observed: 1 },
      },
      { documents_verified: 'no_document', income_verified: 'income_unconfirmed' },
    ],
    [
      {
        documents: { accepted: 1, received: 0, rejected: 1 },
        income: { isConfirmed: true, observed: null },
      },
      { income_not_verified: 'income_confirmed' },
    ],
  ];

  it('is one of documents or income; other codes say nothing that a file has', () => {
    for (const [evidence, contradicted] of FILES) {
      const found = REVIEW_ACTIONS.flatMap((act) => contradictedCodes(act, evidence));
      assert.deepEqual(Object.fromEntries(found.map(({ code, why }) => [code, why])), contradicted);
      for (const act of REVIEW_ACTIONS)
        for (const code of codesOfOperators(act))
          assert.equal(contradictionOf(code, evidence), contradicted[code] ?? null, code);
    }
  });

  it('speaks against a decision beside the score', () => {
    const evidence = FILES[0]![0];
    const against = (
      act: 'approve' | 'reject',
      reasonCode: 'documents_verified' | 'unspecified',
      score: number | null,
    ) => speaksAgainst({ act, reasonCode }, score, evidence);
    assert.deepEqual(against('approve', 'documents_verified', 35), ['against_score', 'no_document']);
    assert.deepEqual(against('approve', 'unspecified', 65), []);
    assert.deepEqual(against('reject', 'unspecified', 65), ['against_score']);
    assert.deepEqual(against('approve', 'unspecified', null), []);
  });

  it('is told of each application to its maker, and to the second operator', async () => {
    const [bare, full, refused, open] = await desk.register(4, { debt_amount: 6_000_000 });
    await addDocument(full!, 'accepted');
    await addCheck(full!, 'operator', 100);
    await addCheck(full!, 'adjusted', 100);
    await addDocument(refused!, 'rejected');
    await addCheck(refused!, 'operator', null);
    await addDocument(open!, 'received');
    await addCheck(open!, 'operator', 100);
    const told = async (id: number) => {
      const { body } = await ana.visitor.ask('GET', `/api/applications/${id}`);
      const entries = body.contradicted.map((one: { reason_code: string; why: string }) => [
        one.reason_code,
        one.why,
      ]);
      return Object.fromEntries(entries);
    };
    const [none, some] = [FILES[0]![1], FILES[2]![1]];
    assert.deepEqual(await told(bare!), none);
    assert.deepEqual(await told(full!), some);
    assert.deepEqual(await told(refused!), {
      documents_verified: 'no_document',
      income_verified: 'no_income',
    });
    assert.deepEqual(await told(open!), { income_verified: 'income_unconfirmed' });
    await addCheck(open!, 'operator', null, true);
    assert.deepEqual(await told(open!), some, 'an operator has accepted it');

    const body = { act: 'approve', reason_code: 'documents_verified', reason: 'seen' };
    const { id } = await desk.proposed(ana.visitor, bare!, body);
    const { proposals } = (await bob.visitor.ask('GET', '/api/proposals?list=to_confirm')).body;
    const { facts } = proposals.find((one: { id: number }) => one.id === id);
    assert.equal(facts.partner.name, 'Acme');
    assert.ok(facts.against.includes('no_document'));
    await desk.act(bob.visitor, id, 'decline', { reason: 'there is none' });
  });
});

describe('a decision on many is looked at before it is proposed (D48)', () => {
  const look = (body: object) => ana.visitor.ask('POST', '/api/proposals/bulk/look', body);

  it('tells totals by currency, what is above the authority, and what speaks against it', async () => {
    const within = await desk.register(2, { debt_amount: 1_000_000 });
    const [above] = await desk.register(1, { debt_amount: 5_000_000.01 });
    const [foreign] = await desk.register(1, { currency: 'MXN', debt_amount: 20_000 });
    await addDocument(within[0]!, 'accepted');
    const ids = [...within, above!, foreign!];
    const applications = [...ids, 777_777_777].map((id) => ({ id, last_event: '0' }));
    const { status, body } = await look({ act: 'approve', applications });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(
      { ...body, against_score: 0 },
      {
        ...{ count: 4, above_authority: 2, against_score: 0 },
        totals: [
          { currency: 'COP', count: 3, debt_amount: 7_000_000.01 },
          { currency: 'MXN', count: 1, debt_amount: 20_000 },
        ],
        contradicted: [
          { reason_code: 'income_verified', why: 'no_income', count: 4 },
          { reason_code: 'documents_verified', why: 'no_document', count: 3 },
        ],
      },
    );
    const leaning = await Promise.all(
      ids.map(async (id) => (await ana.visitor.ask('GET', `/api/applications/${id}`)).body.score < 50),
    );
    assert.equal(body.against_score, leaning.filter(Boolean).length);
    const { body: rejecting } = await look({ act: 'reject', applications });
    assert.equal(rejecting.against_score, 4 - body.against_score);
    assert.deepEqual(rejecting.contradicted, [
      { reason_code: 'documents_invalid', why: 'no_document', count: 3 },
    ]);
    const { rows } = await database.query('SELECT FROM open_proposals');
    assert.equal(rows.length, 0, 'it proposes nothing');
  });

  it('takes a selection or names, not both and not none; a selection of somebody else is none', async () => {
    assert.equal((await look({ act: 'approve' })).status, 400);
    const applications = [{ id: 1, last_event: '0' }];
    const selection = '0198f0a0-0000-7000-8000-000000000009';
    assert.equal((await look({ act: 'approve', applications, selection })).status, 400);
    assert.equal((await look({ act: 'approve', selection })).status, 404);
    assert.equal((await look({ act: 'disburse', applications })).status, 400);
  });
});
