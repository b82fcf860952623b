/** Plots as inline SVG. */
import type { Line } from './series.ts';

const WIDTH = 1_000;
const HEIGHT = 150;
const LEFT = 60;
const TOP = 22;
const ROW = 12;
/** The steps between the times below a plot, in seconds; the first with few enough marks is taken. */
const STEPS = [5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200];
const MOST_MARKS = 8;
const MARK_WIDTH = 20;
const COLOURS = ['#1668b8', '#c2410c', '#15803d', '#7e22ce', '#a16207', '#be123c', '#0f766e'];

export function escapeText(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

interface Plot {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly seconds: number;
}

/** Lines over the time of the run; the highest value is at the top. */
export function linePlot({ title, lines, seconds }: Plot): string {
  const most = Math.max(1e-9, ...lines.flatMap(({ points }) => points.map(([, value]) => value)));
  const x = (at: number) => (LEFT + (at / seconds) * (WIDTH - LEFT)).toFixed(1);
  const y = (value: number) => (TOP + (1 - value / most) * (HEIGHT - TOP)).toFixed(1);
  const drawn = lines.map(({ points }, index) => {
    const path = points.map(([at, value]) => `${x(at)},${y(value)}`).join(' ');
    return `<polyline fill="none" stroke="${colourOf(index)}" points="${path}"/>`;
  });
  const names = lines.map(
    ({ name }, index) => `<tspan fill="${colourOf(index)}" dx="12">${escapeText(name)}</tspan>`,
  );
  return svg(
    HEIGHT + ROW * 2,
    `<text x="0" y="14">${escapeText(title)}${names.join('')}</text>
<text x="${LEFT - 4}" y="${TOP + 8}" text-anchor="end">${shown(most)}</text>
<text x="${LEFT - 4}" y="${HEIGHT}" text-anchor="end">0</text>
<path d="M${LEFT} ${TOP}V${HEIGHT}H${WIDTH}" fill="none" stroke="#999"/>
${drawn.join('\n')}${axis(seconds, HEIGHT + ROW)}`,
  );
}

/** A row for each name, with a bar for each time in which it happened. */
export function barPlot(
  bars: readonly { readonly name: string; readonly from: number; readonly to: number }[],
  seconds: number,
): string {
  const rows = [...Map.groupBy(bars, ({ name }) => name)];
  const left = WIDTH / 3;
  const x = (at: number) => left + (Math.min(at, seconds) / seconds) * (WIDTH - left);
  const drawn = rows.map(([name, ofName], row) => {
    const top = row * ROW + 2;
    const boxes = ofName.map(({ from, to }) => {
      const width = Math.max(1.5, x(to) - x(from)).toFixed(1);
      return `<rect x="${x(from).toFixed(1)}" y="${top}" width="${width}" height="${ROW - 3}" fill="${colourOf(row)}"/>`;
    });
    return `<text x="${left - 6}" y="${top + ROW - 4}" text-anchor="end">${escapeText(name)} (${ofName.length})</text>${boxes.join('')}`;
  });
  return svg(rows.length * ROW + ROW * 2, drawn.join('\n') + axis(seconds, (rows.length + 1) * ROW, left));
}

/** The times below a plot: whole minutes, or seconds in a run of a few minutes. */
function axis(seconds: number, y: number, left = LEFT): string {
  const step = STEPS.find((one) => seconds / one <= MOST_MARKS) ?? seconds;
  const marks = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => {
    const at = index * step;
    const x = left + (at / seconds) * (WIDTH - left);
    const anchor = index === 0 ? 'start' : x > WIDTH - MARK_WIDTH ? 'end' : 'middle';
    const text = step < 60 ? `${at} s` : `${at / 60} min`;
    return `<text x="${x.toFixed(1)}" y="${y + 4}" text-anchor="${anchor}">${text}</text>`;
  });
  return marks.join('');
}

function svg(height: number, inside: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img">${inside}</svg>`;
}

function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length]!;
}

function shown(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(2);
}
