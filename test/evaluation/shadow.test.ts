/**
 * A shadow counts what another policy would have decided, each batch once, and changes nothing (D51): also where a
 * process dies, batches commit late, others count too, and the shadow ends meanwhile.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../../src/domain/application/fields.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { documentOf } from '../../src/domain/scorecard/content.ts';
import type { PolicyDocument } from '../../src/domain/scorecard/document.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { DECISIONS, type Decision, type DecisionFacts } from '../../src/domain/scorecard/scorecard.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { forgetPartitions } from '../../src/subjects/applications/sql/partitions.ts';
import { settledBatchNumber } from '../../src/subjects/applications/sql/settled-batches.ts';
import type { Matrix } from '../../src/subjects/evaluation/rules/backtest-report.ts';
import { countDecisions } from '../../src/subjects/evaluation/service.ts';
import { backtest } from '../../src/subjects/evaluation/uses/backtest.ts';
import { readShadows } from '../../src/subjects/evaluation/uses/shadows.ts';
import { findVersion } from '../../src/subjects/policies/uses/versions.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, REJECTED } from '../support/applicant.ts';
import { lastBatchNumber } from '../support/batch-numbers.ts';
import { beforeStatement } from '../support/before-statement.ts';
import { sessionsOf, testDatabase } from '../support/database.ts';
import { Dying } from '../support/dying.ts';
import { registrarOf } from '../support/intake.ts';
import { closePartition, growOlder } from '../support/old-partitions.ts';
import { allowSmallPartitions } from '../support/small-partitions.ts';
import { runJob, testUpkeep } from '../support/upkeep.ts';
import { madePolicy, numbers } from './made-policies.ts';

const store = await testDatabase();
const { database, vault, clock } = store;
const { run, json } = commandLine(store);
const folder = await mkdtemp(join(tmpdir(), 'ventanilla-shadows-'));
after(() => rm(folder, { recursive: true }));

const keys: number[] = [];
for (const name of ['Acme', 'Bolt']) {
  const { id } = await json('partner', 'add', '--name', name, '--country', 'CO');
  keys.push((await json('key', 'issue', '--partner', `${id}`)).id);
}
const register = await registrarOf(store);
const facts = fc.record({
  income: fc.double({ min: 1, max: 1e7, noNaN: true }),
  debt_amount: fc.double({ min: 1, max: 2e8, noNaN: true }),
  currency: fc.constantFrom('COP' as const, 'MXN' as const, 'USD' as const),
  num_debts: fc.constantFrom(...NUM_DEBTS),
  debt_age: fc.constantFrom(...DEBT_AGES),
  prior_history: fc.constantFrom(...PRIOR_HISTORIES),
});
let seed = 34;
const drawn = (count: number): DecisionFacts[] => {
  seed += 1;
  return fc.sample(facts, { numRuns: count, seed });
};
const send = (count: number, key = keys[0]!) =>
  register(
    key,
    drawn(count).map((one) => applicant({ ...one, phone: null })),
  );

async function add(document: PolicyDocument, ...accepted: string[]): Promise<void> {
  const file = join(folder, `${document.version}.json`);
  await writeFile(file, JSON.stringify(document));
  await run('policy', 'add', file, ...(accepted.length > 0 ? ['--accept', ...accepted] : []));
}
const SOUND = documentOf(DEFAULT_POLICY);
const strict = (version: string, approved = 80): PolicyDocument => ({
  ...SOUND,
  version,
  decision: { approved, in_review: 40 },
});
await add(strict('strict-1'));
await add(strict('strict-2', 90));

const context = (own: Database = sessionsOf(store)) => ({ database: own, vault, clock });
const failures: string[] = [];
const countWith = (own?: Database) =>
  countDecisions(context(own), (shadow, error) => {
    failures.push(`${shadow}: ${error}`);
  });
const LEFT = `
  SELECT count(*)::integer AS left FROM policy_shadows s
  WHERE s.next_batch < least(coalesce(s.until_batch, $1::bigint + 1), $1::bigint + 1)`;

/** Counts until nothing is left; a turn may end earlier. */
async function countAll(): Promise<void> {
  for (;;) {
    await countWith();
    const { rows } = await database.query(LEFT, [await lastBatchNumber(database)]);
    if (rows[0].left === 0) return;
  }
}

