/** Second looks at decisions that were drawn, and what a lead sees (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { isAgainstScore } from '../../src/domain/application/against-score.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { leadRoutes } from '../../src/subjects/desk/routes/lead.ts';
import { Lead, SecondLooks } from '../../src/subjects/desk/routes/work-forms.ts';
import { SECOND_LOOK_SHARE } from '../../src/subjects/desk/settings.ts';
import { DECISION_HOURS, SECOND_LOOKS } from '../../src/subjects/desk/sql/tables.ts';
import { noteDecision } from '../../src/subjects/desk/uses/second-looks.ts';
import type { Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { besideLock } from '../support/held-lock.ts';
import { proposalDesk } from '../support/proposals.ts';

const HOSTILE = `</p><img src=x onerror="alert(1)"> ' --`;
const store = await testDatabase();
const { database, runtime } = store;
const desk = await proposalDesk(store, { lookShare: 1, more: leadRoutes });
const ruth = await desk.operator('ruth');
const adam = await desk.operator('adam', 'admin');
const alma = await desk.operator('alma', 'admin');
const viewer = await desk.operator('vera', 'viewer');

const looks = async (visitor: Visitor) => (await visitor.ask('GET', '/api/second-looks')).body.second_looks;
const look = (visitor: Visitor, proposal: number | string, body: object = { agrees: true, note: '' }) =>
  visitor.ask('POST', `/api/second-looks/${proposal}`, body);
const lead = (visitor: Visitor, query = '') => visitor.ask('GET', `/api/lead${query}`);
/** A decision that is applied and drawn. */
async function decided(by = ruth, body: object = { act: 'approve', reason: 'fine' }) {
  const [id] = await desk.register();
  const proposal = await desk.proposed(by.visitor, id!, body);
  await desk.applyAll();
  return { id: id!, proposal: proposal.id };
}
const stored = async (proposal: number) =>
  (await database.query('SELECT * FROM second_looks WHERE proposal_id = $1', [proposal])).rows[0];

