/** Who decides alone, and who is the second operator (D46, D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { markConversations } from '../../src/subjects/applications/sql/application-marks.ts';
import { mayDecide, secondReasonOf } from '../../src/subjects/desk/rules/proposal.ts';
import { countToConfirm } from '../../src/subjects/desk/sql/proposals.ts';
import { setAuthority } from '../support/authority.ts';
import { testDatabase } from '../support/database.ts';
import { planOf } from '../support/plan.ts';
import { proposalDesk } from '../support/proposals.ts';
import { remac } from '../support/remac.ts';
import { shifted } from '../support/shifted.ts';

const store = await testDatabase();
const { database, vault } = store;
const desk = await proposalDesk(store);
const boss = await desk.operator('boss', 'admin', null);
const ana = await desk.operator('ana', 'reviewer', 500_000_000n);
const bob = await desk.operator('bob');
const PAYMENT = { act: 'disburse', reason: 'paid', reason_code: 'funds_transferred' };
const IN_SPITE = { ...PAYMENT, override: true };

/** An application that may be paid out, but for what its contract asks for. */
const payable = async (changes: { conversation?: boolean; signed?: string; until?: string } = {}) => {
  const [id] = await desk.register();
  if (changes.conversation) await markConversations(database, [id!]);
  await desk.json('application', 'approve', `${id}`, '--reason', 'x');
  if (changes.signed !== undefined) {
    await database.query(
      `UPDATE application_states SET signed_at = now() - interval '${changes.signed}',
         withdrawable_until = now() + interval '${changes.until ?? '-1 hour'}' WHERE application_id = $1`,
      [id],
    );
  }
  return id!;
};

describe('the authority of a maker (D48)', () => {
  it('reaches to its amount, in its currency alone', () => {
    const authority = new Map([
      ['COP', 500_000_010n],
      ['USD', 100n],
    ]);
    const of = (
      debtAmount: number | null,
      currency: string | null = 'COP',
      act: 'approve' | 'reject' = 'approve',
    ) => secondReasonOf({ act, isOverride: false, currency, debtAmount }, authority);
    assert.equal(of(5_000_000.1), null);
    assert.equal(of(5_000_000.11), 'authority');
    assert.equal(of(5_000_000.100_000_1), 'authority');
    assert.equal(of(1.01, 'USD'), 'authority');
    assert.equal(of(1, 'USD'), null);
    assert.equal(of(1, 'MXN'), 'authority');
    assert.equal(of(null), 'authority');
    assert.equal(of(1, null), 'authority');
    assert.equal(of(6_000_000, 'COP', 'reject'), 'authority');
    for (const cents of [1n, 7n, 29n, 57n, 115n, 4_503_599_627_370_497n]) {
      const amount = Number(cents) / 100;
      const alone = (debtAmount: number) =>
        secondReasonOf(
          { act: 'approve', isOverride: false, currency: 'COP', debtAmount },
          new Map([['COP', cents]]),
        );
      assert.equal(alone(amount), null, `${cents}`);
      assert.equal(alone((Number(cents) + 1) / 100), 'authority', `${cents}`);
    }
  });

  it('says at the proposal whether a second operator has to confirm', async () => {
    const [equal, above] = [
      (await desk.register(1, { debt_amount: 5_000_000 }))[0]!,
      (await desk.register(1, { debt_amount: 5_000_000.01 }))[0]!,
    ];
    assert.equal((await desk.proposed(ana.visitor, equal)).needs_second, null);
    const { id, needs_second } = await desk.proposed(ana.visitor, above);
    assert.equal(needs_second, 'authority');
    await setAuthority(database, vault, ana.id, new Map([['COP', 1_000_000_000n]]));
    assert.deepEqual(await desk.applyAll(), ['applied'], 'the one above waits');
    assert.equal(await desk.statusOf(above), 'in_review');
    assert.equal((await desk.act(bob.visitor, id, 'confirm')).status, 200);
    assert.deepEqual(await desk.applyAll(), ['applied']);
    const page = (await bob.visitor.ask('GET', `/api/applications/${above}`)).body;
    const { by, second } = page.timeline.at(-1);
    assert.deepEqual([by.login, second.login], ['ana', 'bob']);
    assert.deepEqual(page.proposal.second, { id: bob.id, login: 'bob' });
    await setAuthority(database, vault, ana.id, new Map([['COP', 500_000_000n]]));
  });

  it('is nothing without an amount, also for an admin', async () => {
    const [id] = await desk.register();
    assert.equal((await desk.proposed(boss.visitor, id!)).needs_second, 'authority');
    assert.equal(mayDecide({ role: 'viewer', isDisabled: false, authority: new Map() }), false);
    assert.equal(mayDecide({ role: 'admin', isDisabled: true, authority: new Map() }), false);
    assert.equal(mayDecide(null), false);
  });
});

