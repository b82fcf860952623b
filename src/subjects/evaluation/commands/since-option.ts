/** Reads the option `--since`: from which day on registrations count. Pure. */
import { Option } from 'commander';
import { readDay } from '../../../program/cli/command.ts';

/** `--since DAY`. */
export function sinceOption(): Option {
  return new Option('--since <day>', 'registrations from this day on, in UTC; default: all').argParser(
    readDay,
  );
}
