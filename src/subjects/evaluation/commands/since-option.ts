/** Reads the option `--since`: from which day on registrations count. Pure. */
import { Option } from 'commander';
import { asArgument } from '../../../program/cli/command.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';

/** `--since DAY`. */
export function sinceOption(): Option {
  return new Option('--since <day>', 'registrations from this day on, in UTC; default: all').argParser(
    asArgument(readDay),
  );
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A day, `YYYY-MM-DD`, which the calendar has. Throws `OperatorError`. */
export function readDay(text: string): string {
  const ms = DAY.test(text) ? Date.parse(text) : Number.NaN;
  // A day too many is one of the next month for `Date`.
  if (!Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)) return text;
  throw new OperatorError('the day must be written as 2026-11-30');
}