const reportOf = async (version: string) =>
  (await readShadows(database)).find((one) => one.version === version)!;
const cardOf = async (version: string) => (await findVersion({ ...context(), actor: 'test' }, version)).card;

/** The matrices by which backtests of these versions differ before and after some work. */
async function backtestsOf(versions: readonly string[], work: () => Promise<unknown>): Promise<Matrix[]> {
  const matrices = async () => {
    const reports = [];
    for (const version of versions) reports.push(await backtest(database, await cardOf(version), null));
    return reports.map(({ matrix }) => matrix);
  };
  const before = await matrices();
  await work();
  const now = await matrices();
  return now.map((matrix, n) => {
    const row = (was: Decision) =>
      Object.fromEntries(DECISIONS.map((is) => [is, matrix[was][is] - before[n]![was][is]]));
    return Object.fromEntries(DECISIONS.map((was) => [was, row(was)])) as Matrix;
  });
}

/** Ends all shadows, so that a test begins without any. */
afterEach(async () => {
  await database.query('DELETE FROM policy_shadow_counts');
  await database.query('DELETE FROM policy_shadows');
  failures.length = 0;
});

describe('a shadow', () => {
  it('D51: counts nothing in a store without applications, and says so', async () => {
    assert.deepEqual(await json('policy', 'shadow', 'list'), []);
    await json('policy', 'shadow', 'start', 'strict-1');
    await countAll();
    const [row] = await json('policy', 'shadow', 'list');
    assert.deepEqual([row.version, row.state, row.applications], ['strict-1', 'running', 0]);
    assert.deepEqual(row.in_words, []);
    const days = (Date.parse(row.ends_at) - Date.parse(row.started_at)) / 86_400_000;
    assert.equal(Math.round(days), 14);
    assert.match(
      (await run('policy', 'shadow', 'list')).out,
      /strict-1 +running .* default-2 +0 +no decision changes/,
    );
  });

  it('D51: its matrix equals a backtest of the same applications to the unit, for any policy', async () => {
    const next = numbers(34);
    const made = Array.from({ length: 3 }, (_, n) => ({ ...madePolicy(next), version: `made-${n}` }));
    for (const document of made) await add(document);
    await send(130);
    for (const { version } of made) await json('policy', 'shadow', 'start', version, '--days', '90');
    const expected = await backtestsOf(
      made.map(({ version }) => version),
      async () => {
        await send(230, keys[0]);
        await countWith();
        await send(170, keys[1]);
      },
    );
    await countAll();
    for (const [n, { version }] of made.entries()) {
      const { applications, matrix } = await reportOf(version);
      assert.deepEqual([applications, matrix], [400, expected[n]], version);
    }
  });

  it('D51: days and partners have rows of their own, and facts that cannot be read are counted apart', async () => {
    await json('policy', 'shadow', 'start', 'strict-1');
    await send(20, keys[0]);
    await send(30, keys[1]);
    const last = await lastBatchNumber(database);
    await database.query(
      `UPDATE batches SET facts = overlay(facts PLACING 'zzz'::bytea FROM 9) WHERE id >= $1 AND id <= $1`,
      [last],
    );
    await countAll();
    const { rows } = await database.query(
      `SELECT partner_id, (SELECT sum(u)::integer FROM unnest(counts) AS u) AS count FROM policy_shadow_counts ORDER BY 1`,
    );
    assert.deepEqual(
      rows.map(({ count }) => count),
      [20, 29],
    );
    assert.equal((await reportOf('strict-1')).damaged, 1);
  });

  it('D51: a draft is tried as it was at the start', async () => {
    await json('policy', 'shadow', 'start', 'strict-1');
    const [{ sha256 }] = await json('policy', 'shadow', 'list');
    await add(strict('strict-1', 100));
    const [expected] = await backtestsOf(['strict-1'], () => send(120));
    await countAll();
    const report = await reportOf('strict-1');
    assert.equal(report.sha256, sha256);
    assert.notDeepEqual(report.matrix, expected, 'the new draft decides otherwise');
    await add(strict('strict-1'));
    assert.equal(report.applications, 120);
  });

  it('D51: an erasure and the retention change no count, and what is gone before it was counted does not count', async () => {
    await allowSmallPartitions(database);
    await json('policy', 'shadow', 'start', 'strict-1');
    const sendRejected = (count: number) =>
      register(
        keys[0]!,
        Array.from({ length: count }, () => applicant({ ...REJECTED, phone: null })),
      );
    await sendRejected(59);
    const phone = toPhone('+573005550199');
    await register(keys[0]!, [applicant({ ...REJECTED, phone })]);
    await countAll();
    await json('subject', 'erase', '--phone', phone, '--reason', 'ticket', '--yes');
    await sendRejected(40);
    await closePartition(database);
    await growOlder(database, 30);
    assert.ok((await forgetPartitions(database, clock, 7)) >= 100);
    await sendRejected(10);
    await countAll();
    const { applications, matrix } = await reportOf('strict-1');
    assert.deepEqual([applications, matrix.rejected.rejected], [70, 70]);
  });
});

