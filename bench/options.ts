/** Options of the commands that measure or drill: each option takes a text. */
import { parseArgs } from 'node:util';
import { describeError } from '../src/ground/base/describe-error.ts';

interface OptionText {
  /** In plain words, for `--help`. */
  readonly about: string;
  readonly default?: string;
}
type Values<T> = {
  readonly [Name in keyof T]: T[Name] extends { default: string } ? string : string | undefined;
};

/**
 * Reads the options of the command line. `--help` prints them and ends the process with 0; an option that is not among
 * them ends the process with 1.
 */
export function readOptions<const T extends Readonly<Record<string, OptionText>>>(options: T): Values<T> {
  try {
    const texts = Object.entries(options).map(
      ([name, { default: value }]) =>
        [name, { type: 'string', ...(value === undefined ? {} : { default: value }) }] as const,
    );
    const { values } = parseArgs({ options: { ...Object.fromEntries(texts), help: { type: 'boolean' } } });
    if (values.help !== true) return values as Values<T>;
    console.log(usage(options));
    process.exit(0);
  } catch (error) {
    console.error(`error: ${describeError(error)}\n${usage(options)}`);
    process.exit(1);
  }
}

function usage(options: Readonly<Record<string, OptionText>>): string {
  const lines = Object.entries(options).map(([name, { about, default: value }]) => {
    const preset = value === undefined || value === '' ? '' : ` (default: ${value})`;
    return `  --${name.padEnd(10)} ${about}${preset}`;
  });
  return ['Options:', ...lines].join('\n');
}

/** Ends the process if the text of `--name` is no number from `least` on: no run ends in figures of nothing. */
export function numberOption(name: string, text: string, least: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= least && value < Number.POSITIVE_INFINITY) return value;
  console.error(`error: --${name} must be a number from ${least} on`);
  process.exit(1);
}
