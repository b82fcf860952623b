/** Runs `ventanilla submit` in this process. */
import { type Clock, machineClock } from '../../../../src/ground/base/clock.ts';
import { describeSubmit, Program } from '../../../../src/program/cli/command.ts';
import { type Run, Sink } from '../../../../test/cli/harness.ts';
import { fillSubmit } from '../../src/commands/submit.ts';
import type { Surroundings } from '../../src/commands/submit-terminal.ts';

export interface Person {
  readonly apiKey?: string;
  /** The answer typed on a terminal to each question; without it there is no terminal. */
  readonly answer?: string;
  /** Gets the questions. */
  readonly asked?: string[];
  /** Variables of the environment, besides the key. */
  readonly env?: Readonly<Record<string, string>>;
  /** The locale of the system. Default: en-US. */
  readonly locale?: string;
  /** The error of a write to standard output: EPIPE where its reader left, as `head` does. */
  readonly failsWith?: 'EPIPE' | 'ENOSPC';
  /** Default: the machine's. */
  readonly clock?: Clock;
}

class Failing extends Sink {
  readonly #code: string;
  constructor(code: string) {
    super();
    this.#code = code;
  }
  override _write(_chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    done(Object.assign(new Error(`write ${this.#code}`), { code: this.#code }));
  }
}

/** Runs `ventanilla submit ...args`. */
export async function submit(person: Person, ...args: string[]): Promise<Run> {
  const io = {
    stdout: person.failsWith ? new Failing(person.failsWith) : new Sink(),
    stderr: new Sink(),
    exitCode: 0,
  };
  const { clock = machineClock } = person;
  const around: Surroundings = {
    env: { VENTANILLA_API_KEY: person.apiKey, ...person.env },
    locale: () => person.locale ?? 'en-US',
    isTerminal: person.answer !== undefined,
    ask: async (question) => {
      person.asked?.push(question);
      return person.answer ?? '';
    },
    interruption: () => ({ signal: new AbortController().signal, release() {} }),
  };
  const program = new Program('ventanilla', io);
  fillSubmit(describeSubmit(program.command('submit')), { io, clock }, around);
  await program.parseAsync(['submit', ...args], { from: 'user' });
  return { code: io.exitCode, out: io.stdout.text, err: io.stderr.text };
}

/** Runs the command with `--yes --json`, for a person or for an API key. Resolves to the exit code and the summary. */
export async function summary(
  person: string | Person,
  ...args: string[]
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
): Promise<{ code: number; said: any; err: string }> {
  const { code, out, err } = await submit(
    typeof person === 'string' ? { apiKey: person } : person,
    ...args,
    '--yes',
    '--json',
  );
  return { code, said: out === '' ? null : JSON.parse(out), err };
}