describe('each batch counts once', () => {
  it('D51: where the process dies at any statement of a turn', async () => {
    await json('policy', 'shadow', 'start', 'strict-1');
    await json('policy', 'shadow', 'start', 'strict-2');
    let sent = 0;
    for (let at = 1; ; at += 1) {
      for (const isAfter of [false, true]) {
        await send(10);
        sent += 10;
        const dying = new Dying({ at, isAfter });
        dying.arm();
        await countWith(dying.over(sessionsOf(store))).catch(() => {});
        await countAll();
        for (const version of ['strict-1', 'strict-2'])
          assert.equal((await reportOf(version)).applications, sent, `${version}, statement ${at}`);
        if (dying.effective.length < at) return assert.ok(at > 8, `${at} statements`);
      }
    }
  });

  it('D51: where several services count at once', async () => {
    await json('policy', 'shadow', 'start', 'strict-1');
    await json('policy', 'shadow', 'start', 'strict-2');
    for (let round = 1; round <= 5; round += 1) {
      await send(150);
      await Promise.all([countWith(), countWith(), countWith()]);
      await countAll();
      assert.equal((await reportOf('strict-1')).applications, 150 * round);
      assert.equal((await reportOf('strict-2')).applications, 150 * round);
    }
  });

  it('D51: a batch that commits after ones with higher numbers counts', async () => {
    await send(5);
    await json('policy', 'shadow', 'start', 'strict-1');
    const late = await database.connect();
    await late.query('BEGIN');
    // A registration that has its number and has not committed: its commit waits for a standby, say.
    await late.query(`
      INSERT INTO batches SELECT nextval('batch_numbers'), b.created_at, gen_random_uuid(), b.partner_id, b.api_key_id,
        b.policy_id, b.surplus, NULL, b.phones, b.id_numbers, b.facts, b.platforms, b.envelope
      FROM batches b WHERE b.id = (SELECT max(id) FROM batches)`);
    await send(25);
    assert.equal(await settledBatchNumber(database, clock), null);
    await countWith();
    assert.equal((await reportOf('strict-1')).applications, 0, 'nothing after it is counted either');
    // One that took no number holds nothing up, and neither does one that begins later.
    await late.query('COMMIT');
    late.release();
    await countAll();
    assert.equal((await reportOf('strict-1')).applications, 30);
  });

  it('D51: a registration that was undone holds nothing up', async () => {
    await json('policy', 'shadow', 'start', 'strict-1');
    const gone = await database.connect();
    await gone.query('BEGIN');
    await gone.query("SELECT nextval('batch_numbers')");
    await gone.query('ROLLBACK');
    gone.release();
    await send(15);
    await countAll();
    assert.equal((await reportOf('strict-1')).applications, 15);
  });
});

