/**
 * Repeats a step of a start for a minute if it fails for a reason that may pass (D37; ARCHITECTURE, "A process's
 * life"). Touches only the clock.
 */
import type { Clock } from '../base/clock.ts';
import { describeError, errorCode } from '../base/describe-error.ts';
import { CommitInDoubtError } from './session.ts';
import { PassingSetupError, SetupError } from './setup-error.ts';
import { isPassingTrouble } from './store-trouble.ts';

const WAIT_MS = 60_000;
const POLL_MS = 500;

interface PatienceOptions {
  readonly clock: Clock;
  /** Ends the wait: `run` rejects. */
  readonly signal: AbortSignal;
  /** Called at the first failure of a step, with the reason for the wait. */
  readonly notice: (text: string) => void;
  /** The thing that the start waits for, by a name that operators know. */
  readonly what: string;
  readonly withinMs?: number;
}

export class Patience {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #notice: (text: string) => void;
  readonly #what: string;
  readonly #withinMs: number;

  constructor({ clock, signal, notice, what, withinMs = WAIT_MS }: PatienceOptions) {
    this.#clock = clock;
    this.#signal = signal;
    this.#notice = notice;
    this.#what = what;
    this.#withinMs = withinMs;
  }

  /**
   * Runs a step of the start, and repeats it if it failed for a reason that may pass, until a minute after its first
   * failure. A step may have worked although it failed, so running it twice must be harmless. Throws any other error of
   * the step at once, `SetupError` when the minute is over, and the signal's reason if the signal aborts.
   */
  async run<T>(step: () => Promise<T>): Promise<T> {
    for (let giveUpAt = 0; ; ) {
      this.#signal.throwIfAborted();
      try {
        return await step();
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!mayPass(error)) throw error;
        if (giveUpAt === 0) {
          giveUpAt = this.#clock.monotonicMs() + this.#withinMs;
          this.#notice(`waiting for ${this.#what}: ${reasonOf(error)}`);
        } else if (this.#clock.monotonicMs() >= giveUpAt) {
          throw this.#tooLong(error);
        }
        await this.#clock.sleep(Math.min(POLL_MS, this.#withinMs), { signal: this.#signal });
      }
    }
  }

  #tooLong(error: unknown): SetupError {
    if (error instanceof SetupError) return error;
    const seconds = Math.round(this.#withinMs / 1_000);
    return new SetupError(`${this.#what} did not work within ${seconds} s: ${reasonOf(error)}`);
  }
}

/**
 * A statement that was given up for its time, a conflict with another session, a server that is short of something, and
 * a session that became read-only because its server is not the primary any more. A full disk is among these: running
 * services outlive it, and starts that end at once soon use up the restarts that a supervisor allows. ENOENT: the
 * socket of a server on this machine does not exist before the server runs.
 */
const PASSING = /^(57014|55P03|40...|25006|25P0[34]|53...|ENOENT)$/;

function mayPass(error: unknown): boolean {
  if (error instanceof PassingSetupError || error instanceof CommitInDoubtError) return true;
  const code = errorCode(error) ?? '';
  return isPassingTrouble(error) || PASSING.test(code);
}

const REASONS: Readonly<Record<string, string>> = {
  '08001': 'no server that it names is the primary or takes writes',
  '25006': 'the server takes no writes at the moment',
  '53100': 'its disk is full',
  '53300': 'the server has too many connections',
  '57014': 'a statement took too long',
  '57P03': 'the server is starting up, or shutting down',
  ECONNREFUSED: 'no server listens there',
  ENOTFOUND: 'its host is not known',
  EAI_AGAIN: 'its host could not be looked up',
};

/**
 * The server's own text may quote the user, the database or a value, so an error with a code is described without it.
 */
function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code === undefined) return describeError(error);
  const text = REASONS[code];
  return text === undefined ? code : `${text} (${code})`;
}
