/** What `ventanilla submit` needs of the process around it. */

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True where a person sees the output and can answer. */
  readonly isTerminal: boolean;
  /** Asks, and gives what was typed. */
  ask(question: string): Promise<string>;
  /** Aborted by the first Ctrl-C (or SIGTERM); a later one ends the process at once. `release` stops listening. */
  interruption(): { readonly signal: AbortSignal; release(): void };
}

/** Ctrl-C can come twice, from the terminal and from npm, which passes it on. */
const SAME_SIGNAL_WITHIN_MS = 1_000;
export const INTERRUPTED = 130;

export const PROCESS: Surroundings = {
  env: process.env,
  get isTerminal() {
    return process.stdin.isTTY === true && process.stderr.isTTY === true;
  },
  async ask(question) {
    const { createInterface } = await import('node:readline/promises');
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    // Without an answer (Ctrl-C, Ctrl-D) the question is answered with nothing.
    const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
    try {
      return await Promise.race([reader.question(question), closed]);
    } finally {
      reader.close();
    }
  },
  interruption() {
    const controller = new AbortController();
    let toldAtMs: number | undefined;
    const tell = () => {
      if (toldAtMs !== undefined && performance.now() - toldAtMs > SAME_SIGNAL_WITHIN_MS)
        process.exit(INTERRUPTED);
      toldAtMs ??= performance.now();
      controller.abort();
    };
    process.on('SIGINT', tell).on('SIGTERM', tell);
    return { signal: controller.signal, release: () => process.off('SIGINT', tell).off('SIGTERM', tell) };
  },
};
