/** Stored decisions come out again, and what another policy would have decided is counted exactly (D30, D51). */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../../src/domain/application/fields.ts';
import { cardOfContent, documentOf } from '../../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { DECISIONS, type DecisionFacts } from '../../src/domain/scorecard/scorecard.ts';
import { CURRENCIES } from '../../src/ground/base/country-data.ts';
import { DecidedFacts } from '../../src/subjects/applications/sql/read-facts.ts';
import { changesInWords, wilson } from '../../src/subjects/evaluation/rules/backtest-report.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { BUILT_IN_CARD } from '../support/built-in-card.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { shifted } from '../support/shifted.ts';

const store = await testDatabase();
const { database } = store;
const { run, json } = commandLine(store);
const folder = await mkdtemp(join(tmpdir(), 'ventanilla-trials-'));
after(() => rm(folder, { recursive: true }));

const STRICT = {
  ...documentOf(DEFAULT_POLICY),
  version: 'strict-1',
  decision: { approved: 80, in_review: 40 },
};
const STRICT_CARD = cardOfContent(STRICT);

const facts = fc.record({
  income: fc.double({ min: 1, max: 1e7, noNaN: true }),
  debt_amount: fc.double({ min: 1, max: 2e8, noNaN: true }),
  currency: fc.constantFrom('COP' as const, 'MXN' as const, 'USD' as const),
  num_debts: fc.constantFrom(...NUM_DEBTS),
  debt_age: fc.constantFrom(...DEBT_AGES),
  prior_history: fc.constantFrom(...PRIOR_HISTORIES),
});
const SENT: readonly DecisionFacts[] = fc.sample(facts, { numRuns: 2_500, seed: 34 });

const partners: number[] = [];
const keys: number[] = [];
for (const name of ['Acme', 'Bolt']) {
  const { id } = await json('partner', 'add', '--name', name, '--country', 'CO');
  partners.push(id);
  keys.push((await json('key', 'issue', '--partner', `${id}`)).id);
}
const register = await registrarOf(store);
const half = SENT.length / 2;
await register(
  keys[0]!,
  SENT.slice(0, half).map((one) => applicant({ ...one, phone: null })),
);
await register(
  keys[1]!,
  SENT.slice(half).map((one) => applicant({ ...one, phone: null })),
);
const file = join(folder, 'strict.json');
await writeFile(file, JSON.stringify(STRICT));

describe('replay', () => {
  it('D30: every score, decision and point comes out again, also of an erased person', async () => {
    assert.deepEqual(await json('policy', 'replay'), { checked: 2_500, equal: 2_500, differ: [] });
    assert.match((await run('policy', 'replay')).out, /2500 applications checked: every score/);
  });

  it('D30: a stored decision that comes out otherwise is named', async () => {
    const { rows } = await database.query('SELECT id, facts FROM batches ORDER BY id LIMIT 2');
    const put = (n: number, bytes: Buffer) =>
      database.query('UPDATE batches SET facts = $2 WHERE id >= $1 AND id <= $1', [rows[n].id, bytes]);
    const score = Buffer.from(rows[0].facts);
    score[28 * 3] = (score[28 * 3]! + 1) % 101;
    const currency = Buffer.from(rows[1].facts);
    currency.write('zzz', 28 * 5 + 8);
    await put(0, score);
    await put(1, currency);
    const { checked, equal, differ } = JSON.parse((await run('policy', 'replay', '--json')).out);
    assert.deepEqual([checked, equal], [2_500, 2_498]);
    assert.deepEqual(
      differ.toSorted(),
      [Number(rows[0].id) * 128 + 3, Number(rows[1].id) * 128 + 5].toSorted(),
    );
    assert.equal((await run('policy', 'replay')).code, 1);
    await put(0, rows[0].facts);
    await put(1, rows[1].facts);
  });

  it('D51: --since leaves out what is older', async () => {
    await database.query(
      `UPDATE batches SET created_at = ${shifted('created_at', "interval '-40 days'")}
      WHERE id IN (SELECT min(id) FROM batches)`,
    );
    const day = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10);
    assert.equal((await json('policy', 'replay', '--since', day)).checked, 2_400);
    assert.match(
      (await run('policy', 'replay', '--since', '2026-13-01')).err,
      /It must be a day: YYYY-MM-DD/,
    );
  });
});

describe('backtest', () => {
  it('D51: a draft is tried: matrix, money, shares, reviews and reasons equal a count by hand', async () => {
    assert.equal((await run('policy', 'add', file)).code, 1, 'a draft');
    const report = await json('policy', 'backtest', 'strict-1');
    const usd = { COP: CURRENCIES.COP, MXN: CURRENCIES.MXN, USD: 1 };
    const both = SENT.map((one) => ({
      one,
      before: BUILT_IN_CARD.decide(one),
      after: STRICT_CARD.decide(one),
      usd: one.debt_amount / usd[one.currency as keyof typeof usd],
    }));
    for (const before of DECISIONS) {
      for (const after of DECISIONS) {
        const some = both.filter((each) => each.before.decision === before && each.after.decision === after);
        assert.equal(report.matrix[before][after], some.length, `${before} ${after}`);
        const sum = some.reduce((total, each) => total + each.usd, 0);
        assert.ok(Math.abs(report.usd[before][after] - sum) <= 1e-6 * (1 + sum));
      }
    }
    assert.equal(report.applications, 2_500);
    assert.deepEqual(
      report.partners.map(({ id, name, applications }: Record<string, unknown>) => [id, name, applications]),
      partners.map((id, n) => [id, ['Acme', 'Bolt'][n], half]),
    );
    const approved = both.filter(({ after }) => after.decision === 'approved').length;
    const shares: { after: number }[] = report.currencies;
    assert.equal(
      shares.reduce((sum, { after }) => sum + after, 0),
      approved,
    );
    const reviews = both.filter(({ after }) => after.decision === 'in_review').length;
    assert.equal(report.reviews_a_day.after * report.days, reviews);
    const withReason = (code: string) => both.filter(({ after }) => after.reasons.includes(code)).length;
    for (const { code, after } of report.reasons) assert.equal(after, withReason(code), code);
    assert.ok(report.reasons.length >= 8);
    assert.deepEqual(report.in_words, changesInWords(report));
    assert.match(
      report.in_words[0],
      /^\d+ (approved|in review|rejected) become (approved|in review|rejected)$/,
    );
  });

  it('D51: the live policy changes nothing, and people read it in words', async () => {
    const report = await json('policy', 'backtest', 'default-2');
    assert.deepEqual(report.in_words, []);
    const { out } = await run('policy', 'backtest', 'default-2');
    assert.match(out, /^2500 applications, decided by default-2: no decision changes\./);
    const strict = await run('policy', 'backtest', 'strict-1');
    assert.match(strict.out, /\d+ approved become in review/);
  });

  it('D51: facts that cannot be read are counted apart', async () => {
    const decided = new DecidedFacts();
    const bytes = Buffer.alloc(56);
    assert.equal(decided.begin(bytes), 2);
    assert.equal(decided.read(0), 'none');
    bytes.write('COP', 28 + 8);
    assert.equal(decided.read(1), 'damaged');
  });

  it('D51: the interval of a rate is that of Wilson', () => {
    // Brown, Cai, DasGupta (2001): 10 of 20 gives 0.299 to 0.701.
    const [low, high] = wilson(10, 20);
    assert.ok(Math.abs(low - 0.299) < 0.001 && Math.abs(high - 0.701) < 0.001);
    assert.deepEqual(wilson(0, 5)[0], 0);
    assert.equal(wilson(5, 5)[1], 1);
  });
});
