/** Options of a measurement, as numbers. */

/** Ends the process where the text of `--name` is no number from `least` on: no run ends in figures of nothing. */
export function numberOption(name: string, text: string, least: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= least && value < Number.POSITIVE_INFINITY) return value;
  console.error(`error: --${name} must be a number from ${least} on`);
  process.exit(1);
}
