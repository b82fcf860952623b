/** Whose authority counts, and when: of one of the two, at the moment of applying (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { type Decider, haveAuthority } from '../../src/subjects/desk/rules/proposal.ts';
import { whyReturned } from '../../src/subjects/desk/rules/returned.ts';
import { setAuthority } from '../support/authority.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { ALL_AGAINST, proposalDesk } from '../support/proposals.ts';
import { remac } from '../support/remac.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database, vault } = store;
const desk = await proposalDesk(store);
/** In hundredths; the debt of each application is within MUCH and above LITTLE. */
const [LITTLE, MUCH] = [100_000_000n, 900_000_000n];
const DEBT = { debt_amount: 5_000_000 };
const ana = await desk.operator('ana', 'reviewer', LITTLE);
const bob = await desk.operator('bob', 'reviewer', MUCH);
const cleo = await desk.operator('cleo', 'reviewer', null);

/** What an operator may decide on alone from now on; null: nothing. */
const authority = (id: number, hundredths: bigint | null, currency = 'COP') =>
  setAuthority(database, vault, id, new Map(hundredths === null ? [] : [[currency, hundredths]]));
/** Changes the accounts of one operator, or of all. */
const account = async (change: string, id: number | null = null) => {
  await database.query(`UPDATE operators SET ${change} WHERE $1::integer IS NULL OR id = $1`, [id]);
  await remac(store);
};
const restore = async () => {
  await account("disabled_at = NULL, role = 'reviewer'");
  await authority(ana.id, LITTLE);
  await authority(bob.id, MUCH);
  await authority(cleo.id, null);
};
/** An application in review with a proposal that ana made; or one to be paid out. */
const proposedBy = async (maker: typeof ana, act: 'approve' | 'reject' | 'disburse' = 'approve') => {
  const [id] = await desk.register(1, DEBT);
  if (act === 'disburse') await desk.json('application', 'approve', `${id}`, '--reason', 'x');
  const { id: proposal } = await desk.proposed(maker.visitor, id!, { act, reason: 'seen' });
  return { id: id!, proposal };
};

describe('the authority of two (D48)', () => {
  const who = (hundredths: bigint | null, more: Partial<NonNullable<Decider>> = {}): Decider => ({
    ...{ role: 'reviewer', isDisabled: false },
    authority: new Map(hundredths === null ? [] : [['COP', hundredths]]),
    ...more,
  });
  const amount = (act: 'approve' | 'reject' | 'disburse', debtAmount: number | null = 5_000_000) => ({
    ...{ act, isOverride: false, currency: debtAmount === null ? null : 'COP', debtAmount },
  });

  it('is that of one of them for an approval and a payment, and of nobody for a rejection', () => {
    for (const act of ['approve', 'disburse'] as const) {
      assert.equal(haveAuthority(amount(act), [who(LITTLE), who(MUCH)]), true, act);
      assert.equal(haveAuthority(amount(act), [who(MUCH), who(null)]), true, act);
      assert.equal(haveAuthority(amount(act), [who(LITTLE), who(null)]), false, act);
      assert.equal(haveAuthority({ ...amount(act), currency: 'MXN' }, [who(MUCH), who(MUCH)]), false, act);
      assert.equal(haveAuthority(amount(act, null), [who(MUCH), who(MUCH)]), false, act);
      assert.equal(haveAuthority({ ...amount(act), isOverride: true }, [who(null), who(null)]), false, act);
    }
    assert.equal(haveAuthority(amount('reject'), [who(null), who(null)]), true);
  });

  it('counts beside role and account as they are when the decision is applied', () => {
    const due = (
      act: 'approve' | 'reject' | 'disburse',
      maker: Decider,
      second: Decider,
      needsSecond: 'authority' | 'disburse' | null = second === null ? null : 'authority',
    ) =>
      whyReturned({
        ...{ decided: amount(act), needsSecond, isConfirmed: second !== null, tries: 0, maker, second },
      })?.code ?? null;
    assert.equal(due('approve', who(MUCH), null), null);
    assert.equal(due('approve', who(LITTLE), null), 'authority', 'the maker does not decide alone any more');
    assert.equal(due('reject', who(LITTLE), null), 'authority', 'nor reject alone');
    assert.equal(due('reject', who(LITTLE), who(null)), null, 'a second pair of eyes');
    assert.equal(due('approve', who(LITTLE), who(MUCH)), null);
    assert.equal(due('approve', who(LITTLE), who(LITTLE)), 'authority');
    assert.equal(due('disburse', who(MUCH), who(null), 'disburse'), null);
    assert.equal(due('disburse', who(null), who(null), 'disburse'), 'authority');
    assert.equal(due('approve', who(LITTLE), who(MUCH, { isDisabled: true })), 'second');
    assert.equal(due('approve', who(MUCH, { role: 'viewer' }), who(MUCH)), 'maker');
    assert.equal(due('reject', who(MUCH, { isDisabled: true }), who(MUCH, { isDisabled: true })), 'maker');
    assert.equal(due('reject', null, who(MUCH)), 'maker');
  });
});

