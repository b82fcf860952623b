/**
 * The pictures of a backtest as SVG, without scripts and without styles of their own: the page has classes for all of
 * them. Each has a table beside it (`backtest-page.ts`). Pure.
 */
import { type Html, html } from '../../../ground/base/html.ts';
import type { BacktestReport, Share } from './backtest-report.ts';

/** In the units of the pictures; a telephone shows them in nearly this size. */
const WIDTH = 400;
const LEFT = 44;
const RIGHT = 8;
const TOP = 8;
const LINE = 20;

/** Where a share of the width is. */
const across = (share: number) => LEFT + share * (WIDTH - LEFT - RIGHT);
const rounded = (value: number) => Math.round(value * 10) / 10;

function picture(id: string, height: number, title: string, content: readonly Html[]): Html {
  return html`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="${id}"><title id="${id}">${title}</title>${content}</svg>`;
}

/** Lines at quarters of the height, with their percentages. */
function percentLines(height: number): Html[] {
  return [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const y = TOP + (1 - share) * height;
    return html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/><text class="end" x="${LEFT - 5}" y="${y + 4}">${share * 100} %</text>`;
  });
}

export interface MonthRates extends Share {
  readonly rateBefore: number;
  readonly lowBefore: number;
  readonly highBefore: number;
}

/** Labels of months below each other's start would cover each other beyond these. */
const MOST_LABELS = 6;

/** The approval rate of each month, before and after, with the intervals. */
export function monthPlot(months: readonly MonthRates[]): Html {
  const height = 180;
  const y = (share: number) => rounded(TOP + (1 - share) * height);
  const step = 1 / months.length;
  const every = Math.ceil(months.length / MOST_LABELS);
  const x = (index: number, shift: number) => rounded(across((index + 0.5 + shift) * step));
  const side = (
    name: 'before' | 'after',
    shift: number,
    of: (month: MonthRates) => [number, number, number],
  ) => {
    const points = months.map((month, index) => ({ x: x(index, shift), of: of(month) }));
    return html`<g class="${name}"><polyline points="${points.map((one) => `${one.x},${y(one.of[0])}`).join(' ')}"/>${points.map(
      (one) =>
        html`<line x1="${one.x}" x2="${one.x}" y1="${y(one.of[1])}" y2="${y(one.of[2])}"/><circle cx="${one.x}" cy="${y(one.of[0])}" r="3"/>`,
    )}</g>`;
  };
  return picture('plot-months', height + TOP + LINE, 'Approval rate by month, before and after', [
    ...percentLines(height),
    side('before', -0.12, ({ rateBefore, lowBefore, highBefore }) => [rateBefore, lowBefore, highBefore]),
    side('after', 0.12, ({ rate, low, high }) => [rate, low, high]),
    ...months
      .map(({ name }, index) => ({ name, index }))
      .filter(({ index }) => index % every === 0)
      .map(
        ({ name, index }) =>
          html`<text class="middle" x="${x(index, 0)}" y="${height + TOP + LINE - 5}">${name}</text>`,
      ),
  ]);
}

/** Applications of ten scores each. */
export interface ScoreBand {
  readonly name: string;
  readonly before: number;
  readonly after: number;
}

/** Bands of ten scores; the last one has the score 100 too. */
export function scoreBands({ before, after }: BacktestReport['scores']): ScoreBand[] {
  const sum = (counts: readonly number[], from: number, to: number) =>
    counts.slice(from, to + 1).reduce((total, some) => total + some, 0);
  return Array.from({ length: 10 }, (_, band) => {
    const [from, to] = [band * 10, band === 9 ? 100 : band * 10 + 9];
    return { name: `${from} to ${to}`, before: sum(before, from, to), after: sum(after, from, to) };
  });
}

/** How many applications have which score, before and after. */
export function scorePlot(bands: readonly ScoreBand[], applications: number): Html {
  const height = 160;
  const most = Math.max(...bands.flatMap(({ before, after }) => [before, after]), 1);
  const step = 1 / bands.length;
  const bar = (name: 'before' | 'after', count: number, index: number, shift: number) => {
    const tall = (count / most) * height;
    return html`<rect class="${name}" x="${rounded(across((index + shift) * step))}" y="${rounded(TOP + height - tall)}" width="${rounded(across(0.4 * step) - LEFT)}" height="${rounded(tall)}"/>`;
  };
  return picture('plot-scores', height + TOP + LINE, 'Applications by score, before and after', [
    html`<text class="end" x="${LEFT - 5}" y="${TOP + 4}">${((most / applications) * 100).toFixed(0)} %</text><text class="end" x="${LEFT - 5}" y="${TOP + height}">0 %</text>`,
    ...bands.flatMap(({ before, after }, index) => [
      bar('before', before, index, 0.08),
      bar('after', after, index, 0.52),
    ]),
    html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${TOP + height}" y2="${TOP + height}"/>`,
    ...bands.map(
      (_, index) =>
        html`<text class="middle" x="${rounded(across((index + 0.5) * step))}" y="${height + TOP + LINE - 5}">${index * 10}</text>`,
    ),
  ]);
}

/** How many applications more, or fewer, have each reason after. */
export function reasonPlot(reasons: BacktestReport['reasons']): Html {
  const most = Math.max(...reasons.map(({ before, after }) => Math.abs(after - before)), 1);
  const middle = WIDTH / 2;
  return picture(
    'plot-reasons',
    reasons.length * LINE * 2 + TOP,
    'Reasons gained and lost',
    reasons.map(({ code, before, after }, index) => {
      const gained = after - before;
      const wide = rounded((Math.abs(gained) / most) * (middle - 70));
      const y = TOP + index * LINE * 2;
      const [start, end] = gained < 0 ? [middle - wide, 'end'] : [middle, 'start'];
      return html`<text x="0" y="${y + 12}">${code}</text><rect class="${gained < 0 ? 'lost' : 'gained'}" x="${start}" y="${y + LINE - 2}" width="${wide}" height="12"/><text class="${end}" x="${gained < 0 ? middle - wide - 5 : middle + wide + 5}" y="${y + LINE + 9}">${signed(gained)}</text><line class="grid" x1="${middle}" x2="${middle}" y1="${y + LINE - 4}" y2="${y + LINE + 12}"/>`;
    }),
  );
}

/** A difference with its sign. */
export function signed(count: number): string {
  return count > 0 ? `+${count}` : count < 0 ? `−${-count}` : '0';
}