describe('the second operator (D48)', () => {
  const above = async () => {
    const [id] = await desk.register(1, { debt_amount: 8_900_000 });
    return { application: id!, ...(await desk.proposed(ana.visitor, id!)) };
  };

  it('is never the maker: not by another session, with another role, or under another login', async () => {
    const { id, application } = await above();
    const other = await ana.signIn();
    await database.query("UPDATE operators SET role = 'admin', login = 'annette' WHERE id = $1", [ana.id]);
    await remac(store);
    for (const visitor of [ana.visitor, other]) {
      assert.equal((await desk.act(visitor, id, 'confirm')).status, 403);
      assert.equal((await desk.act(visitor, id, 'decline', { reason: 'x' })).status, 403);
    }
    await assert.rejects(
      database.query('UPDATE proposals SET second_id = maker_id, confirmed_at = now() WHERE id = $1', [id]),
      /check constraint/,
    );
    assert.equal(await desk.statusOf(application), 'in_review');
    await database.query("UPDATE operators SET role = 'reviewer', login = 'ana' WHERE id = $1", [ana.id]);
    await remac(store);
    assert.equal((await desk.act(ana.visitor, id, 'undo')).status, 200);
  });

  it('is a reviewer or an admin with a live account, at the confirmation and when it is applied', async () => {
    const vera = await desk.operator('vera', 'viewer');
    const cleo = await desk.operator('cleo');
    const { id, application } = await above();
    assert.equal((await desk.act(vera.visitor, id, 'confirm')).status, 403);
    assert.equal((await desk.act(desk.site.visitor(), id, 'confirm')).status, 401);
    assert.equal((await desk.act(cleo.visitor, id, 'confirm')).status, 200);
    await database.query('UPDATE operators SET disabled_at = now() WHERE id = $1', [cleo.id]);
    await remac(store);
    assert.deepEqual(await desk.applyAll(), ['returned']);
    assert.equal(await desk.statusOf(application), 'in_review');
    const { outcome, returned_for } = await desk.proposal(bob.visitor, application);
    assert.match(outcome, /second operator may not decide/);
    assert.equal(returned_for, 'second');
  });

  it('confirms before the time to undo is over, and the maker may still undo until it is applied', async () => {
    const { id, application } = await above();
    assert.equal((await desk.act(bob.visitor, id, 'confirm')).status, 200);
    const again = await desk.act(boss.visitor, id, 'confirm');
    assert.deepEqual([again.status, again.body.by.login], [409, 'bob']);
    assert.equal(await desk.applyOne(), null, 'nothing is applied before its time');
    assert.equal((await desk.act(ana.visitor, id, 'undo')).status, 200);
    const next = await desk.proposed(ana.visitor, application);
    await desk.act(bob.visitor, next.id, 'confirm');
    await desk.applyAll();
    const late = await desk.act(ana.visitor, next.id, 'undo');
    assert.deepEqual([late.status, late.body.state], [409, 'applied']);
    const lateConfirm = await desk.act(boss.visitor, next.id, 'confirm');
    assert.deepEqual([lateConfirm.status, lateConfirm.body.state], [409, 'applied']);
  });

  it('declines with a reason, and the application is free', async () => {
    const { id, application } = await above();
    assert.equal((await desk.act(bob.visitor, id, 'decline')).status, 400);
    const { status, body } = await desk.act(bob.visitor, id, 'decline', { reason: 'ask for a statement' });
    assert.deepEqual(
      [status, body.state, body.outcome, body.returned_for],
      [200, 'declined', 'ask for a statement', null],
    );
    const mine = (await ana.visitor.ask('GET', '/api/proposals?list=mine')).body.proposals;
    assert.ok(mine.some((one: { id: number }) => one.id === id));
    await desk.proposed(bob.visitor, application);
    assert.deepEqual(await desk.applyAll(), ['applied']);
    const acts = await desk.json('audit', 'list', '--application', `${application}`);
    assert.ok(
      acts.some(
        (one: { act: string; by: string }) =>
          one.act === 'proposal decline' && one.by === `operator ${bob.id}`,
      ),
    );
  });

  it('is not asked for what its maker decides alone, and finds what waits in a list without its own', async () => {
    const [alone] = await desk.register(1, { debt_amount: 1_000_000 });
    const { id } = await desk.proposed(ana.visitor, alone!);
    const refused = await desk.act(bob.visitor, id, 'confirm');
    assert.deepEqual([refused.status, refused.body.error], [409, 'it needs no second operator']);
    const waits = await above();
    const listed = async (visitor: typeof ana.visitor) =>
      (await visitor.ask('GET', '/api/proposals?list=to_confirm')).body.proposals.map(
        (one: { id: number }) => one.id,
      );
    assert.ok((await listed(bob.visitor)).includes(waits.id));
    assert.ok(!(await listed(ana.visitor)).includes(waits.id));
    assert.ok(!(await listed(bob.visitor)).includes(id));
    await desk.applyAll();
  });

  it('is listed with what it is about, and null where there is none to read', async () => {
    const { id } = await above();
    const { status, body } = await bob.visitor.ask('GET', '/api/proposals?list=to_confirm');
    const { facts, application_id } = body.proposals.find((one: { id: number }) => one.id === id);
    const { body: shown } = await bob.visitor.ask('GET', `/api/applications/${application_id}`);
    assert.equal(status, 200);
    assert.ok(facts.debt_amount > 0);
    const { partner, currency, debt_amount, score, decision } = shown;
    assert.deepEqual(facts, {
      ...{ partner, currency, debt_amount, score, decision, lacks_authority: false },
      ...{ documents: { accepted: 0, received: 0, rejected: 0 }, observed_income: null },
      ...{ against: facts.against, seen: facts.seen, lines: [], objections: [] },
    });
    assert.deepEqual(shown.proposal.facts, facts);
    const { body: own } = await ana.visitor.ask('GET', '/api/proposals?list=mine');
    assert.ok(own.proposals.every((one: object) => !('facts' in one)));
    await database.query('UPDATE proposals SET application_id = 900000001 WHERE id = $1', [id]);
    const { body: lost } = await bob.visitor.ask('GET', '/api/proposals?list=to_confirm');
    const one = lost.proposals.find((row: { id: number }) => row.id === id);
    const nothing = { partner: null, currency: null, debt_amount: null, score: null, decision: null };
    const { seen, ...told } = one.facts;
    assert.notEqual(seen, facts.seen);
    assert.deepEqual(
      { ...told, against: [] },
      {
        ...{
          ...nothing,
          against: [],
          lines: [],
          objections: [],
          lacks_authority: true,
          observed_income: null,
        },
        documents: { accepted: 0, received: 0, rejected: 0 },
      },
    );
    await database.query('UPDATE proposals SET application_id = $2 WHERE id = $1', [id, application_id]);
    await desk.applyAll();
  });

  it('is counted for who may confirm it, up to 100, from an index alone', async () => {
    const countOf = async (visitor: typeof ana.visitor, list = 'mine') =>
      (await visitor.ask('GET', `/api/proposals?list=${list}`)).body.to_confirm;
    const [before, own] = [await countOf(bob.visitor), await countOf(ana.visitor)];
    const { id } = await above();
    assert.equal(await countOf(bob.visitor), before + 1);
    assert.equal(await countOf(bob.visitor, 'to_confirm'), before + 1);
    assert.equal(await countOf(ana.visitor), own, 'its maker confirms nothing of their own');
    await desk.act(bob.visitor, id, 'confirm');
    assert.equal(await countOf(bob.visitor), before);
    await database.query(
      `INSERT INTO proposals (application_id, act, reason_code, reason, is_override, maker_id, decided_on, created_at,
         apply_at, needs_second)
       SELECT 900000000 + n, 'approve', 'unspecified', 'x', false, $1, 0, now(), now(), 'authority'
       FROM generate_series(1, 2000) AS n`,
      [ana.id],
    );
    await database.query('VACUUM ANALYZE proposals');
    assert.equal(await countOf(bob.visitor), 100);
    const plan = await planOf(database, (on) => countToConfirm(on, bob.id, 100));
    await database.query('DELETE FROM proposals WHERE application_id > 900000000');
    await desk.applyAll();
    // On a cluster the planner may read the shard in sequence, because every row counts.
    if (!store.isSpread) assert.match(plan, /Index Only Scan using proposals_to_confirm on proposals/);
  });

  it('an activation of a policy is counted for each other admin, and for nobody else (D51)', async () => {
    const countOf = async (visitor: typeof ana.visitor) =>
      (await visitor.ask('GET', '/api/proposals?list=mine')).body.activations_to_confirm;
    const add = (version: string, maker: number, age = 0) =>
      database.query(
        `INSERT INTO policy_proposals (version, sha256, after_activation, accepted, maker_id, reason, created_ms)
         VALUES ($1, '\\x01', 0, '{}', $2, 'x', elapsed_ms() - ms_of(make_interval(days => $3)))`,
        [version, maker, age],
      );
    assert.equal(await countOf(boss.visitor), 0);
    await add('a', bob.id);
    await add('own', boss.id);
    await add('expired', bob.id, 7);
    assert.deepEqual([await countOf(boss.visitor), await countOf(ana.visitor)], [1, 0]);
    await database.query('DELETE FROM policy_proposals');
  });

  it('has seven days: then it goes back to its maker', async () => {
    const { id, application } = await above();
    await desk.makeDue();
    await database.query(
      `UPDATE open_proposals SET due_at = ${shifted('due_at', "interval '-7 days'")} WHERE proposal_id = $1`,
      [id],
    );
    assert.equal(await desk.applyOne(), 'returned');
    assert.equal((await desk.proposal(ana.visitor, application)).returned_for, 'unconfirmed');
  });
});

