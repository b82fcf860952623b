/** The bars of a measurement: one table, judged at its end. */

export interface Bar {
  readonly name: string;
  /** null where this run did not measure the figure; then the bar is not judged. */
  readonly figure: number | null;
  readonly direction: 'at least' | 'at most';
  readonly bound: number;
  /** Unit of the figure: `ms`, `messages/s`. A ratio has none. */
  readonly unit?: string;
}

/** Prints the verdict. The process ends with 1 where a bar is missed or nothing was measured. */
export function judge(bars: readonly Bar[]): void {
  const { text, isGood } = verdict(bars);
  console.log(`\n${text}`);
  if (!isGood) process.exitCode = 1;
}

/** A line for each measured bar, and a last line with the missed ones. */
export function verdict(bars: readonly Bar[]): { text: string; isGood: boolean } {
  const measured = bars.filter(({ figure }) => figure !== null);
  if (measured.length === 0) return { text: 'FAILED: no bar was measured', isGood: false };
  const missed = measured.filter((bar) => !isMet(bar)).map(({ name }) => name);
  const end =
    missed.length === 0
      ? `all of ${measured.length} bars are met`
      : `FAILED: ${missed.length} of ${measured.length} bars are missed: ${missed.join('; ')}`;
  return { text: [...measured.map(line), end].join('\n'), isGood: missed.length === 0 };
}

/** NaN meets no bar. */
function isMet({ figure, direction, bound }: Bar): boolean {
  if (figure === null) return true;
  return direction === 'at least' ? figure >= bound : figure <= bound;
}

function line(bar: Bar): string {
  const { name, figure, direction, bound, unit = '' } = bar;
  const value = `${number(figure as number, 2)} ${unit}`.trim().padStart(20);
  return `${name.padEnd(50)}${value}   ${direction} ${number(bound, 2)}${isMet(bar) ? '' : '   MISSED'}`;
}

/** A number for people: with separated thousands, and at most so many digits after the point. */
export function number(value: number, digits = 0): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}
