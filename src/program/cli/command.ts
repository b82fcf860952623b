/**
 * What the commands share: options, reading arguments, and how the program ends. Writes to stdout and stderr alone.
 * docs/operations.md ("Commands") has the rule.
 */
import { Command, CommanderError, Help, InvalidArgumentError, Option, type ParseOptions } from 'commander';
import { type Clock, isCalendarDay } from '../../ground/base/clock.ts';
import { printable } from '../../ground/base/plain-text.ts';
import { OperatorError } from '../operations/operator-context.ts';
import { type Io, OutputClosed, writeNote } from './output.ts';
import type { Roles } from './role-types.ts';

/** Every command gets these. */
export interface Cli {
  readonly roles: Roles;
  readonly io: Io;
  readonly clock: Clock;
}

const MISUSED = 2;
/** The hint that follows an error about wrong use. */
export const HINT = '(add --help to see how it is used)';
/** Read before all other arguments, so that it may stand anywhere. */
export const DEBUG = '--debug';

type LoadTrouble = () => Promise<(error: unknown) => boolean>;

/**
 * A program that never throws. A failure sets the exit code and is written to stderr: in one line if the operator can
 * mend it, and with what to report if the program is at fault.
 */
export class Program extends Command {
  readonly #io: Io;
  readonly #loadTrouble: LoadTrouble;
  #parts: { readonly command: Command; readonly fill: () => Promise<void> }[] = [];

  /** `loadTrouble` loads the function that recognises trouble of the database; only `submit` has none. */
  constructor(name: string, io: Io, loadTrouble: LoadTrouble = async () => () => false) {
    super(name);
    this.#io = io;
    this.#loadTrouble = loadTrouble;
    // Each write reports its own failure. Without a listener the stream would end the process.
    io.stdout.on('error', () => {});
    this.exitOverride();
    this.configureOutput({
      writeOut: (text) => io.stdout.write(printable(text)),
      writeErr: (text) => writeNote(io, text),
    });
    this.showHelpAfterError(HINT);
  }

  /**
   * Lets `fill` give a command its options and its work once the arguments name the command. The program's help needs
   * neither of them.
   */
  fillWhenNamed(command: Command, fill: () => Promise<void>): void {
    this.#parts.push({ command, fill });
  }

  override async parseAsync(given: readonly string[] = process.argv, options?: ParseOptions): Promise<this> {
    const argv = given.filter((argument) => argument !== DEBUG);
    try {
      const isNamed = ({ command }: { readonly command: Command }) => argv.includes(command.name());
      const named = this.#parts.filter(isNamed);
      this.#parts = this.#parts.filter((part) => !isNamed(part));
      for (const { fill } of named) await fill();
      await super.parseAsync(argv, options);
    } catch (error) {
      await this.#end(error, argv, argv.length < given.length);
    }
    return this;
  }

  async #end(error: unknown, argv: readonly string[], withStack: boolean): Promise<void> {
    if (error instanceof OutputClosed) return;
    if (error instanceof CommanderError) {
      if (error.exitCode !== 0) this.#io.exitCode = MISUSED;
      return;
    }
    const { tellFailure } = await import('./failure.ts');
    const isTrouble = await this.#loadTrouble();
    this.#io.exitCode = tellFailure(this.#io, error, { command: this.#typed(argv), withStack, isTrouble });
  }

  /** The commands and the names of the options that were typed, without a value. */
  #typed(argv: readonly string[]): string {
    let command: Command = this;
    const typed = [this.name()];
    for (const argument of argv) {
      const sub = command.commands.find((one) => one.name() === argument);
      const [option = ''] = argument.split('=', 1);
      if (sub !== undefined) typed.push(sub.name());
      else if (command.options.some(({ long, short }) => option === long || option === short))
        typed.push(option);
      command = sub ?? command;
    }
    return typed.join(' ');
  }
}

/** Adds a command with its example; every command takes `--json`. The help marks options that may not be absent. */
export function addCommand(parent: Command, usage: string, description: string, example: string): Command {
  return describeCommand(parent.command(usage), description)
    .configureHelp({ optionDescription: describeOption })
    .addHelpText('after', `\nExample:\n  npx ventanilla ${example}`);
}

/**
 * Describes `submit`, which is a command of the program and a program of its own. It writes its help in two languages.
 */
export function describeSubmit<C extends Command>(command: C): C {
  describeCommand(command, 'send a file of applicants to a service');
  return command.argument('<file>', 'the file of applicants');
}

function describeCommand(command: Command, description: string): Command {
  return command.description(description).option('--json', 'write one JSON value, for programs');
}

function describeOption(option: Option): string {
  const text = new Help().optionDescription(option);
  return option.mandatory ? `${text} (required)` : text;
}

/** Adds a group of commands. */
export function addGroup(program: Command, name: string, description: string, example: string): Command {
  return program
    .command(name)
    .description(description)
    .addHelpText('after', `\nExample:\n  npx ventanilla ${example}`);
}

/** The group of commands with this name. Throws if the program has none. */
export function groupNamed(program: Command, name: string): Command {
  const group = program.commands.find((command) => command.name() === name);
  if (group === undefined) throw new Error(`there is no group of commands "${name}" yet`);
  return group;
}

/** `--limit N`: how many rows a table shows, or how many elements a JSON list has. */
export function limitOption(): Option {
  return new Option('--limit <n>', 'show the newest N (default: 50 in a table, all with --json)').argParser(
    readPositive,
  );
}

/** An option whose value is one of a closed list, in any capitalisation. */
export function choiceOption<T extends string>(
  flags: string,
  description: string,
  values: readonly T[],
): Option {
  return new Option(flags, `${description} (${values.join(', ')})`).argParser((text) => {
    const value = values.find((candidate) => candidate.toLowerCase() === text.trim().toLowerCase());
    if (value === undefined) throw new InvalidArgumentError(`It must be one of: ${values.join(', ')}.`);
    return value;
  });
}

/** Reads an id or a count. */
export function readPositive(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) {
    throw new InvalidArgumentError('It must be a whole number from 1 on.');
  }
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('The number is too large.');
  return value;
}

const TIME = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Reads a time with its offset, so that nobody's time zone is guessed, or a day, which begins in UTC. */
export function readTime(text: string): Date {
  const time = new Date(text);
  const [, day = ''] = TIME.exec(text) ?? [];
  if (!isCalendarDay(day) || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError(
      'It must be a day or a time with its offset: 2026-11-20, 2026-11-20T08:00:00-05:00.',
    );
  }
  return time;
}

/** Reads a day: YYYY-MM-DD. */
export function readDay(text: string): string {
  if (!isCalendarDay(text)) {
    throw new InvalidArgumentError('It must be a day: YYYY-MM-DD, such as 2026-11-20.');
  }
  return text;
}

/** Reports an `OperatorError` about a text as a fault of the option that the text came with. */
export function asArgument<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      throw new InvalidArgumentError(`${error.message}.`);
    }
  };
}