describe('a second look', () => {
  it('waits for an admin, without who decided, and is taken once, also by two at the same moment (D48)', async () => {
    const { id, proposal } = await decided();
    const { body } = await adam.visitor.ask('GET', '/api/second-looks');
    assert.ok(Value.Check(SecondLooks, body), JSON.stringify([...Value.Errors(SecondLooks, body)]));
    const [shown] = body.second_looks.filter((one: { proposal: number }) => one.proposal === proposal);
    assert.deepEqual(
      [shown?.application_id, shown?.act, shown?.decision, typeof shown?.score],
      [id, 'approve', 'in_review', 'number'],
    );
    assert.ok(!JSON.stringify(body).includes('ruth'));
    const both = () =>
      Promise.all(
        [adam, alma].map(({ visitor }) => look(visitor, proposal, { agrees: false, note: HOSTILE })),
      );
    const answers = await besideLock(database, 'SELECT FROM operator_events_head FOR UPDATE', both, 2);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
    const { agrees, note, looker_id } = await stored(proposal);
    assert.deepEqual([agrees, note], [false, HOSTILE]);
    assert.ok([adam.id, alma.id].includes(looker_id));
    assert.ok(!(await looks(adam.visitor)).some((one: { proposal: number }) => one.proposal === proposal));
    const acts = await desk.json('audit', 'list', '--application', `${id}`);
    assert.ok(
      acts.some(
        ({ act, target }: Record<string, string>) =>
          act === 'second look' && target === `proposal ${proposal}`,
      ),
    );
  });

  it('is not for who made or confirmed the decision, and for no other role', async () => {
    const made = await decided(adam);
    assert.equal((await look(adam.visitor, made.proposal)).status, 403);
    assert.ok(
      !(await looks(adam.visitor)).some((one: { proposal: number }) => one.proposal === made.proposal),
    );
    assert.ok(
      (await looks(alma.visitor)).some((one: { proposal: number }) => one.proposal === made.proposal),
    );
    const weak = await desk.operator(`weak`, 'reviewer', null);
    const [id] = await desk.register();
    const { id: proposal } = await desk.proposed(weak.visitor, id!);
    assert.equal((await desk.act(alma.visitor, proposal, 'confirm')).status, 200);
    await desk.applyAll();
    assert.equal((await look(alma.visitor, proposal)).status, 403);
    assert.equal((await look(adam.visitor, proposal)).status, 200);
    for (const visitor of [ruth.visitor, viewer.visitor]) {
      assert.equal((await look(visitor, made.proposal)).status, 403);
      assert.equal((await visitor.ask('GET', '/api/second-looks')).status, 403);
      assert.equal((await lead(visitor)).status, 403);
    }
    assert.equal((await stored(made.proposal)).looked_at, null);
  });

  it('is counted for a lead, and apart where the lead had a part in the decision', async () => {
    const told = async (visitor: Visitor) => {
      const { waiting, own } = (await lead(visitor)).body.second_looks;
      return { waiting, own, listed: (await looks(visitor)).length };
    };
    const [before, other] = [await told(adam.visitor), await told(alma.visitor)];
    await decided(adam);
    await decided();
    const { waiting, own, listed } = await told(adam.visitor);
    assert.deepEqual(
      [waiting - before.waiting, own - before.own, listed - before.listed],
      [2, 1, 1],
      'for the maker',
    );
    assert.equal(waiting, own + listed);
    assert.equal((await told(alma.visitor)).own, other.own);
  });

  it('has a note of a bounded length, and is 404 where nothing was drawn', async () => {
    const { proposal } = await decided();
    for (const note of ['x'.repeat(501), 'a\u0000b', 'a\u202eb', 7])
      assert.equal((await look(adam.visitor, proposal, { agrees: true, note })).status, 400);
    assert.equal((await look(adam.visitor, proposal, { agrees: 'yes', note: '' })).status, 400);
    for (const unknown of ['99999', '0', 'x', '9'.repeat(30)])
      assert.equal((await look(adam.visitor, unknown)).status, 404, unknown);
    assert.equal((await look(adam.visitor, proposal, { agrees: true, note: 'x'.repeat(500) })).status, 200);
  });

  it('is drawn for the share of the decisions that is set, and for no decision of the command line', async () => {
    const decision = {
      act: 'approve',
      reasonCode: 'income_verified',
      makerId: ruth.id,
      checkerId: null,
      score: 60,
    } as const;
    const drawn = async (share: number, from: number, count: number) => {
      await inTransaction(runtime, async (session) => {
        for (let n = 0; n < count; n += 1)
          await noteDecision(
            session,
            { ...decision, proposalId: from + n, applicationId: 1_000_000 as never },
            share,
          );
      });
      return (
        await database.query('SELECT FROM second_looks WHERE proposal_id BETWEEN $1 AND $2', [
          from,
          from + count - 1,
        ])
      ).rowCount;
    };
    assert.equal(await drawn(0, 1_000_000, 50), 0);
    assert.equal(await drawn(1, 2_000_000, 50), 50);
    const some = (await drawn(0.5, 3_000_000, 200))!;
    // Outside of these bounds in one run of 10^16.
    assert.ok(some > 40 && some < 160, `${some}`);
    const [id] = await desk.register();
    await desk.json('application', 'approve', `${id}`, '--reason', 'x');
    const { rowCount } = await database.query('SELECT FROM second_looks WHERE application_id = $1', [id]);
    assert.equal(rowCount, 0);
    await database.query('DELETE FROM second_looks WHERE proposal_id >= 1000000');
    await database.query('DELETE FROM decision_hours');
  });

  it('is erased with the person: the note, and the decision that waits', async () => {
    const [looked, waits] = [await decided(), await decided()];
    await look(adam.visitor, looked.proposal, { agrees: true, note: 'spoke with Wilhelmina Quux' });
    for (const { id } of [looked, waits]) {
      const { phone } = await desk.json('application', 'show', `${id}`, '--reveal', '--reason', 'x');
      const exported = await desk.json('subject', 'export', '--phone', phone, '--reveal', '--reason', 'x');
      assert.equal(exported.applications[0].second_looks.length, 1);
      await desk.json('subject', 'erase', '--phone', phone, '--yes', '--close', '--reason', 'x');
    }
    assert.equal((await stored(looked.proposal)).note, 'erased');
    assert.equal(await stored(waits.proposal), undefined);
    assert.equal((await look(adam.visitor, waits.proposal)).status, 404);
  });

  it('goes after 100 elapsed days, with the counts of decisions (D39, docs/upkeep.md)', async () => {
    const [old, young] = [await decided(), await decided()];
    const days = (count: number) => `elapsed_ms() - ms_of(interval '${count} days')`;
    await database.query(`UPDATE second_looks SET drawn_ms = ${days(101)} WHERE proposal_id = $1`, [
      old.proposal,
    ]);
    await database.query(
      `UPDATE second_looks SET drawn_ms = ${days(99)}, at = now() - interval '1 year' WHERE proposal_id = $1`,
      [young.proposal],
    );
    await database.query(
      `INSERT INTO decision_hours (hour, operator_id, act, reason_code, is_against_score, decisions, first_ms)
       VALUES ('2020-01-01', 1, 'approve', 'x', false, 1, ${days(101)}), ('2020-01-02', 1, 'approve', 'x', false, 1, ${days(99)})`,
    );
    await forgetRows(runtime, SECOND_LOOKS);
    await forgetRows(runtime, DECISION_HOURS);
    assert.equal(await stored(old.proposal), undefined);
    assert.ok(await stored(young.proposal));
    const { rows } = await database.query("SELECT FROM decision_hours WHERE hour < '2021-01-01'");
    assert.equal(rows.length, 1);
  });
});