it('D51: a shadow counts where the drift cannot be counted', async () => {
  await json('policy', 'shadow', 'start', 'strict-1');
  await send(10);
  const fails = () => Promise.reject(new Error('no drift'));
  const own = beforeStatement(sessionsOf(store), 'FROM policy_drift d', fails);
  await assert.rejects(countWith(own), /no drift/);
  assert.equal((await reportOf('strict-1')).applications, 10);
});

describe('a shadow ends', () => {
  it('D51: by an operator, who gets what was registered before; the act is recorded', async () => {
    await json('policy', 'shadow', 'start', 'strict-1');
    await send(50);
    const stopped = await json('policy', 'shadow', 'stop', 'strict-1');
    assert.equal(stopped.ended_why, 'stopped');
    await countAll();
    await send(20);
    await countAll();
    const report = await reportOf('strict-1');
    assert.deepEqual([report.state, report.applications], ['ended', 50]);
    const acts = await json('audit', 'list', '--limit', '2');
    assert.deepEqual(
      acts.map(({ act, target, by }: Record<string, string>) => [act, target, by]),
      [
        ['policy shadow stop', 'policy strict-1', 'ana'],
        ['policy shadow start', 'policy strict-1', 'ana'],
      ],
    );
    const again = await run('policy', 'shadow', 'stop', 'strict-1');
    assert.match(again.err, /no shadow of policy strict-1 runs/);
    assert.match((await run('policy', 'shadow', 'list')).out, /ended .* an operator stopped it/);
  });

  it('D51: by an operator while a page is counted: what came after the stop does not count', async () => {
    await json('policy', 'shadow', 'start', 'strict-1');
    await send(30);
    const stop = async () => {
      await json('policy', 'shadow', 'stop', 'strict-1');
      await send(20);
    };
    await countWith(beforeStatement(sessionsOf(store), 'numbers_taken', stop));
    await countAll();
    const { state, applications } = await reportOf('strict-1');
    assert.deepEqual([state, applications], ['ended', 30]);
  });

  it('D51: at its end date, by itself', async () => {
    await json('policy', 'shadow', 'start', 'strict-1', '--days', '1');
    await send(10);
    await database.query("UPDATE policy_shadows SET ends_at = now() - interval '1 second'");
    await countAll();
    await send(10);
    await countAll();
    const report = await reportOf('strict-1');
    assert.deepEqual([report.state, report.ended_why, report.applications], ['ended', 'end_date', 10]);
    const [act] = await json('audit', 'list', '--limit', '1');
    assert.deepEqual(
      [act.act, act.by, act.reason],
      ['policy shadow end', 'ventanilla', 'its end date was reached'],
    );
  });

  it('D51: where its card throws, with the reason, and no other one', async () => {
    await json('policy', 'shadow', 'start', 'strict-1');
    await json('policy', 'shadow', 'start', 'strict-2');
    await send(10);
    await countAll();
    await database.query(
      `UPDATE policy_shadows SET sha256 = '\\x00', content = jsonb_set(content, '{characteristics,debt_age,attributes}', '[]')
      WHERE version = 'strict-1'`,
    );
    await send(10);
    await countAll();
    const failed = await reportOf('strict-1');
    assert.deepEqual([failed.state, failed.ended_why, failed.applications], ['ended', 'card_failed', 10]);
    assert.match(failures.join(), /^the shadow of policy strict-1: \w*Error/);
    assert.equal((await reportOf('strict-2')).applications, 20);
    const said = await run('policy', 'shadow', 'list');
    assert.match(said.out, /strict-1 +ended .* its policy threw an error/);
  });

  it('D51: where its card throws over what is left after a stop', async () => {
    await json('policy', 'shadow', 'start', 'strict-1');
    await send(10);
    await database.query(
      `UPDATE policy_shadows SET sha256 = '\\x01', content = '{}', ended_at = now(), ended_ms = 0, ended_why = 'stopped',
        until_batch = next_batch + 1`,
    );
    await countAll();
    assert.equal((await reportOf('strict-1')).ended_why, 'card_failed');
  });

  it('D51: where another policy is activated, in the middle of a page: only decisions of the first one count', async () => {
    const other = { ...SOUND, version: 'other-1', decision: { approved: 90, in_review: 30 } };
    await add(other, 'contract_bands', 'single_cell_decision');
    await json('policy', 'shadow', 'start', 'strict-2');
    const [expected] = await backtestsOf(['strict-2'], () => send(110));
    const activate = async () => {
      await json('policy', 'activate', 'other-1', '--reason', 'x', '--yes');
      await send(40);
    };
    // The turn has looked for activations before, and its page has both.
    await countWith(beforeStatement(sessionsOf(store), 'numbers_taken', activate));
    assert.deepEqual((await reportOf('strict-2')).state, 'running');
    await countAll();
    const report = await reportOf('strict-2');
    assert.deepEqual([report.state, report.ended_why, report.live], ['ended', 'activation', 'default-2']);
    assert.deepEqual(report.matrix, expected);
    await json('policy', 'activate', 'default-2', '--reason', 'back', '--yes');
    await countAll();
    assert.equal((await reportOf('strict-2')).state, 'ended', 'a rollback begins no shadow again');
  });
});

