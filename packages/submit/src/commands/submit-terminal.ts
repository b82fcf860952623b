/** What `ventanilla submit` needs of the process: variables, the terminal and the progress there, signals. */
import type { Writable } from 'node:stream';
import type { Clock } from '../../../../src/ground/base/clock.ts';
import { counted } from '../../../../src/ground/base/counted.ts';
import type { Language } from '../../../../src/ground/base/language.ts';

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

// The progress of a submission, on stderr: a bar for people, a line now and then for logs.

interface ProgressOptions {
  readonly clock: Clock;
  readonly language: Language;
  readonly isTerminal: boolean;
  readonly verb: keyof typeof VERBS;
  readonly total: number | null;
}

interface ProgressView {
  update(rows: number): void;
  stop(): void;
}

const LINE_EVERY_MS = 5_000;
const VERBS = { sent: { en: 'Sent', es: 'Enviadas' }, checked: { en: 'Checked', es: 'Revisadas' } } as const;
const WORDS = {
  en: { of: 'of', rows: 'rows', aSecond: 'a second', left: 'left' },
  es: { of: 'de', rows: 'filas', aSecond: 'por segundo', left: 'restantes' },
} as const;

/** Without a known `total` there is no bar. */
export async function showProgress(stderr: Writable, options: ProgressOptions): Promise<ProgressView> {
  const { isTerminal, total } = options;
  return isTerminal && total !== null ? bar(stderr, options, total) : lines(stderr, options);
}

async function bar(
  stderr: Writable,
  { clock, language, verb }: ProgressOptions,
  total: number,
): Promise<ProgressView> {
  // Loaded here, because only a terminal needs the bar and loading it takes half as long as all the rest.
  const { SingleBar } = await import('cli-progress');
  const start = clock.monotonicMs();
  const rate = (done: number) => ({ rate: count(done / Math.max(0.001, seconds(clock, start)), language) });
  const { of, rows, aSecond, left } = WORDS[language];
  const single = new SingleBar({
    stream: stderr as NodeJS.WritableStream,
    format: `${VERBS[verb][language]} {bar} {value} ${of} {total} ${rows}, {rate} ${aSecond}, {eta_formatted} ${left}`,
    barsize: 30,
    hideCursor: true,
    gracefulExit: false,
    formatValue: (value, _options, type) =>
      type === 'value' || type === 'total' ? count(value, language) : String(value),
  });
  single.start(total, 0, rate(0));
  return { update: (done) => single.update(done, rate(done)), stop: () => single.stop() };
}

function lines(stderr: Writable, { clock, language, verb, total }: ProgressOptions): ProgressView {
  const start = clock.monotonicMs();
  const words = WORDS[language];
  let told = start;
  return {
    update(rows) {
      const now = clock.monotonicMs();
      if (now - told < LINE_EVERY_MS) return;
      told = now;
      const rate = rows / seconds(clock, start);
      const left = total === null ? '' : `, ${count((total - rows) / rate, language)} s ${words.left}`;
      const of = total === null ? '' : ` ${words.of} ${count(total, language)}`;
      const done = rowsOf(total ?? rows, language, `${count(rows, language)}${of}`);
      stderr.write(`${VERBS[verb][language]} ${done}, ${count(rate, language)} ${words.aSecond}${left}\n`);
    },
    stop() {},
  };
}

function seconds(clock: Clock, start: number): number {
  return (clock.monotonicMs() - start) / 1000;
}

/** `1 row`, `1,234 rows`. `text` writes the count. */
export function rowsOf(rows: number, language: Language, text = count(rows, language)): string {
  return language === 'en' ? counted(rows, 'row', 'rows', text) : counted(rows, 'fila', 'filas', text);
}

/** Some Spanish readers take a comma for the decimal sign, and others a point. */
const GROUPS = { en: ',', es: '\u00a0' } as const;

/** `1,234,567`. The platform's own formatting would load large tables. */
export function count(value: number, language: Language): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, GROUPS[language]);
}
