/** Versions of the policy: added, activated, rolled back, and one version a batch (D51). */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import pino from 'pino';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { documentOf } from '../../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { SetupError } from '../../src/ground/postgres/setup-error.ts';
import { activatePolicy, findPolicy, readLive } from '../../src/subjects/policies/sql/policies.ts';
import { LivePolicy } from '../../src/subjects/policies/uses/live-policy.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { intakeOf, livePolicyOf } from '../support/intake.ts';

const store = await testDatabase();
const { run, json } = commandLine(store);
const folder = await mkdtemp(join(tmpdir(), 'ventanilla-policy-'));
after(() => rm(folder, { recursive: true }));

let files = 0;
async function fileOf(policy: object): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.json`);
  await writeFile(path, JSON.stringify(policy));
  return path;
}
const DOCUMENT = documentOf(DEFAULT_POLICY);
const strict = (version: string, approved = 90) =>
  fileOf({ ...DOCUMENT, version, decision: { approved, in_review: 30 } });
const ACCEPT = ['--accept', 'single_cell_decision', '--accept', 'contract_bands'];
const listed = async () =>
  new Map((await json('policy', 'list')).map((one: { version: string }) => [one.version, one]));

const live = await livePolicyOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const ingest = await intakeOf(store);
let phones = 0;
/** An application with a score of 81: approved by the built-in policy, in review from 90 on. */
function borderline() {
  phones += 1;
  return applicant({
    phone: toPhone(`+57300556${`${phones}`.padStart(4, '0')}`),
    income: 1e9,
    debt_amount: 1_000,
    prior_history: 'yes',
    debt_age: 'lt6',
    num_debts: '3',
  });
}
const decided = async () => {
  const { outcomes } = await ingest(key as number, [borderline()]);
  return outcomes[0]?.kind === 'registered' && outcomes[0].decision;
};

describe('versions', () => {
  it('D51: the first start activates the built-in policy, and records it', async () => {
    const first = (await listed()).get('default-2') as Record<string, unknown>;
    assert.deepEqual([first.state, first.activated_by, first.added_by], ['live', 'ventanilla', 'ventanilla']);
    assert.match(`${first.sha256}`, /^[0-9a-f]{64}$/);
    const acts = await json('audit', 'list');
    assert.ok(acts.some((one: { act: string }) => one.act === 'policy activate'));
  });

  it('D51: a warning leaves a draft and ends with 1; accepted by name, the version is ready', async () => {
    const file = await strict('strict-1');
    const draft = await run('policy', 'add', file, '--json');
    assert.equal(draft.code, 1);
    const { version, state, findings } = JSON.parse(draft.out);
    assert.deepEqual([version, state], ['strict-1', 'draft']);
    assert.deepEqual(
      findings.map((one: { code: string }) => one.code),
      ['single_cell_decision', 'contract_bands'],
    );
    assert.match((await run('policy', 'activate', 'strict-1', '--reason', 'x', '--yes')).err, /draft/);
    const ready = await json('policy', 'add', file, ...ACCEPT);
    assert.deepEqual([ready.version, ready.state], ['strict-1', 'ready']);
    const { accepted } = (await listed()).get('strict-1') as { accepted: string[] };
    assert.deepEqual(accepted, ['single_cell_decision', 'contract_bands']);
    assert.equal((await json('policy', 'add', file)).state, 'ready', 'again, with the same content');
    const other = await run('policy', 'add', await strict('strict-1', 91), ...ACCEPT);
    assert.equal(other.code, 1);
    assert.match(other.err, /strict-1 is there with other content/);
  });

  it('D51: an error refuses, and nothing is stored', async () => {
    const file = await fileOf({ ...DOCUMENT, version: 'wrong-1', decision: { approved: 20, in_review: 30 } });
    const refused = await run('policy', 'add', file);
    assert.equal(refused.code, 1);
    assert.match(refused.out, /error bands_out_of_order: .*\(decision\)/);
    assert.equal((await listed()).has('wrong-1'), false);
  });

  it('D51: what is activated decides the next batch, in every process; an older version rolls back', async () => {
    assert.equal(await decided(), 'approved');
    assert.match((await run('policy', 'activate', 'strict-1', '--reason', 'too many losses')).err, /--yes/);
    assert.equal(await decided(), 'approved', 'nothing happens without --yes');
    const done = await json('policy', 'activate', 'strict-1', '--reason', 'too many losses', '--yes');
    assert.deepEqual(done, { version: 'strict-1', before: 'default-2' });
    assert.equal(await decided(), 'in_review');
    const state = await listed();
    assert.equal((state.get('default-2') as { state: string }).state, 'retired');
    assert.deepEqual(
      [
        (state.get('strict-1') as { state: string }).state,
        (state.get('strict-1') as { reason: string }).reason,
      ],
      ['live', 'too many losses'],
    );
    await json('policy', 'activate', 'default-2', '--reason', 'back', '--yes');
    assert.equal(await decided(), 'approved');
    assert.match(
      (await run('policy', 'activate', 'default-2', '--reason', 'x', '--yes')).err,
      /live already/,
    );
  });

  it('D51: an application keeps the policy that decided it', async () => {
    await json('policy', 'activate', 'strict-1', '--reason', 'x', '--yes');
    const { outcomes } = await ingest(key as number, [borderline()]);
    await json('policy', 'activate', 'default-2', '--reason', 'back', '--yes');
    assert.ok(outcomes[0]?.kind === 'registered');
    const shown = await json('application', 'show', `${outcomes[0].id}`);
    assert.equal(shown.policy_version, 'strict-1');
  });

  it('D51: a version that was withdrawn cannot be activated, one that was live cannot be withdrawn', async () => {
    await json('policy', 'add', await strict('strict-2', 80), ...ACCEPT);
    await json('policy', 'withdraw', 'strict-2');
    assert.match(
      (await run('policy', 'activate', 'strict-2', '--reason', 'x', '--yes')).err,
      /was withdrawn/,
    );
    assert.equal(((await listed()).get('strict-2') as { state: string }).state, 'retired');
    assert.match((await run('policy', 'withdraw', 'strict-1')).err, /it stays/);
    assert.match((await run('policy', 'withdraw', 'nobody')).err, /it stays/);
  });

  it('D51: of two activations that replace the same one, one is done', async () => {
    const ids = [];
    for (const version of ['twin-1', 'twin-2']) {
      await json('policy', 'add', await strict(version, 75), ...ACCEPT);
      ids.push((await findPolicy(store.database, version))!.id);
    }
    const { activationId: after } = (await readLive(store.database))!;
    const terms = { after, by: 'test', second: null, reason: 'x', accepted: [], backtest: null };
    const done = await Promise.all(
      ids.map((policyId) => activatePolicy(store.database, { policyId, ...terms })),
    );
    assert.deepEqual(done.toSorted(), [false, true]);
    assert.equal((await readLive(store.database))?.id, ids[done.indexOf(true)]);
    await json('policy', 'activate', 'default-2', '--reason', 'back', '--yes');
  });

  it('D51: a version is not activated before its first day', async () => {
    await json(
      'policy',
      'add',
      await fileOf({ ...DOCUMENT, version: 'later-1', valid_from: '9999-01-01' }),
      '--accept',
      'single_cell_decision',
    );
    assert.match(
      (await run('policy', 'activate', 'later-1', '--reason', 'x', '--yes')).err,
      /from 9999-01-01/,
    );
  });

  it('D51: what is exported can be added again, and has no differences', async () => {
    const path = join(folder, 'exported.json');
    await json('policy', 'export', 'default-2', '--file', path, '--pmml', join(folder, 'exported.pmml'));
    assert.match(await readFile(join(folder, 'exported.pmml'), 'utf8'), /<Scorecard modelName="default-2"/);
    assert.match((await run('policy', 'export', 'default-2')).err, /--file or --pmml/);
    const exported = JSON.parse(await readFile(path, 'utf8'));
    assert.deepEqual(exported, JSON.parse(JSON.stringify(DOCUMENT)));
    await json(
      'policy',
      'add',
      await fileOf({ ...exported, version: 'copy-1' }),
      '--accept',
      'single_cell_decision',
    );
    assert.deepEqual(await json('policy', 'diff', 'default-2', 'copy-1'), []);
    assert.deepEqual(await json('policy', 'diff', 'default-2', 'strict-1'), [
      { place: 'approved from', before: '70', after: '90' },
    ]);
    assert.match(
      (await run('policy', 'show', 'default-2')).out,
      /payment_capacity 1\.5 to 2 +7 points, capacity_below_2/,
    );
  });
});

describe('the file of a start', () => {
  const log: { msg: string }[] = [];
  const context = { ...store, log: pino({}, { write: (line: string) => void log.push(JSON.parse(line)) }) };

  it('D51: a file only seeds an empty store; another version than the live one is said in one line', async () => {
    const opened = await LivePolicy.open(context, await strict('from-file', 50));
    assert.equal(opened.now.card.version, 'default-2');
    assert.deepEqual(log.filter(({ msg }) => msg.startsWith('POLICY_FILE only seeds')).length, 1);
  });

  it('D30: a version that is stored with other content refuses the start', async () => {
    await assert.rejects(LivePolicy.open(context, await strict('strict-1', 50)), SetupError);
  });

  it('D51: the live policy of another process is read when it is asked for', async () => {
    assert.equal(live.now.card.version, 'default-2');
    await json('policy', 'activate', 'strict-1', '--reason', 'x', '--yes');
    assert.equal(live.now.card.version, 'default-2');
    await Promise.all([live.refresh(), live.refresh()]);
    assert.equal(live.now.card.version, 'strict-1');
  });
});
