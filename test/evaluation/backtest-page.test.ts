/** A backtest as a page of its own: every text is a text, and nothing is loaded (D51; docs/policy.md, "Backtest"). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import { backtestPage } from '../../src/subjects/evaluation/rules/backtest-page.ts';
import { HOSTILE_NAME, madeBacktest } from './made-backtest.ts';

const PAGE = backtestPage(madeBacktest());

it('D51: the policy of the page allows its own style alone, and the page has no script and no address', () => {
  const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(PAGE) ?? [];
  const digest = createHash('sha256').update(style).digest('base64');
  assert.ok(PAGE.includes(`style-src 'sha256-${digest}'`), `the style has the digest ${digest}`);
  assert.match(PAGE, /default-src 'none'/);
  assert.doesNotMatch(PAGE, /<script|style="|https?:|url\(|@import|<img|<link| on[a-z]+=/);
});

it('D51: every text is a text', () => {
  assert.ok(!PAGE.includes('<script>'));
  assert.ok(PAGE.includes('&lt;/table&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u202e'));
  assert.ok(!PAGE.includes(HOSTILE_NAME));
  assert.ok(!PAGE.includes('NaN') && !PAGE.includes('undefined'));
});

it('D51: each picture has a title and a table, and the matrix has every count', () => {
  const { report } = madeBacktest();
  for (const id of ['plot-months', 'plot-scores', 'plot-reasons'])
    assert.match(PAGE, new RegExp(`role="img" aria-labelledby="${id}"><title id="${id}">[^<]+</title>`));
  for (const caption of [
    'Decisions before, by row, and after, by column',
    'Approval rate by month',
    'Applications by score',
    'Applications that have a reason',
    'Approval rate by partner',
    'Approval rate by currency',
    'Bad rate by score and by decision after',
  ])
    assert.ok(PAGE.includes(`<caption>${caption}</caption>`), caption);
  for (const row of Object.values(report.matrix))
    for (const count of Object.values(row)) assert.ok(PAGE.includes(`<b>${count.toLocaleString('en')}</b>`));
  assert.equal([...PAGE.matchAll(/<circle/g)].length, 2 * 24, 'a point a month and side');
});

it('D51: a backtest without applications, and one of a single month, have a page', () => {
  assert.match(backtestPage(madeBacktest(0)), /No application was registered in this time/);
  assert.match(backtestPage(madeBacktest(1)), /<title>Backtest 7: strict-1<\/title>/);
});