describe('starts', () => {
  it('D51: two of one version at once: one runs, and the other one is told', async () => {
    const done = await Promise.all([1, 2, 3].map(() => run('policy', 'shadow', 'start', 'strict-1')));
    assert.deepEqual(done.map(({ code }) => code).toSorted(), [0, 1, 1]);
    for (const { code, err } of done)
      if (code !== 0) assert.match(err, /a shadow of policy strict-1 runs already/);
  });

  it('D51: bad ones are refused with the reason, and nothing is stored', async () => {
    for (const [args, told] of [
      [['nobody-1'], /there is no policy nobody-1/],
      [['default-2'], /policy default-2 is live/],
      [['strict-1', '--days', '0'], /1 to 90 days/],
      [['strict-1', '--days', '91'], /1 to 90 days/],
      [['strict-1', '--days', 'two'], /1 to 90 days/],
    ] as const) {
      const { code, err } = await run('policy', 'shadow', 'start', ...args);
      assert.ok(code !== 0);
      assert.match(err, told);
    }
    assert.deepEqual(await json('policy', 'shadow', 'list'), []);
  });

  it('D51: five at once, and no more', async () => {
    for (let n = 0; n < 6; n += 1) await add(strict(`many-${n}`));
    for (let n = 0; n < 5; n += 1) await json('policy', 'shadow', 'start', `many-${n}`);
    assert.match((await run('policy', 'shadow', 'start', 'many-5')).err, /5 shadows run already/);
    await json('policy', 'shadow', 'stop', 'many-0');
    await json('policy', 'shadow', 'start', 'many-5');
  });
});

it('D51: the upkeep counts, and forgets a shadow with its counts 100 elapsed days after its end', async () => {
  await json('policy', 'shadow', 'start', 'strict-1');
  await json('policy', 'shadow', 'start', 'strict-2');
  await send(10);
  const { turn } = await testUpkeep(store);
  assert.deepEqual(await turn(), []);
  assert.equal((await reportOf('strict-1')).applications, 10);
  await json('policy', 'shadow', 'stop', 'strict-1');
  const age = (days: number) =>
    database.query(
      `UPDATE policy_shadows SET ended_ms = (SELECT ms FROM elapsed) - $1::bigint * 86400000 WHERE ended_at IS NOT NULL`,
      [days],
    );
  await age(99);
  await runJob(database, 'forget shadows');
  assert.equal((await readShadows(database)).length, 2);
  await age(101);
  await runJob(database, 'forget shadows');
  assert.deepEqual(
    (await readShadows(database)).map(({ version }) => version),
    ['strict-2'],
  );
  const { rows } = await database.query(
    'SELECT count(DISTINCT shadow_id)::integer AS count FROM policy_shadow_counts',
  );
  assert.equal(rows[0].count, 1);
});
