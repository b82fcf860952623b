/**
 * What became of loans: a file is imported whole or again, and backtests say how well scores tell good loans from bad
 * ones (D51; docs/policy.md, "Labels").
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { cardOfContent, documentOf } from '../../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import type { ServiceContext } from '../../src/program/subject/subject.ts';
import { wilson } from '../../src/subjects/evaluation/rules/backtest-report.ts';
import { type Label, labelReader, laterLabel } from '../../src/subjects/evaluation/rules/label-lines.ts';
import { gini, kolmogorovSmirnov } from '../../src/subjects/evaluation/rules/label-report.ts';
import { evaluationService } from '../../src/subjects/evaluation/service.ts';
import { commandLine, REVEAL } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { BUILT_IN_CARD } from '../support/built-in-card.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';
import { madeFacts, numbers } from './made-policies.ts';

const store = await testDatabase();
const { database } = store;
const { run, json } = commandLine(store);
const folder = await mkdtemp(join(tmpdir(), 'ventanilla-labels-'));
after(() => rm(folder, { recursive: true }));

let files = 0;
async function fileOf(text: string): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.csv`);
  await writeFile(path, text);
  return path;
}
const csv = (lines: readonly (readonly [id: number, day: string, bad: number])[]) =>
  `id,date,bad\n${lines.map((line) => `${line.join(',')}\n`).join('')}`;
const imported = async (text: string) =>
  JSON.parse((await run('policy', 'labels', 'import', await fileOf(text), '--json')).out);
const stored = async () =>
  (
    await database.query(
      "SELECT application_id::float8 AS id, to_char(day, 'YYYY-MM-DD') AS day, is_bad FROM loan_labels ORDER BY 1",
    )
  ).rows;

const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
const next = numbers(7);
const FACTS = Array.from({ length: 1_200 }, () => madeFacts(next));
const ids: number[] = [];
for (let start = 0; start < FACTS.length; start += 100)
  ids.push(
    ...((await register(
      key,
      FACTS.slice(start, start + 100).map((facts) => applicant({ ...facts, phone: null })),
    )) as number[]),
  );

describe('the lines of a file of labels', () => {
  const TODAY = '2026-11-30';
  const csvLine = (line: string) => labelReader('id,date,bad', TODAY).read(line);
  const jsonLine = (line: string) => labelReader(line, TODAY).read(line);

  it('D51: are read in any order of columns, with other separators, and as JSON', () => {
    const label = { id: 346, day: '2026-11-01', isBad: true };
    assert.deepEqual(csvLine('346,2026-11-01,1'), label);
    assert.deepEqual(csvLine('"346" , "2026-11-01",1'), label);
    assert.deepEqual(labelReader('Bad;other;ID;Date', TODAY).read('1;x;346;2026-11-01'), label);
    assert.deepEqual(jsonLine('{"id":346,"date":"2026-11-01","bad":true,"more":[]}'), label);
    assert.deepEqual(jsonLine('{"id":"346","date":"2026-11-01","bad":"0"}'), { ...label, isBad: false });
    assert.throws(() => labelReader('346,2026-11-01,1', TODAY), /the columns id, date and bad/);
    assert.throws(() => labelReader('id,bad', TODAY), /date is missing/);
  });

  for (const [line, fault] of [
    ['346,2026-11-01', /2 columns, and the first line has 3/],
    ['0,2026-11-01,1', /^id must/],
    ['99999999999999999,2026-11-01,1', /^id must/],
    ['1.5,2026-11-01,1', /^id must/],
    ['346,2026-02-30,1', /^date must be a day/],
    ['346,01/11/2026,1', /^date must be a day/],
    ['346,2026-12-01,1', /not in the future/],
    ['346,1999-12-31,1', /2000-01-01/],
    ['346,2026-11-01,2', /^bad must be 0 or 1/],
    ['346,2026-11-01,', /^bad must be 0 or 1/],
    ['346,2026-11-01,constructor', /^bad must be 0 or 1/],
    ['{"id":346}', /^date must/],
    ['{"id":[346],"date":"2026-11-01","bad":1}', /^id must/],
    ['{"__proto__":{"id":1}}', /^id must/],
    ['{346', /no JSON object/],
  ] as const)
    it(`D51: ${line} is told with what is wrong`, () => {
      const read = line.startsWith('{') ? jsonLine(line) : csvLine(line);
      assert.match('fault' in read ? read.fault : '', fault);
    });

  it('D51: which of several labels counts does not depend on their order', () => {
    const label: fc.Arbitrary<Label> = fc.record({
      id: fc.constant(1),
      day: fc.constantFrom('2026-01-01', '2026-01-02', '2026-01-03'),
      isBad: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 6 }), (labels) => {
        const one = labels.reduce(laterLabel);
        const other = labels.toReversed().reduce(laterLabel);
        assert.deepEqual([one.day, one.isBad], [other.day, other.isBad]);
        const newest = labels
          .map(({ day }) => day)
          .toSorted()
          .at(-1);
        assert.equal(one.day, newest);
        assert.equal(
          one.isBad,
          labels.some(({ day, isBad }) => day === newest && isBad),
        );
      }),
    );
  });
});

describe('policy labels import', () => {
  it('D51: says of each line what became of it, and names the others by their lines', async () => {
    const [a, b] = ids as [number, number];
    const unknown = 127 * 128 + 5;
    const file = await fileOf(
      `\uFEFFid,date,bad\r\n${a},2026-01-01,0\r\n\r\n${b},2026-01-01,1\r\n${unknown},2026-01-01,1\r\n${a},2026-13-01,1\r\n${'9'.repeat(2_000)}\r\n${a},2026-01-02,1`,
    );
    const first = await run('policy', 'labels', 'import', file, '--json');
    assert.equal(first.code, 1);
    assert.deepEqual(JSON.parse(first.out), {
      ...{ added: 2, already: 0, changed: 1, older: 0, unknown: 1, erased: 0, damaged: 2 },
      faults: [
        { line: 6, fault: 'date must be a day: YYYY-MM-DD' },
        { line: 7, fault: 'it is longer than 1000 characters' },
        { line: 5, fault: `there is no application ${unknown}` },
      ],
    });
    const labels = await stored();
    assert.deepEqual(labels, [
      { id: a, day: '2026-01-02', is_bad: true },
      { id: b, day: '2026-01-01', is_bad: true },
    ]);
    const again = await imported(
      csv([
        [b, '2026-01-01', 1],
        [a, '2026-01-01', 0],
        [b, '2026-01-01', 0],
      ]),
    );
    assert.deepEqual([again.already, again.older, again.changed], [1, 2, 0]);
    assert.deepEqual(await stored(), labels);
    const [act] = await json('audit', 'list', '--limit', '1');
    assert.equal(act.act, 'policy labels import');
    const { out } = await run('policy', 'labels', 'import', file);
    assert.match(out, /^Line 6: date must be a day: YYYY-MM-DD\.\n/);
  });

  it('D51: a file that is none is refused, and nothing is stored or recorded', async () => {
    const before = [await stored(), (await json('audit', 'list')).length];
    for (const [file, told] of [
      [await fileOf('346,2026-01-01,1\n'), /columns id, date and bad/],
      [await fileOf(''), /has no line/],
      [await fileOf('x'.repeat(200_000)), /columns id, date and bad/],
      [folder, /cannot be read/],
      [join(folder, 'none'), /cannot be read/],
    ] as const) {
      const { code, err } = await run('policy', 'labels', 'import', file);
      assert.equal(code, 1);
      assert.match(err, told);
    }
    assert.deepEqual([await stored(), (await json('audit', 'list')).length], before);
  });

  it('D51: a run that is ended is begun again, and ends with the same labels', async () => {
    await database.query('DELETE FROM loan_labels');
    const lines = ids.map((id, n) => [id, '2026-02-01', n % 5 === 0 ? 1 : 0] as const);
    const file = await fileOf(csv(lines));
    const late = ids[1_100]!;
    await database.query("INSERT INTO loan_labels VALUES ($1, '2026-01-01', false)", [late]);
    await inTransaction(database, async (session) => {
      await session.query('SELECT FROM loan_labels WHERE application_id = $1 FOR UPDATE', [late]);
      const running = run('policy', 'labels', 'import', file);
      const pid = await eventually('the import at its second step', async () => {
        const waiting = await waitingSessions(database);
        return waiting.find(({ query }) => query.includes('INSERT INTO loan_labels'))?.pid;
      });
      await database.query('SELECT pg_terminate_backend($1::integer)', [pid]);
      assert.notEqual((await running).code, 0);
    });
    assert.equal((await stored()).length, 1_001, 'whole steps alone');
    const done = await json('policy', 'labels', 'import', file);
    assert.deepEqual([done.already, done.added, done.changed], [1_000, 199, 1]);
    assert.deepEqual(
      await stored(),
      lines.map(([id, day, bad]) => ({ id, day, is_bad: bad === 1 })).toSorted((a, b) => a.id - b.id),
    );
  });

  it('D51: the label of an erased applicant stays and may come later; the export of a person has it', async () => {
    const phones = ['+573001110001', '+573001110002'].map(toPhone);
    const [early, late] = (await register(
      key,
      phones.map((phone) => applicant({ phone })),
    )) as [number, number];
    await imported(csv([[early, '2026-03-01', 1]]));
    const exported = await json('subject', 'export', '--phone', phones[0]!, ...REVEAL);
    assert.deepEqual(exported.applications[0].loan_labels, [{ day: '2026-03-01', is_bad: true }]);
    for (const phone of phones)
      await json('subject', 'erase', '--phone', phone, '--reason', 'ticket 1', '--close', '--yes');
    const of = async (id: number) => (await stored()).find((one) => one.id === id);
    assert.deepEqual(await of(early), { id: early, day: '2026-03-01', is_bad: true });
    const { added, erased } = await imported(csv([[late, '2026-03-01', 0]]));
    assert.deepEqual([added, erased], [1, 1]);
    assert.deepEqual(await of(late), { id: late, day: '2026-03-01', is_bad: false });
    await database.query('DELETE FROM loan_labels WHERE application_id = ANY ($1)', [[early, late]]);
  });

  it('D51: a label goes with its application', async () => {
    await database.query("INSERT INTO loan_labels VALUES (16000001, '2026-01-01', true)");
    const before = (await stored()).length;
    const job = evaluationService().upkeep?.find(({ name }) => name === 'delete labels without applications');
    await job?.run(store as unknown as ServiceContext);
    assert.equal((await stored()).length, before - 1);
    assert.equal(
      (await stored()).some(({ id }) => id === 16_000_001),
      false,
    );
  });
});

describe('the figures of labels', () => {
  const sample = fc.array(fc.record({ score: fc.integer({ min: 0, max: 100 }), isBad: fc.boolean() }), {
    maxLength: 60,
  });
  const counts = (some: readonly { score: number; isBad: boolean }[], wanted: boolean) => {
    const by = new Float64Array(101);
    for (const { score, isBad } of some) if (isBad === wanted) by[score]! += 1;
    return by;
  };

  it('D51: Gini is that of all pairs, with half of a pair where both have one score', () => {
    fc.assert(
      fc.property(sample, (some) => {
        const [good, bad] = [some.filter(({ isBad }) => !isBad), some.filter(({ isBad }) => isBad)];
        let above = 0;
        for (const one of good)
          for (const other of bad) above += one.score > other.score ? 1 : one.score === other.score ? 0.5 : 0;
        const pairs = good.length * bad.length;
        const found = gini(counts(some, false), counts(some, true));
        if (pairs === 0) assert.equal(found, null);
        else assert.ok(Math.abs(found! - ((2 * above) / pairs - 1)) < 1e-12);
      }),
    );
    assert.equal(gini([0, 0, 5], [5, 0, 0]), 1);
    assert.equal(gini([5, 0, 0], [0, 0, 5]), -1);
    assert.equal(gini([0, 5, 0], [0, 5, 0]), 0);
  });

  it('D51: KS is the largest difference of the shares at or below any score', () => {
    fc.assert(
      fc.property(sample, (some) => {
        const share = (wanted: boolean, score: number) => {
          const all = some.filter(({ isBad }) => isBad === wanted);
          return all.filter((one) => one.score <= score).length / all.length;
        };
        const found = kolmogorovSmirnov(counts(some, false), counts(some, true));
        if (some.every(({ isBad }) => isBad) || some.every(({ isBad }) => !isBad))
          return assert.equal(found, null);
        const naive = Math.max(
          ...some.map(({ score }) => Math.abs(share(true, score) - share(false, score))),
        );
        assert.ok(Math.abs(found! - naive) < 1e-12);
      }),
    );
  });
});

describe('a backtest with labels', () => {
  const STRICT = {
    ...documentOf(DEFAULT_POLICY),
    version: 'strict-1',
    decision: { approved: 80, in_review: 40 },
  };
  const card = cardOfContent(STRICT);

  it('D51: has Gini, KS and the bad rate by band of each kind of label, equal to a count by hand', async () => {
    const path = join(folder, 'strict.json');
    await writeFile(path, JSON.stringify(STRICT));
    await run('policy', 'add', path);
    const reviewed = (await register(
      key,
      Array.from({ length: 3 }, () => applicant({ ...IN_REVIEW, phone: null })),
    )) as number[];
    await json('application', 'approve', `${reviewed[0]}`, '--reason', 'x');
    await json('application', 'reject', `${reviewed[1]}`, '--reason', 'x');
    for (const [n, observed, state] of [
      [0, 900, 'signed'],
      [1, 899, 'withdrawn'],
      [2, 2_000, 'signed'],
    ] as const) {
      await database.query(
        `INSERT INTO income_checks (application_id, digest, method, outcome, reason, declared, observed, months, confidence,
           layouts, reader, rules)
         VALUES ($1, $2, 'documents', 'confirmed', 'confirmed', 1000, $3, 3, 1, '{}', 'test', '{"confirm_ratio":0.9}')`,
        [ids[n], Buffer.from([n]), observed],
      );
      await database.query(
        'INSERT INTO loan_contracts (application_id, state, elapsed_ms) VALUES ($1, $2, 0)',
        [ids[n], state],
      );
    }
    const { labels, applications, matrix } = await json('policy', 'backtest', 'strict-1');
    const of = (kind: string) => labels.find((one: { kind: string }) => one.kind === kind);
    assert.deepEqual(
      labels.map(({ kind, labelled, bad }: Record<string, unknown>) => [kind, labelled, bad]),
      [
        ['loans', 1_200, 240],
        ['reviews', 2, 1],
        ['incomes', 3, 1],
        ['signatures', 3, 1],
      ],
    );
    const both = FACTS.map((facts, n) => ({
      isBad: n % 5 === 0,
      before: BUILT_IN_CARD.decide(facts),
      after: card.decide(facts),
    }));
    const loans = of('loans');
    for (const side of ['before', 'after'] as const) {
      const scores = (wanted: boolean) => {
        const by = new Float64Array(101);
        for (const one of both) if (one.isBad === wanted) by[one[side].score]! += 1;
        return by;
      };
      assert.equal(loans.gini[side], gini(scores(false), scores(true)));
      assert.equal(loans.ks[side], kolmogorovSmirnov(scores(false), scores(true)));
    }
    let banded = 0;
    for (const band of loans.bands) {
      const [from, to] = band.name.split(' to ').map(Number);
      const some = both.filter(({ after: { score } }) => score >= from && score <= to);
      const bad = some.filter(({ isBad }) => isBad).length;
      assert.deepEqual(
        [band.labelled, band.bad, band.low, band.high],
        [some.length, bad, ...wilson(bad, some.length)],
      );
      banded += some.length;
    }
    assert.equal(banded, FACTS.length);
    for (const { name, labelled } of loans.decisions)
      assert.equal(labelled, both.filter(({ after: { decision } }) => decision === name).length);
    const rejected = matrix.rejected.approved + matrix.rejected.in_review + matrix.rejected.rejected;
    assert.equal(loans.rejected, both.filter(({ before: { decision } }) => decision === 'rejected').length);
    assert.ok(loans.warning.startsWith(`Of ${applications} applications 1200 have this label`));
    assert.ok(of('reviews').warning.includes(`and 0 of the ${rejected} that were rejected`));
    const { out } = await run('policy', 'backtest', 'strict-1');
    assert.match(out, /Loans that went bad \(imported\)\nlabelled +1200, 240 of them bad\nGini/);
    assert.match(out, /score 90 to 100 +\d+\.\d % bad/);
  });
});
