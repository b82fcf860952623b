/** A backtest of made-up applications over two years, with labels and hostile names. */

import { cardOfContent, documentOf } from '../../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../../src/domain/scorecard/form-1.ts';
import type { Decision } from '../../src/domain/scorecard/scorecard.ts';
import type { ShownBacktest } from '../../src/subjects/evaluation/rules/backtest-page.ts';
import { Backtest } from '../../src/subjects/evaluation/rules/backtest-report.ts';
import { LabelCount } from '../../src/subjects/evaluation/rules/label-report.ts';
import { BUILT_IN_CARD } from '../support/built-in-card.ts';
import { madeFacts, numbers } from './made-policies.ts';

export const HOSTILE_NAME = '</table><script>alert(1)</script>"\'&\u202e';

export function madeBacktest(applications = 5_000): ShownBacktest {
  const version = 'strict-1';
  const card = cardOfContent({
    ...documentOf(DEFAULT_POLICY),
    version,
    decision: { approved: 80, in_review: 40 },
  });
  const next = numbers(11);
  const counts = new Backtest(card);
  const loans = new LabelCount();
  for (let n = 0; n < applications; n += 1) {
    const month = n % 24;
    const day = `${2025 + Math.floor(month / 12)}-${`${(month % 12) + 1}`.padStart(2, '0')}-15`;
    const facts = madeFacts(next);
    const before = BUILT_IN_CARD.decide(facts);
    const after = counts.batch(BUILT_IN_CARD, (n % 3) + 1, day).add(facts, before.decision as Decision);
    if (n % 4 === 0) loans.add(n % 20 === 0, before, after);
  }
  const names = new Map([
    [1, 'Acme'],
    [2, HOSTILE_NAME],
  ]);
  const labels = applications > 0 ? [loans.report('loans')] : [];
  return {
    ...{
      id: 7,
      version,
      sha256: 'ab'.repeat(32),
      since: '2025-01-01',
      at: new Date(0),
      by: `ana${HOSTILE_NAME}`,
    },
    report: { ...counts.report(names), labels },
  };
}