describe('the lead’s view', () => {
  it('counts decisions of the desk, those against the score, what waits by age, and looks (D48)', async () => {
    await database.query('DELETE FROM decision_hours; DELETE FROM second_looks; DELETE FROM review_items');
    const scores: number[] = [];
    for (const act of ['approve', 'reject'] as const) {
      const [id] = await desk.register();
      const { rows } = await database.query('SELECT score FROM review_items WHERE application_id = $1', [id]);
      scores.push(rows[0].score);
      await desk.proposed(ruth.visitor, id!, {
        ...{ act, reason: 'fine' },
        reason_code: act === 'approve' ? 'income_verified' : 'insufficient_capacity',
      });
    }
    await desk.applyAll();
    assert.ok(
      scores.every((score) => score < 50),
      'the scores of the test lean to a rejection',
    );
    const [byCommand, ...waiting] = await desk.register(5);
    await desk.json('application', 'reject', `${byCommand}`, '--reason', 'x');
    for (const [n, hours] of [1, 10, 100, 1_000].entries())
      await database.query(
        `UPDATE review_items SET created_at = now() - $2 * interval '1 hour', due_at = now() + (24 - $2) * interval '1 hour'
         WHERE application_id = $1`,
        [waiting[n], hours],
      );
    await database.query("SELECT set_item_state($1, 'pended')", [waiting[3]]);
    const { status, body } = await lead(adam.visitor, '?days=1');
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(Value.Check(Lead, body), JSON.stringify([...Value.Errors(Lead, body)]));
    assert.equal(body.hours.length, 1);
    const [hour] = body.hours;
    assert.deepEqual([hour?.approved, hour?.rejected, hour?.disbursed], [1, 1, 0]);
    assert.deepEqual(
      body.backlog.map(({ to, count }: { to: number | null; count: number }) => [to, count]),
      [
        [4, 1],
        [24, 1],
        [72, 0],
        [168, 1],
        [null, 0],
      ],
    );
    assert.deepEqual([body.waiting, body.overdue], [3, 1]);
    assert.deepEqual(body.reviewers, [{ by: { id: ruth.id, login: 'ruth' }, decisions: 2, overrides: 1 }]);
    assert.deepEqual(body.overrides, [
      { by: { id: ruth.id, login: 'ruth' }, act: 'approve', reason_code: 'income_verified', count: 1 },
    ]);
    assert.deepEqual(body.second_looks, { share: 1, waiting: 2, own: 0, looked: 0, disagreed: 0 });
    const [first] = await looks(adam.visitor);
    await look(adam.visitor, first.proposal, { agrees: false, note: 'no' });
    assert.deepEqual((await lead(adam.visitor)).body.second_looks, {
      share: 1,
      waiting: 1,
      own: 0,
      looked: 1,
      disagreed: 1,
    });
  });

  it('is of 90 days at most, and leaves older hours out, and those of a clock that was ahead (D39)', async () => {
    for (const query of ['?days=0', '?days=91', '?days=x', '?other=1'])
      assert.equal((await lead(adam.visitor, query)).status, 400, query);
    await database.query(
      `INSERT INTO decision_hours (hour, operator_id, act, reason_code, is_against_score, decisions, first_ms)
       SELECT date_trunc('hour', now(), 'UTC') + n * interval '1 hour', $1, 'reject', 'x', true, 1, 0
       FROM unnest(ARRAY[-24 * 90, -24 * 90 + 1, 5]) AS n ON CONFLICT DO NOTHING`,
      [ruth.id],
    );
    const counted = async (days: number) =>
      (await lead(adam.visitor, `?days=${days}`)).body.overrides
        .filter(({ reason_code }: { reason_code: string }) => reason_code === 'x')
        .reduce((sum: number, { count }: { count: number }) => sum + count, 0);
    assert.equal(await counted(90), 1);
    assert.equal(await counted(89), 0);
    assert.deepEqual(desk.site.failures, []);
  });
});

describe('a decision', () => {
  it('is against the score where it does what the score does not lean to (D48)', () => {
    const against = [
      ['approve', 49, true],
      ['approve', 50, false],
      ['reject', 50, true],
      ['reject', 49, false],
      ['disburse', 0, false],
      ['approve', null, false],
    ] as const;
    for (const [act, score, is] of against) assert.equal(isAgainstScore(act, score), is, `${act} ${score}`);
  });
});

describe('SECOND_LOOK_SHARE', () => {
  it('is a decimal number from 0 to 1', () => {
    const at = { dataDir: '', ownDatabase: true };
    for (const [text, share] of [
      [undefined, 0.02],
      ['0', 0],
      ['1', 1],
      ['0.5', 0.5],
      ['1.0', 1],
    ] as const)
      assert.equal(SECOND_LOOK_SHARE.read(text, at), share);
    for (const text of ['', '-1', '1.1', '2', '1e-1', '0,5', 'x', '.5', 'NaN'])
      assert.throws(() => SECOND_LOOK_SHARE.read(text, at), RangeError, text);
  });
});
