/** The parts of the process that `ventanilla submit` needs: variables, the terminal, signals. */

import type { Clock } from '../../../../src/ground/base/clock.ts';

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The locale of the system, such as `es-CO`. */
  locale(): string;
  /** True where a person reads the output and can answer. */
  readonly isTerminal: boolean;
  /** Asks a question; resolves to the answer that was typed. */
  ask(question: string): Promise<string>;
  /**
   * Listens for Ctrl-C and SIGTERM. The first one aborts the signal; a later one ends the process at once. `release`
   * stops listening.
   */
  interruption(clock: Clock): { readonly signal: AbortSignal; release(): void };
}

/** One Ctrl-C can arrive twice: from the terminal, and from npm, which passes it on. */
const SAME_SIGNAL_WITHIN_MS = 1_000;
export const INTERRUPTED = 130;

export const PROCESS: Surroundings = {
  env: process.env,
  locale: () => new Intl.NumberFormat().resolvedOptions().locale,
  get isTerminal() {
    return process.stdin.isTTY === true && process.stderr.isTTY === true;
  },
  async ask(question) {
    const { createInterface } = await import('node:readline/promises');
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    // Ctrl-C or Ctrl-D closes the reader; the answer then is empty.
    const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
    try {
      return await Promise.race([reader.question(question), closed]);
    } finally {
      reader.close();
    }
  },
  interruption(clock) {
    const controller = new AbortController();
    let toldAtMs: number | undefined;
    const tell = () => {
      if (toldAtMs !== undefined && clock.monotonicMs() - toldAtMs > SAME_SIGNAL_WITHIN_MS)
        process.exit(INTERRUPTED);
      toldAtMs ??= clock.monotonicMs();
      controller.abort();
    };
    process.on('SIGINT', tell).on('SIGTERM', tell);
    return { signal: controller.signal, release: () => process.off('SIGINT', tell).off('SIGTERM', tell) };
  },
};
