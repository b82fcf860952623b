/** An activation from the console needs two admins, and does nothing by halves (D48, D51; docs/policy.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readLive } from '../../src/subjects/policies/sql/policies.ts';
import { commandLine } from '../cli/harness.ts';
import { testDatabase } from '../support/database.ts';
import { banded, policyConsole, WARNINGS } from '../support/policy-console.ts';
import { remac } from '../support/remac.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { console, save, propose, confirm, shown } = await policyConsole(store);
const [ana, bo, cy] = await Promise.all(
  ['ana', 'bo', 'cy'].map(async (login) => {
    const operator = await console.enrolled(login, 'admin');
    return { ...operator, visitor: await operator.signIn() };
  }),
);
const live = async () => (await readLive(database))!.content.version;
const acts = async (act: string) =>
  (await json('audit', 'list')).filter((one: { act: string }) => one.act === act);

/** A proposal of a saved draft. */
async function proposed(version: string, approved?: number): Promise<number> {
  assert.equal((await save(ana!.visitor, banded(version, approved))).status, 200);
  const { status, body } = await propose(ana!.visitor, version, WARNINGS);
  assert.equal(status, 200, JSON.stringify(body));
  return body.id;
}

describe('an activation from the console', () => {
  it('D48: its maker does not confirm it, another admin does, and the history has both', async () => {
    const id = await proposed('four-1');
    const own = await confirm(ana!.visitor, id, WARNINGS);
    assert.deepEqual([own.status, await live()], [403, 'default-2']);
    assert.equal((await confirm(bo!.visitor, id, WARNINGS)).status, 200);
    assert.equal(await live(), 'four-1');
    const { activations, versions } = await shown(cy!.visitor);
    assert.deepEqual(
      [activations[0].by.login, activations[0].second.login, activations[0].accepted],
      ['ana', 'bo', WARNINGS],
    );
    assert.equal(versions.find((one: { version: string }) => one.version === 'four-1').state, 'live');
    const [done] = (await acts('policy activate')).filter(
      (one: { target: string }) => one.target === `policy four-1, second operator ${bo!.id}`,
    );
    assert.deepEqual([done.by, done.reason], [`operator ${ana!.id}`, 'because four-1']);
    assert.equal((await acts('policy confirm'))[0].by, `operator ${bo!.id}`);
    assert.equal((await json('audit', 'verify')).ok, true);
    // A repetition changes nothing, and somebody else's comes too late.
    assert.equal((await confirm(bo!.visitor, id, WARNINGS)).status, 200);
    const late = await confirm(cy!.visitor, id, WARNINGS);
    assert.deepEqual([late.status, late.body.code, late.body.by.login], [409, 'not_open', 'bo']);
    assert.equal((await acts('policy activate')).length, 2);
  });

  it('D51: it rests on the newest backtest of this version and content, and on none of another content', async () => {
    const id = await proposed('tried-1', 76);
    await json('policy', 'backtest', 'tried-1');
    const { id: newest } = await json('policy', 'backtest', 'tried-1');
    assert.equal((await confirm(bo!.visitor, id, WARNINGS)).status, 200);
    await proposed('stale-1', 77);
    await json('policy', 'backtest', 'stale-1');
    const [open] = (await shown(ana!.visitor)).proposals;
    await ana!.visitor.ask('POST', `/api/policies/proposals/${open.id}/undo`, {});
    await database.query("UPDATE policy_backtests SET sha256 = sha256('other') WHERE version = 'stale-1'");
    const { body } = await propose(ana!.visitor, 'stale-1', WARNINGS);
    assert.equal((await confirm(bo!.visitor, body.id, WARNINGS)).status, 200);
    const { rows } = await database.query(
      'SELECT a.backtest_id::int AS id FROM policy_activations a ORDER BY a.id DESC LIMIT 2',
    );
    assert.deepEqual(rows, [{ id: null }, { id: newest }]);
  });

  it('D51: each warning is accepted by its name, by both', async () => {
    await save(ana!.visitor, banded('warned-1', 81));
    const mute = await propose(ana!.visitor, 'warned-1');
    assert.deepEqual([mute.status, mute.body.code, mute.body.codes], [409, 'not_accepted', WARNINGS]);
    const { body } = await propose(ana!.visitor, 'warned-1', WARNINGS);
    for (const accept of [[], WARNINGS.slice(1), [...WARNINGS, 'rates_old']]) {
      const refused = await confirm(bo!.visitor, body.id, accept);
      assert.deepEqual([refused.status, refused.body.code], [409, 'not_accepted'], `${accept}`);
    }
    const undone = await ana!.visitor.ask('POST', `/api/policies/proposals/${body.id}/undo`, {});
    assert.deepEqual([undone.status, undone.body.state, await live()], [200, 'undone', 'stale-1']);
  });

  it('D51: of two who confirm at once one activates, and the other hears who did', async () => {
    const id = await proposed('race-1', 82);
    const before = (await shown(ana!.visitor)).activations.length;
    const both = await Promise.all([confirm(bo!.visitor, id, WARNINGS), confirm(cy!.visitor, id, WARNINGS)]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409]);
    assert.equal(both.find(({ status }) => status === 409)!.body.code, 'not_open');
    assert.equal((await shown(ana!.visitor)).activations.length, before + 1);
  });

  it('D51: of two versions that are confirmed at once one is live, and the other goes back with the reason', async () => {
    const [first, second] = [await proposed('twin-1', 83), await proposed('twin-2', 84)];
    const both = await Promise.all([
      confirm(bo!.visitor, first, WARNINGS),
      confirm(cy!.visitor, second, WARNINGS),
    ]);
    const [won, lost] = both.toSorted((a, b) => a.status - b.status);
    assert.deepEqual([won!.status, lost!.status, lost!.body.code], [200, 409, 'other_live']);
    assert.match(lost!.body.error, /nothing was activated: another version was activated meanwhile/);
    const { proposals, versions } = await shown(ana!.visitor);
    const returned = proposals.find((one: { state: string }) => one.state === 'returned');
    assert.equal(returned.outcome, 'other_live');
    assert.equal(await live(), won!.body.version);
    // Its draft is a draft still: nothing is half done.
    assert.equal(
      versions.find((one: { version: string }) => one.version === returned.version).state,
      'draft',
    );
  });

  it('D51: a draft that was dropped or changed meanwhile is not activated', async () => {
    const now = await live();
    const dropped = await proposed('gone-1', 85);
    const withdrawn = await cy!.visitor.ask('POST', '/api/policies/withdraw', { version: 'gone-1' });
    assert.equal(withdrawn.status, 200);
    assert.equal((await confirm(bo!.visitor, dropped, WARNINGS)).body.code, 'withdrawn');
    const changed = await proposed('moved-1', 86);
    const { body: card } = await ana!.visitor.ask('GET', '/api/policies/version?version=moved-1');
    assert.equal(card.state, 'draft', JSON.stringify(card));
    const stale = await save(cy!.visitor, banded('moved-1', 87));
    assert.deepEqual([stale.status, stale.body.code], [409, 'draft_changed']);
    const saved = await save(cy!.visitor, banded('moved-1', 87), card.sha256);
    assert.equal(saved.status, 200, JSON.stringify(saved.body));
    assert.equal((await confirm(bo!.visitor, changed, WARNINGS)).body.code, 'draft_changed');
    assert.equal(await live(), now);
    assert.equal((await acts('policy return')).length, 3);
  });

  it('D51: a ready version that is withdrawn in between is not activated', async () => {
    const { policy } = await addReady('ready-1', 75);
    const { body } = await propose(ana!.visitor, 'ready-1', WARNINGS);
    await json('policy', 'withdraw', 'ready-1');
    const { status, body: refused } = await confirm(bo!.visitor, body.id, WARNINGS);
    assert.deepEqual([status, refused.code], [409, 'withdrawn'], `${policy.id}`);
    const again = await propose(ana!.visitor, 'ready-1', WARNINGS);
    assert.equal(again.body.code, 'withdrawn');
  });

  it('D48: a maker who is no admin any more activates nothing', async () => {
    const dan = await console.enrolled('dan', 'admin');
    const { body } = await propose(await dan.signIn(), 'default-2');
    await database.query("UPDATE operators SET role = 'reviewer' WHERE id = $1", [dan.id]);
    await remac(store);
    assert.equal((await confirm(bo!.visitor, body.id)).body.code, 'maker');
    assert.notEqual(await live(), 'default-2');
  });

  it('D51: a proposal that nobody confirms within seven days goes back', async () => {
    const { body } = await propose(ana!.visitor, 'default-2');
    const other = await propose(cy!.visitor, 'default-2');
    assert.deepEqual([other.body.code, other.body.by.login], ['proposed', 'ana']);
    await database.query('UPDATE policy_proposals SET created_ms = created_ms - 604800001 WHERE id = $1', [
      body.id,
    ]);
    assert.equal((await shown(cy!.visitor)).proposals[0].outcome, 'expired');
    assert.equal((await propose(cy!.visitor, 'default-2')).status, 200, 'another one takes its place');
    assert.equal((await confirm(bo!.visitor, body.id)).status, 409);
  });

  it('D51: an older version is activated again in the same way, and declined with a reason', async () => {
    const [open] = (await shown(ana!.visitor)).proposals;
    const declined = await ana!.visitor.ask('POST', `/api/policies/proposals/${open.id}/decline`, {
      reason: 'not today',
    });
    assert.deepEqual([declined.body.state, declined.body.outcome], ['declined', 'not today']);
    const { body } = await propose(cy!.visitor, 'default-2');
    assert.equal((await confirm(ana!.visitor, body.id)).status, 200);
    assert.equal(await live(), 'default-2');
    const live2 = await propose(cy!.visitor, 'default-2');
    assert.equal(live2.body.code, 'live');
  });

  it('D48: its maker has the time to undo it, also where another admin is quick', async () => {
    const slow = await policyConsole(store, { undoSeconds: 600 });
    const eva = await (await slow.console.enrolled('eva', 'admin')).signIn();
    const fay = await (await slow.console.enrolled('fay', 'admin')).signIn();
    const { body } = await slow.propose(eva, 'four-1', WARNINGS);
    const early = await slow.confirm(fay, body.id, WARNINGS);
    assert.deepEqual([early.status, early.body.code], [409, 'too_soon']);
    assert.match(early.body.until, /^\d{4}-/);
    await database.query("UPDATE policy_proposals SET created_at = now() - interval '601 seconds'");
    assert.equal((await slow.confirm(fay, body.id, WARNINGS)).status, 200);
  });
});

/** A version that the command line made ready. */
async function addReady(version: string, approved: number) {
  const { addPolicy } = await import('../../src/subjects/policies/sql/policies.ts');
  return addPolicy(database, banded(version, approved), { by: 'test', accepted: WARNINGS });
}
