/**
 * A backtest as one page of HTML (docs/policy.md, "Backtest"): no script, and nothing from anywhere else. Its policy of
 * content allows its own style alone. Pure.
 */
import { DECISIONS, type Decision } from '../../../domain/scorecard/scorecard.ts';
import { counted } from '../../../ground/base/counted.ts';
import { Html, html } from '../../../ground/base/html.ts';
import { inLine } from '../../../ground/base/plain-text.ts';
import { monthPlot, reasonPlot, scoreBands, scorePlot, signed } from './backtest-plots.ts';
import { type BacktestReport, changesInWords, type Share, wilson } from './backtest-report.ts';
import { LABEL_TITLES, type LabelReport, labelWarning } from './label-report.ts';

export interface ShownBacktest {
  readonly id: number;
  readonly version: string;
  readonly sha256: string;
  readonly since: string | null;
  readonly at: Date;
  readonly by: string;
  readonly report: BacktestReport & { readonly labels: readonly LabelReport[] };
}

/** The whole page, as it is written into a file. */
export function backtestPage(backtest: ShownBacktest): string {
  const { id, version, report } = backtest;
  const title = `Backtest ${id}: ${version}`;
  return `<!doctype html>\n${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${STYLE_DIGEST}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${headOf(backtest)}
${report.applications === 0 ? html`<p>No application was registered in this time.</p>` : partsOf(report)}
</main>
</body>
</html>
`.text
  }`;
}

function headOf({ version, sha256, since, at, by, report }: ShownBacktest): Html {
  const { applications, damaged, reviewsADay } = report;
  const words = changesInWords(report);
  const facts: readonly (readonly [string, string])[] = [
    ['Version', version],
    ['SHA-256 of its content', sha256],
    ['Made', `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC by ${inLine(by)}`],
    [
      'Applications',
      `${counted(applications, 'application')}, ${since === null ? 'all' : `registered from ${since} on (UTC)`}`,
    ],
    ...(damaged > 0 ? [['Could not be read', `${damaged}`] as const] : []),
    ['Reviews a day', `${reviewsADay.before.toFixed(1)} before, ${reviewsADay.after.toFixed(1)} after`],
  ];
  return html`<dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<p class="words">${words.length === 0 ? 'No decision changes.' : `${words.join(', ')}.`}</p>`;
}

function partsOf(report: BacktestReport & { readonly labels: readonly LabelReport[] }): readonly Html[] {
  const { applications, months, scores, reasons } = report;
  const rates = months.map((month) => {
    const [lowBefore, highBefore] = wilson(month.before, month.applications);
    return { ...month, rateBefore: month.before / month.applications, lowBefore, highBefore };
  });
  const bands = scoreBands(scores);
  const changed = reasons
    .filter(({ before, after }) => before !== after)
    .toSorted((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before));
  return [
    html`<h2>Decisions, before and after</h2>${matrixTable(report)}`,
    html`<h2>Approval rate by month</h2>${figure(monthPlot(rates), LEGEND)}${shareTable('Month', months)}`,
    html`<h2>Scores</h2>${figure(scorePlot(bands, applications), LEGEND)}${table(
      'Applications by score',
      ['Score', 'Before', 'After'],
      bands.map(({ name, before, after }) => [name, before, after]),
    )}`,
    html`<h2>Reasons gained and lost</h2>${
      changed.length === 0
        ? html`<p>No reason is gained or lost.</p>`
        : figure(
            reasonPlot(changed),
            html`<p class="legend">Applications that have a reason more (right) or no more (left).</p>`,
          )
    }${
      reasons.length === 0
        ? ''
        : table(
            'Applications that have a reason',
            ['Reason', 'Before', 'After', 'Difference'],
            reasons.map(({ code, before, after }) => [code, before, after, signed(after - before)]),
          )
    }`,
    html`<h2>By partner</h2>${shareTable('Partner', report.partners)}`,
    html`<h2>By currency</h2>${shareTable('Currency', report.currencies)}`,
    ...report.labels.map((label) => labelPart(label, report)),
  ];
}

const figure = (plot: Html, legend: Html) => html`<figure>${plot}<figcaption>${legend}</figcaption></figure>`;
const LEGEND = html`<p class="legend"><span class="key before"></span> before <span class="key after"></span> after</p>`;

/** The cells get darker with their share of the applications before. */
function matrixTable({ matrix, usd }: BacktestReport): Html {
  const sum = (before: Decision) => DECISIONS.reduce((total, after) => total + matrix[before][after], 0);
  const cell = (before: Decision, after: Decision) => {
    const count = matrix[before][after];
    const share = count / Math.max(sum(before), 1);
    return html`<td class="heat${Math.ceil(share * 5)}${before === after ? '' : ' swap'}"><b>${whole(count)}</b><br>${percent(share)}<br>${whole(usd[before][after])} USD</td>`;
  };
  return scrolled(
    'Decisions before, by row, and after, by column',
    html`<thead><tr><th scope="col">Before</th>${DECISIONS.map((after) => html`<th scope="col">${NAMES[after]} after</th>`)}</tr></thead>