describe('a confirmation (D48)', () => {
  it('is refused where neither of the two has the authority, and the proposal waits for another one', async () => {
    for (const act of ['approve', 'disburse'] as const) {
      const { id, proposal } = await proposedBy(ana, act);
      const refused = await desk.act(cleo.visitor, proposal, 'confirm');
      assert.deepEqual([refused.status, refused.body.code], [409, 'no_authority'], act);
      const before = await desk.statusOf(id);
      assert.deepEqual(await desk.applyAll(), []);
      assert.equal(await desk.statusOf(id), before);
      assert.equal((await desk.act(bob.visitor, proposal, 'confirm')).status, 200);
      assert.deepEqual(await desk.applyAll(), ['applied']);
    }
    // The maker of a payment may be the one who has it.
    const { proposal } = await proposedBy(bob, 'disburse');
    assert.equal((await desk.act(cleo.visitor, proposal, 'confirm')).status, 200);
    assert.deepEqual(await desk.applyAll(), ['applied']);
  });

  it('of a rejection needs no authority: a second pair of eyes is enough', async () => {
    const { id, proposal } = await proposedBy(ana, 'reject');
    assert.equal((await desk.act(cleo.visitor, proposal, 'confirm')).status, 200);
    assert.deepEqual(await desk.applyAll(), ['applied']);
    assert.equal(await desk.statusOf(id), 'rejected');
  });

  it('is refused where the authority was taken between the proposal and it', async () => {
    const { proposal } = await proposedBy(bob, 'disburse');
    await authority(bob.id, null);
    assert.equal((await desk.act(cleo.visitor, proposal, 'confirm')).body.code, 'no_authority');
    await desk.act(cleo.visitor, proposal, 'decline', { reason: 'nobody may' });
    await restore();
  });
});

