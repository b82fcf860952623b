/** Backtests and shadows at the console: what the routes do and refuse (D51; docs/policy.md, "The console"). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { BacktestRuns, MOST_RUNS } from '../../src/subjects/evaluation/uses/backtest-runs.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { banded, policyConsole } from '../support/policy-console.ts';

const store = await testDatabase();
const { json } = commandLine(store);
const { console, save } = await policyConsole(store);
const admin = await (await console.enrolled('ana', 'admin')).signIn();
const partner = await json('partner', 'add', '--name', 'Uno', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner.id}`);
const register = await registrarOf(store);
const people = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    applicant({ phone: null, income: 200_000 * (n + 1), debt_age: 'gt2', num_debts: '2' }),
  );
await register(key, people(40));
for (const version of ['strict-1', 'strict-2', 'strict-3', 'strict-4', 'strict-5', 'strict-6'])
  assert.equal((await save(admin, banded(version))).status, 200);

const trials = async (version: string) =>
  (await admin.ask('GET', `/api/policies/trials?version=${version}`)).body;
const backtest = (version: string, since: unknown = null) =>
  admin.ask('POST', '/api/policies/backtests', { version, since });
const shadow = (version: string, days: unknown = 14) =>
  admin.ask('POST', '/api/policies/shadows', { version, days });
const stop = (version: string) => admin.ask('POST', '/api/policies/shadows/stop', { version });
const settled = (version: string) =>
  eventually('the backtest is over', async () => (await trials(version)).runs.length === 0);

describe('a backtest at the console', () => {
  it('D51: is stored with the operator, and is that of the command line to the unit', async () => {
    assert.deepEqual((await trials('strict-1')).backtests, []);
    assert.equal((await backtest('strict-1', '2026-01-01')).status, 200);
    await settled('strict-1');
    const [found, ...others] = (await trials('strict-1')).backtests;
    assert.deepEqual(others, []);
    assert.deepEqual(
      [found.since, found.is_current, found.by.way, found.by.login, found.applications],
      ['2026-01-01', true, 'operator', 'ana', 40],
    );
    const byCommand = await json('policy', 'backtest', 'strict-1', '--since', '2026-01-01');
    const decisions = ['approved', 'in_review', 'rejected'];
    assert.deepEqual(
      found.matrix,
      decisions.map((before) => decisions.map((after) => byCommand.matrix[before][after])),
    );
    assert.ok(found.matrix[0][1] > 0, 'the case tells something');
    const acts = await json('audit', 'list', '--limit', '2');
    assert.ok(
      acts.some(
        (act: { act: string; by: string }) =>
          act.act === 'policy backtest' && act.by === `operator ${found.by.id}`,
      ),
      JSON.stringify(acts),
    );
  });

  it('D51: says where the draft was changed since', async () => {
    const { body: card } = await admin.ask('GET', '/api/policies/version?version=strict-1');
    assert.equal((await save(admin, banded('strict-1', 85), card.sha256)).status, 200);
    assert.deepEqual(
      (await trials('strict-1')).backtests.map((one: { is_current: boolean }) => one.is_current),
      [false, false],
    );
  });

  it('D51: a version that is not there, and a day that is none, are refused', async () => {
    assert.equal((await backtest('nobody')).status, 404);
    assert.equal((await admin.ask('GET', '/api/policies/trials?version=nobody')).status, 404);
    for (const since of ['2026-02-30', '2026-1-1', 'yesterday', "'; DROP TABLE batches", '', 7])
      assert.equal((await backtest('strict-1', since)).status, 400, `${since}`);
    assert.equal((await trials('strict-1')).runs.length, 0);
  });

  it('D51: the same one runs once, so many wait, and a failure is told and stored nowhere', async () => {
    const failures: string[] = [];
    const runs = new BacktestRuns(machineClock, (text) => failures.push(text));
    const { promise, resolve } = Promise.withResolvers<void>();
    const database = { query: () => promise.then(() => Promise.reject(new Error('the store is gone'))) };
    const context = { database, vault: null, clock: machineClock, actor: 'operator 1' } as never;
    runs.start(context, 'a', null);
    runs.start(context, 'a', null);
    assert.equal(runs.shown().length, 1);
    for (let more = 1; more < MOST_RUNS; more += 1) runs.start(context, `a${more}`, null);
    assert.throws(() => runs.start(context, 'z', null), { code: 'too_many_backtests' });
    resolve();
    await runs.settled();
    assert.deepEqual(
      runs.shown().map(({ hasFailed }) => hasFailed),
      Array(MOST_RUNS).fill(true),
    );
    assert.deepEqual(failures, Array(MOST_RUNS).fill('a backtest failed'));
    assert.deepEqual(
      (await json('policy', 'backtests')).map((one: { version: string }) => one.version),
      ['strict-1', 'strict-1'],
    );
  });
});

describe('a shadow at the console', () => {
  it('D51: starts for so many days, counts what comes in, and stops with what it counted', async () => {
    assert.equal((await shadow('strict-1', 7)).status, 200);
    const [running] = (await trials('strict-1')).shadows;
    assert.deepEqual(
      [running.version, running.live, running.state, running.applications],
      ['strict-1', 'default-2', 'running', 0],
    );
    assert.equal(Date.parse(running.ends_at) - Date.parse(running.started_at), 7 * 86_400_000);
    assert.deepEqual((await shadow('strict-1')).body.code, 'shadow_runs');
    await register(key, people(20));
    assert.equal((await stop('strict-1')).status, 200);
    const [ended] = (await trials('strict-1')).shadows;
    assert.deepEqual([ended.state, ended.ended_why, ended.applications], ['ended', 'stopped', 20]);
    assert.equal((await stop('strict-1')).body.code, 'no_shadow');
  });

  it('D51: of the live version, of nobody, of too many days and beside too many others is refused', async () => {
    const live = await shadow('default-2');
    assert.deepEqual([live.status, live.body.code], [409, 'live']);
    assert.equal((await shadow('nobody')).status, 404);
    for (const days of [0, 91, 1.5, -1, '14', null])
      assert.equal((await shadow('strict-2', days)).status, 400, `${days}`);
    for (let number = 2; number <= 6; number += 1)
      assert.equal((await shadow(`strict-${number}`)).status, 200);
    const full = await shadow('strict-1');
    assert.deepEqual([full.status, full.body.code], [409, 'too_many_shadows']);
    assert.deepEqual(console.failures, []);
  });
});