<tbody>${DECISIONS.map((before) => html`<tr><th scope="row">${NAMES[before]}</th>${DECISIONS.map((after) => cell(before, after))}</tr>`)}</tbody>`,
  );
}

const NAMES: Readonly<Record<Decision, string>> = {
  approved: 'Approved',
  in_review: 'In review',
  rejected: 'Rejected',
};

function shareTable(what: string, shares: readonly Share[]): Html {
  return table(
    `Approval rate by ${what.toLowerCase()}`,
    [what, 'Applications', 'Before', 'After', '95 % interval after'],
    shares.map(({ name, applications, before, rate, low, high }) => [
      inLine(name),
      applications,
      percent(before / applications),
      percent(rate),
      `${percent(low)} to ${percent(high)}`,
    ]),
  );
}

function labelPart(label: LabelReport, report: BacktestReport): Html {
  const { kind, labelled, bad, gini, ks, bands, decisions } = label;
  const figureOf = (value: number | null) => value?.toFixed(3) ?? 'none';
  return html`<h2>${LABEL_TITLES[kind]}</h2><p class="note">${labelWarning(label, report)}</p>${table(
    `${counted(labelled, 'application')} with a label, ${bad} of them bad`,
    ['Figure', 'Before', 'After'],
    [
      ['Gini', figureOf(gini.before), figureOf(gini.after)],
      ['KS', figureOf(ks.before), figureOf(ks.after)],
    ],
  )}${table(
    'Bad rate by score and by decision after',
    ['Score or decision', 'Labelled', 'Bad', '95 % interval'],
    [...bands.map((band) => ({ ...band, name: `score ${band.name}` })), ...decisions].map((band) => [
      band.name.replace('in_review', 'in review'),
      band.labelled,
      percent(band.rate),
      `${percent(band.low)} to ${percent(band.high)}`,
    ]),
  )}`;
}

function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): Html {
  const value = (one: string | number) => (typeof one === 'number' ? whole(one) : one);
  return scrolled(
    caption,
    html`<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>${rows.map(
      ([first = '', ...others]) =>
        html`<tr><th scope="row">${first}</th>${others.map((one) => html`<td>${value(one)}</td>`)}</tr>`,
    )}</tbody>`,
  );
}

/** A table that is wider than its window is moved by itself, also by the keyboard. */
const scrolled = (caption: string, content: Html) =>
  html`<div class="wide" role="region" tabindex="0" aria-label="${caption}"><table><caption>${caption}</caption>${content}</table></div>`;

const whole = (count: number) => Math.round(count).toLocaleString('en');
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

/** The page's test (backtest-page.test.ts) has the rule: SHA-256 of the style, as a browser computes it. */
const STYLE_DIGEST = 'sha256-KVbKwZs2VJcqrX4xXqf5nHJuet6UAj3djTiqnfjC/RQ=';
const STYLE = `
:root { color-scheme: light dark; --page: #fff; --text: #17211f; --quiet: #566561; --line: #d8dfdd; --before: #566561;
  --after: #0f766e; --heat: 15 118 110; --note: #fdf4d4; --on-note: #55480f; font: 1rem/1.5 system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { :root { --page: #0e1514; --text: #e6edeb; --quiet: #9db0ab; --line: #2a3835;
  --before: #9db0ab; --after: #5fd3c3; --heat: 95 211 195; --note: #3a3310; --on-note: #f2e3a6; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; }
dl > div { display: flex; flex-wrap: wrap; gap: 0 1rem; } dt { color: var(--quiet); min-width: 11rem; } dd { margin: 0; }
.words { font-weight: 600; }
.note { padding: .5rem .75rem; background: var(--note); color: var(--on-note); }
figure { margin: 0 0 1rem; max-width: 36rem; } svg { display: block; width: 100%; height: auto; }
svg text { font-size: 11px; fill: var(--text); } .end { text-anchor: end; } .middle { text-anchor: middle; }
.grid { stroke: var(--line); }
g.before { stroke: var(--before); fill: var(--page); } g.after { stroke: var(--after); fill: var(--after); }
g.before polyline { stroke-dasharray: 5 3; } polyline { fill: none; stroke-width: 2; }
rect.before { stroke: var(--before); fill: none; } rect.after, rect.gained { fill: var(--after); }
rect.lost { stroke: var(--after); fill: none; }
.legend { margin: .25rem 0; color: var(--quiet); }
.key { display: inline-block; width: .9em; height: .9em; border: 2px solid; margin-left: .75em; }
.key.before { border-color: var(--before); } .key.after { border-color: var(--after); background: var(--after); }
.wide { overflow-x: auto; } .wide:focus-visible { outline: 2px solid var(--after); }
table { border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--quiet); padding: .25rem 0; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; font-weight: 400; white-space: nowrap; }
th:first-child { text-align: left; } thead th { font-weight: 600; vertical-align: bottom; }
tbody th { white-space: normal; min-width: 7rem; overflow-wrap: break-word; }
.heat1 { background: rgb(var(--heat) / .08); } .heat2 { background: rgb(var(--heat) / .14); }
.heat3 { background: rgb(var(--heat) / .2); } .heat4 { background: rgb(var(--heat) / .26); }
.heat5 { background: rgb(var(--heat) / .32); } .swap { outline: 1px dashed var(--line); outline-offset: -2px; }
`;