describe('what does not hold any more when it is applied (D48)', () => {
  const CHANGES: readonly [what: string, code: string, change: () => Promise<unknown>][] = [
    ['the authority of the second one is taken', 'authority', () => authority(bob.id, LITTLE)],
    ['it is in another currency now', 'authority', () => authority(bob.id, MUCH, 'MXN')],
    ['the second one looks alone now', 'second', () => account("role = 'viewer'", bob.id)],
    ['the maker is disabled', 'maker', () => account('disabled_at = now()', ana.id)],
    ['both are disabled', 'maker', () => account('disabled_at = now()')],
  ];
  for (const [what, code, change] of CHANGES) {
    it(`comes back to its maker, nothing is lost, and both see why: ${what}`, async () => {
      const { id, proposal } = await proposedBy(ana);
      assert.equal((await desk.act(bob.visitor, proposal, 'confirm')).status, 200);
      await change();
      assert.deepEqual(await desk.applyAll(), ['returned']);
      await restore();
      const standing = await database.query(
        `SELECT i.state, (SELECT count(*)::integer FROM open_proposals o WHERE o.application_id = $1) AS open,
           (SELECT count(*)::integer FROM open_phones f WHERE f.application_id = $1) AS phones
         FROM review_items i WHERE i.application_id = $1`,
        [id],
      );
      assert.deepEqual(standing.rows, [{ state: 'waiting', open: 0, phones: 1 }]);
      for (const { visitor } of [ana, bob]) {
        for (const list of ['came_back', 'ended']) {
          const { body } = await visitor.ask('GET', `/api/proposals?list=${list}`);
          const listed = body.proposals.find((one: { id: number }) => one.id === proposal);
          assert.deepEqual([listed?.state, listed?.returned_for], ['returned', code], list);
        }
      }
      const page = (await cleo.visitor.ask('GET', `/api/applications/${id}`)).body;
      const { act, by, second, proposal: returned } = page.timeline.at(-1);
      assert.deepEqual([act, by.way, second.login], ['return', 'service', 'bob']);
      assert.deepEqual([returned.act, returned.maker.login, returned.returned_for], ['approve', 'ana', code]);
      const [recorded] = await desk.json('audit', 'list', '--application', `${id}`);
      assert.deepEqual(
        [recorded.act, recorded.by, recorded.target],
        [
          'proposal return',
          'ventanilla',
          `proposal ${proposal} of operator ${ana.id}, second operator ${bob.id}`,
        ],
      );
      // It is proposed and confirmed again.
      const again = await desk.proposed(ana.visitor, id);
      assert.equal((await desk.act(bob.visitor, again.id, 'confirm')).status, 200);
      assert.deepEqual(await desk.applyAll(), ['applied']);
    });
  }

  it('comes back also where the maker decided alone, by bulk too', async () => {
    const ids = await desk.register(3, DEBT);
    const named = ids.map((id) => ({ id, last_event: '0' }));
    const { body } = await bob.visitor.ask('POST', '/api/proposals/bulk', {
      ...{ act: 'approve', reason: 'seen', applications: named, seen: ALL_AGAINST },
    });
    assert.equal(body.proposed, 3);
    const { proposal } = await proposedBy(bob, 'reject');
    await authority(bob.id, LITTLE);
    assert.deepEqual(await desk.applyAll(), ['returned', 'returned', 'returned', 'returned']);
    await restore();
    const { body: back } = await bob.visitor.ask('GET', '/api/proposals?list=came_back');
    const reasons = back.proposals.slice(0, 4).map((one: { returned_for: string }) => one.returned_for);
    assert.deepEqual(reasons, ['authority', 'authority', 'authority', 'authority']);
    assert.ok(back.proposals.some((one: { id: number }) => one.id === proposal));
  });

  it('counts as it is: a larger authority of the maker makes up for one that the second lost', async () => {
    const { id, proposal } = await proposedBy(ana);
    await desk.act(bob.visitor, proposal, 'confirm');
    await authority(bob.id, null);
    await authority(ana.id, MUCH);
    assert.deepEqual(await desk.applyAll(), ['applied']);
    assert.equal(await desk.statusOf(id), 'pending_signature');
    await restore();
  });

  for (const end of ['commits', 'rolls back'] as const) {
    it(`waits for a change of an account that is under way and ${end}, and several loops apply it once`, async () => {
      const { id, proposal } = await proposedBy(ana);
      await desk.act(bob.visitor, proposal, 'confirm');
      await desk.makeDue();
      let ends: Promise<unknown[]> | null = null;
      await inTransaction(database, async (session) => {
        // As a change of an operator begins.
        await session.query('SELECT id FROM operators ORDER BY id FOR NO KEY UPDATE');
        await setAuthority(session, vault, bob.id, new Map());
        ends = Promise.all([desk.applyOne(), desk.applyOne()]);
        await eventually('a loop waits', async () => (await waitingSessions(database)).length > 0);
        if (end === 'rolls back') throw new Error('undone');
      }).catch((error: Error) => assert.equal(error.message, 'undone'));
      const expected = end === 'commits' ? 'returned' : 'applied';
      assert.deepEqual(
        (await ends!).filter((one) => one !== null),
        [expected],
      );
      assert.equal(await desk.statusOf(id), end === 'commits' ? 'in_review' : 'pending_signature');
      await restore();
    });
  }
});
