/** What the page of policies makes of a document, of names and of days (D51). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentOf } from '../../src/domain/scorecard/content.ts';
import type { PolicyDocument } from '../../src/domain/scorecard/document.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';

// By a name that no check of types follows: the page has types of its own.
const load = (path: string) => import(new URL(`../../console/src/policies/${path}`, import.meta.url).href);
const { asDraft, nextName, VERSION, withBand, withLimit, withPoints } = await load('edits.ts');
const { everyDay } = await load('days.ts');
const BASE = documentOf(DEFAULT_POLICY);

describe('an edit of a policy', () => {
  it('D51: changes its field alone, and leaves the document before it as it was', () => {
    const before = JSON.stringify(BASE);
    const points: PolicyDocument = withPoints(BASE, 'debt_age', 3, 7);
    assert.equal(points.characteristics.debt_age.attributes[3]!.points, 7);
    assert.deepEqual(points.characteristics.num_debts, BASE.characteristics.num_debts);
    assert.deepEqual(withBand(BASE, 'in_review', 40).decision, { approved: 70, in_review: 40 });
    assert.equal(withLimit(BASE, 0, '5000').limits[0].usd, '5000');
    assert.equal(withLimit(BASE, 1, '0.4').limits[1].installments_of_income, '0.4');
    assert.equal(JSON.stringify(BASE), before);
  });

  it('D51: a draft leaves the examples of its version out', () => {
    const { examples, version } = asDraft({ ...BASE, examples: [] }, 'mine-1');
    assert.deepEqual([examples, version], [undefined, 'mine-1']);
  });

  it('D51: a draft gets a name that nobody has, and that a version may have', () => {
    assert.equal(nextName('default-2', ['default-2']), 'default-3');
    assert.equal(nextName('default-2', ['default-3', 'default-4']), 'default-5');
    for (const version of ['Old Policy!', '2027', '---', 'x'.repeat(100), '<img>', '2027-01-capacity'])
      assert.match(nextName(version, []), VERSION, version);
  });
});

describe('the time line', () => {
  it('D51: has each day, also one without an application', () => {
    const days = [{ day: '2026-11-03', approved: 1, in_review: 2, rejected: 3 }];
    const found = everyDay(days, '2026-11-01', Date.parse('2026-11-04T12:00:00Z'));
    assert.deepEqual(
      found.map(({ day, approved }: (typeof days)[number]) => [day, approved]),
      [
        ['2026-11-01', 0],
        ['2026-11-02', 0],
        ['2026-11-03', 1],
        ['2026-11-04', 0],
      ],
    );
  });
});
