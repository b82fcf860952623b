/** Reads the numbers among the options of a measurement. */

/** Reads `--name`. Ends the process where the text is no number from `least` on, before anything is measured. */
export function numberOption(name: string, text: string, least: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= least && value < Number.POSITIVE_INFINITY) return value;
  console.error(`error: --${name} must be a number from ${least} on`);
  process.exit(1);
}
