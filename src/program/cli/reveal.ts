/**
 * The options `--reveal --reason TEXT` of commands that show personal data (docs/audit.md), and values from standard
 * input.
 */
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { checkReason, OperatorError } from '../operations/operator-context.ts';
import { type ActorOptions, actorOption } from './actor-option.ts';
import { asArgument } from './command.ts';
import type { Io } from './output.ts';

export interface RevealOptions extends ActorOptions {
  readonly reveal?: true;
  readonly reason?: string;
}

/** Adds the options. */
export function addReveal(command: Command): Command {
  return command
    .option('--reveal', 'show personal data, which is masked otherwise; audit list tells who did')
    .option('--reason <text>', 'with --reveal: why; without personal data', asArgument(checkReason))
    .addOption(actorOption());
}

/**
 * The reason for reading personal data; null if the data stays masked. Ends the command as wrong use if one of the
 * options comes without the others that it needs.
 */
export function revealReason({ reveal, reason, as }: RevealOptions, command: Command): string | null {
  if (reveal === undefined && reason === undefined) {
    if (as !== undefined) command.error('error: --as goes with --reveal and --reason');
    return null;
  }
  if (reveal === undefined || reason === undefined) command.error('error: --reveal and --reason go together');
  return reason;
}

/** What stands for a value that is not shown. */
export const MASK = '***';

/** The longest line that is read. */
const MAX_LENGTH = 1_000;

/**
 * The value; if it is `-`, the first line of standard input, because the list of processes shows arguments to every
 * user of the machine. Throws `OperatorError` if there is no line.
 */
export async function hiddenValue(io: Io, value: string): Promise<string> {
  if (value !== '-') return value;
  for await (const line of createInterface({ input: io.stdin ?? process.stdin, crlfDelay: Infinity })) {
    if (line.length > MAX_LENGTH) break;
    return line;
  }
  throw new OperatorError(`standard input has no line of at most ${MAX_LENGTH} characters`);
}
