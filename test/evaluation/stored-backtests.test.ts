/** Results of backtests are stored, and an activation says which one it rests on (D51; docs/policy.md, "Backtest"). */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { documentOf } from '../../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { activatePolicy, findPolicy, readLive } from '../../src/subjects/policies/sql/policies.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const store = await testDatabase();
const { database, runtime } = store;
const { run, json } = commandLine(store);
const folder = await mkdtemp(join(tmpdir(), 'ventanilla-backtests-'));
after(() => rm(folder, { recursive: true }));

const ACCEPT = ['--accept', 'single_cell_decision', '--accept', 'contract_bands'];
let files = 0;
async function fileOf(version: string, approved = 80): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.json`);
  const decision = { approved, in_review: 40 };
  await writeFile(path, JSON.stringify({ ...documentOf(DEFAULT_POLICY), version, decision }));
  return path;
}
const stored = async () => json('policy', 'backtests');
const activate = (version: string, backtest: number | string) =>
  run('policy', 'activate', version, '--reason', 'tried', '--backtest', `${backtest}`, '--yes');

const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
await register(
  key,
  Array.from({ length: 50 }, (_, n) => applicant({ phone: null, income: 1_000_000 * (n + 1) })),
);

describe('a stored backtest', () => {
  it('D51: has its version, digest, window, time, operator and result, and an act in the record', async () => {
    assert.equal((await run('policy', 'add', await fileOf('draft-1'))).code, 1, 'a draft');
    const made = await json('policy', 'backtest', 'draft-1', '--since', '2026-01-01', '--as', 'Luz');
    assert.deepEqual(
      [made.version, made.since, made.by, made.applications],
      ['draft-1', '2026-01-01', 'Luz', 50],
    );
    assert.match(made.sha256, /^[0-9a-f]{64}$/);
    assert.deepEqual(await json('policy', 'backtests', `${made.id}`), made);
    assert.deepEqual(await stored(), [made]);
    assert.match((await run('policy', 'backtests')).out, /draft-1 .* Luz .*2026-01-01/);
    assert.match((await run('policy', 'backtests', `${made.id}`)).out, new RegExp(`backtest ${made.id}\\.`));
    assert.match((await run('policy', 'backtests', '99')).err, /there is no backtest 99/);
    const [act] = await json('audit', 'list', '--limit', '1');
    assert.deepEqual(
      [act.act, act.target, act.by],
      ['policy backtest', `policy draft-1, backtest ${made.id}`, 'Luz'],
    );
    assert.equal((await json('audit', 'verify')).ok, true);
  });

  it('D51: a run that is ended stores nothing', async () => {
    const before = await stored();
    const acts = (await json('audit', 'list')).length;
    await inTransaction(database, async (session) => {
      await session.query('SELECT FROM policy_live FOR UPDATE');
      const running = run('policy', 'backtest', 'draft-1');
      const pid = await eventually('the backtest at its last step', async () => {
        const waiting = await waitingSessions(database);
        return waiting.find(({ query }) => query.includes('keep_policy_backtest'))?.pid;
      });
      await database.query('SELECT pg_terminate_backend($1::integer)', [pid]);
      assert.notEqual((await running).code, 0);
    });
    assert.deepEqual(await stored(), before);
    assert.equal((await json('audit', 'list')).length, acts);
  });

  it('D51: only the newest 100 stay, and those that an activation rests on', async () => {
    await json('policy', 'add', await fileOf('kept-1'), ...ACCEPT);
    const { id } = await json('policy', 'backtest', 'kept-1');
    assert.equal((await activate('kept-1', id)).code, 0);
    await runtime.query(
      `SELECT keep_policy_backtest($1 + n, 'other-1', decode(repeat('00', 32), 'hex'), NULL, 'test', '{}')
      FROM generate_series(1, 150) AS n`,
      [id],
    );
    const { rows } = await database.query('SELECT id::float8 FROM policy_backtests ORDER BY id');
    assert.equal(rows.length, 101);
    assert.equal(rows[0].id, id);
    await database.query("DELETE FROM policy_backtests WHERE version = 'other-1'");
  });
});

describe('an activation that rests on a backtest', () => {
  it('D51: is shown with it in the list, in the history of the version and in the record of acts', async () => {
    const file = await fileOf('based-1');
    await run('policy', 'add', file);
    const { id } = await json('policy', 'backtest', 'based-1');
    await json('policy', 'add', file, ...ACCEPT);
    assert.equal((await activate('based-1', id)).code, 0, 'of the draft with the same content');
    const listed = (await json('policy', 'list')).find(
      (one: { version: string }) => one.version === 'based-1',
    );
    assert.deepEqual([listed.state, listed.backtest], ['live', id]);
    await json('policy', 'activate', 'default-2', '--reason', 'back', '--yes');
    await json('policy', 'activate', 'based-1', '--reason', 'again', '--yes');
    const { activations } = await json('policy', 'show', 'based-1');
    assert.deepEqual(
      activations.map((one: { reason: string; backtest: number }) => [one.reason, one.backtest]),
      [
        ['again', null],
        ['tried', id],
      ],
    );
    assert.match((await run('policy', 'show', 'based-1')).out, new RegExp(`: tried \\(.*backtest ${id}\\)`));
    assert.ok(
      (await json('audit', 'list')).some(
        (one: { target: string }) => one.target === `policy based-1, backtest ${id}`,
      ),
    );
    assert.equal((await json('audit', 'verify')).ok, true);
    await json('policy', 'activate', 'default-2', '--reason', 'back', '--yes');
  });

  it('D51: is refused where the backtest is not there, or of another version or content', async () => {
    const other = await json('policy', 'backtest', 'default-2');
    await run('policy', 'add', await fileOf('changed-1', 75));
    const earlier = await json('policy', 'backtest', 'changed-1');
    await json('policy', 'add', await fileOf('changed-1', 76), ...ACCEPT);
    for (const [id, told] of [
      [99_999, /there is no backtest 99999/],
      [other.id, /is of policy default-2, not of changed-1/],
      [earlier.id, /of an earlier draft of changed-1 with other content/],
      ['x', /whole number/],
    ] as const) {
      const { code, err } = await activate('changed-1', id);
      assert.notEqual(code, 0);
      assert.match(err, told);
    }
    const { activationId: after } = (await readLive(database))!;
    const { id: policyId } = (await findPolicy(database, 'changed-1'))!;
    const terms = { policyId, after, by: 'test', second: null, reason: 'x', accepted: [] };
    for (const backtest of [other.id, earlier.id, 99_999])
      await assert.rejects(activatePolicy(runtime, { ...terms, backtest }), { code: 'VN008' });
    assert.equal((await readLive(database))!.card.version, 'default-2');
  });
});

it('D51: --html writes a page into a new file, and is refused before the run where the file is there', async () => {
  const page = join(folder, 'page.html');
  const { id } = await json('policy', 'backtest', 'default-2', '--html', page);
  assert.match(await readFile(page, 'utf8'), new RegExp(`<h1>Backtest ${id}: default-2</h1>`));
  const before = await stored();
  const refused = await run('policy', 'backtest', 'default-2', '--html', page);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /is there: name a new file/);
  assert.deepEqual(await stored(), before, 'nothing was run');
  assert.match((await run('policy', 'backtests', `${id}`, '--html', page)).err, /name a new file/);
  const again = join(folder, 'again.html');
  await json('policy', 'backtests', `${id}`, '--html', again);
  assert.equal(await readFile(again, 'utf8'), await readFile(page, 'utf8'));
  assert.match((await run('policy', 'backtests', '--html', again)).err, /--html needs the number/);
});

it('D51: partners have their names, and those beyond twenty are one line', async () => {
  for (let n = 1; n <= 22; n += 1) {
    const { id } = await json('partner', 'add', '--name', `Partner ${n}`, '--country', 'CO');
    const issued = await json('key', 'issue', '--partner', `${id}`);
    await register(
      issued.id,
      Array.from({ length: n }, () => applicant({ phone: null })),
    );
  }
  const { partners, scores } = await json('policy', 'backtest', 'default-2');
  assert.equal(partners.length, 21);
  assert.deepEqual([partners[0].name, partners[0].applications], ['Acme', 50]);
  assert.deepEqual([partners[1].name, partners[1].applications], ['Partner 22', 22]);
  const { id, name, applications } = partners.at(-1);
  assert.deepEqual([id, name, applications], [null, '3 other partners', 1 + 2 + 3]);
  const all = (22 * 23) / 2 + 50;
  for (const side of [scores.before, scores.after] as number[][]) {
    assert.equal(side.length, 101);
    assert.equal(
      side.reduce((sum, some) => sum + some, 0),
      all,
    );
  }
  assert.match((await run('policy', 'backtest', 'default-2')).out, /\n3 other partners +\d+\.\d %/);
});