describe('a payment (D46, D48)', () => {
  it('always needs a second operator and a sign-in of the last five minutes, of both', async () => {
    const id = await payable();
    const stale = async (operator: number) => {
      await database.query(
        "UPDATE operator_sessions SET proved_at = now() - interval '6 minutes' WHERE operator_id = $1",
        [operator],
      );
      await remac(store);
    };
    const fresh = async () => {
      await database.query('UPDATE operator_sessions SET proved_at = now()');
      await remac(store);
    };
    await stale(bob.id);
    const refused = await desk.propose(bob.visitor, id, PAYMENT);
    assert.deepEqual([refused.status, refused.body.needs], [403, 'sign-in']);
    await fresh();
    const made = await desk.proposed(bob.visitor, id, PAYMENT);
    assert.equal(made.needs_second, 'disburse');
    assert.deepEqual(await desk.applyAll(), []);
    await stale(ana.id);
    const unproved = await desk.act(ana.visitor, made.id, 'confirm');
    assert.deepEqual([unproved.status, unproved.body.needs], [403, 'sign-in']);
    await fresh();
    assert.equal((await desk.act(ana.visitor, made.id, 'confirm')).status, 200);
    assert.deepEqual(await desk.applyAll(), ['applied']);
    assert.equal(await desk.statusOf(id), 'disbursed');
  });

  it('waits for the signature and the end of the period, although two operators agree', async () => {
    for (const held of [{ conversation: true }, { conversation: true, signed: '1 hour', until: '1 day' }]) {
      const id = await payable(held);
      const refused = await desk.propose(bob.visitor, id, PAYMENT);
      assert.equal(refused.status, 409);
      assert.match(refused.body.error, /or override it/);
    }
    // The period is over when it is proposed, and is not when it is applied.
    const id = await payable({ conversation: true, signed: '1 hour', until: '-1 minute' });
    const made = await desk.proposed(bob.visitor, id, PAYMENT);
    await desk.act(ana.visitor, made.id, 'confirm');
    await database.query(
      "UPDATE application_states SET withdrawable_until = now() + interval '1 day' WHERE application_id = $1",
      [id],
    );
    assert.deepEqual(await desk.applyAll(), ['returned']);
    assert.equal(await desk.statusOf(id), 'pending_signature');
    const { outcome, returned_for } = await desk.proposal(bob.visitor, id);
    assert.match(outcome, /may withdraw from the contract until/);
    assert.equal(returned_for, 'withdrawable');
  });

  it('overrides the contract where that is proposed, and the record says so', async () => {
    const id = await payable({ conversation: true });
    const made = await desk.proposed(bob.visitor, id, IN_SPITE);
    assert.equal(made.needs_second, 'override');
    await desk.act(ana.visitor, made.id, 'confirm');
    assert.deepEqual(await desk.applyAll(), ['applied']);
    assert.equal(await desk.statusOf(id), 'disbursed');
    const acts = await desk.json('audit', 'list', '--application', `${id}`);
    const done = acts.find((one: { act: string }) => one.act.startsWith('application disburse'));
    assert.deepEqual(
      [done.act, done.by, done.target],
      [
        'application disburse --override',
        `operator ${bob.id}`,
        `proposal ${made.id}, second operator ${ana.id}`,
      ],
    );
  });

  it('or a rejection comes back where the applicant signed or withdrew meanwhile', async () => {
    const signed = await payable({ conversation: true });
    await desk.proposed(bob.visitor, signed, { act: 'reject', reason: 'x' });
    await database.query('UPDATE application_states SET signed_at = now() WHERE application_id = $1', [
      signed,
    ]);
    assert.deepEqual(await desk.applyAll(), ['returned']);
    assert.equal(await desk.statusOf(signed), 'pending_signature');
    assert.equal((await desk.proposal(bob.visitor, signed)).returned_for, 'signed');

    const withdrawn = await payable({ conversation: true, signed: '9 days', until: '-1 hour' });
    const made = await desk.proposed(bob.visitor, withdrawn, PAYMENT);
    await desk.act(ana.visitor, made.id, 'confirm');
    await database.query(
      "SELECT move_application($1, '{pending_signature}', 'rejected', 'applicant', 'reject', 'x', 'contract_withdrawn', NULL, false)",
      [withdrawn],
    );
    assert.deepEqual(await desk.applyAll(), ['returned']);
    assert.equal(await desk.statusOf(withdrawn), 'rejected');
    assert.equal((await desk.proposal(bob.visitor, withdrawn)).outcome, 'applicant did reject meanwhile');
  });
});
