/**
 * Reads documents, each in a process of its own: with the system's limits of memory and time, without the service's
 * variables, without a network where the system allows that, and without a way to read other files.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { extname, join } from 'node:path';
import { Type } from 'typebox';
import Value from 'typebox/value';
import type { Clock } from '../../base/clock.ts';
import { type Isolation, isolation } from './isolation.ts';
import {
  FAULTS,
  METHODS,
  MOST_LINE_LENGTH,
  MOST_LINES,
  MOST_TEXT,
  type ReadFault,
  type ReadText,
  SCANNED_PDF,
} from './reading.ts';

/** A name for what read a document, for the evidence: the reader's own version, then those of its libraries. */
export const READER_VERSION = '2 (unpdf 1.8.1, tesseract.js-core 7.0.0)';

/** `reader_*`: the process met a limit or ended without an answer. */
export type ReadResult =
  | ReadText
  | { readonly fault: ReadFault | 'reader_time' | 'reader_memory' | 'reader_failed' };

/** Reads a document of this type; never throws. */
export type Reader = (bytes: Buffer, type: string) => Promise<ReadResult>;

/** The limits of one reading. */
export interface ReaderLimits {
  readonly timeMs: number;
  /** Of the whole process. */
  readonly memoryMiB: number;
  readonly heapMiB: number;
}

/**
 * What a document of 50 pages takes, ten times over; the OCR of a large picture takes half a minute of a busy core. Of
 * the memory V8 reserves 512 MiB for its code, and uses 20.
 */
export const PDF_LIMITS: ReaderLimits = { timeMs: 15_000, memoryMiB: 1_024, heapMiB: 192 };
export const PICTURE_LIMITS: ReaderLimits = { timeMs: 60_000, memoryMiB: 1_280, heapMiB: 192 };

/** Processes at once: each may take a core. */
const AT_ONCE = 2;
/** The answer has the lines alone. */
const MOST_ANSWER = 6 * MOST_TEXT + 100 * MOST_LINES;
/** A PDF with less text may be one of pictures, with the name of the program that scanned them. */
const LEAST_TEXT = 100;

const ANSWER = Type.Union([
  Type.Object({
    method: Type.Union(METHODS.map((method) => Type.Literal(method))),
    pages: Type.Integer({ minimum: 0 }),
    lines: Type.Array(Type.String({ maxLength: MOST_LINE_LENGTH }), { maxItems: MOST_LINES }),
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
  }),
  Type.Object({ fault: Type.Union(FAULTS.map((fault) => Type.Literal(fault))) }),
]);

const CHILD = join(import.meta.dirname, `child${extname(import.meta.filename)}`);

/**
 * The reader of this machine. The further arguments are for tests: other limits, and another process in the reader's
 * place.
 */
export function processReader(
  clock: Clock,
  limits?: ReaderLimits,
  child = CHILD,
  nodeOptions?: readonly string[],
): Reader {
  const turns = new Turns(AT_ONCE);
  return async (bytes, type) => {
    const done = await turns.take();
    try {
      const shut = await isolation();
      const place = { ...shut, nodeOptions: nodeOptions ?? shut.nodeOptions, child, clock };
      if (type !== 'application/pdf') return await readOnce(bytes, type, limits ?? PICTURE_LIMITS, place);
      const text = await readOnce(bytes, type, limits ?? PDF_LIMITS, place);
      if (!isScan(text)) return text;
      const scan = await readOnce(bytes, SCANNED_PDF, limits ?? PICTURE_LIMITS, place);
      return 'lines' in scan || !('lines' in text) ? scan : text;
    } finally {
      done();
    }
  };
}

/**
 * Whether this machine runs the reader's process at all. The bytes are no document: a process that works says so, after
 * it has loaded its library.
 */
export async function isReading(reader: Reader): Promise<boolean> {
  const result = await reader(Buffer.from('no document'), 'application/pdf');
  return 'fault' in result && result.fault === 'damaged';
}

/** Reads the text that a PDF has itself, within these limits. No picture in it goes to the OCR: a scan has no text. */
export function pdfTextReader(clock: Clock, limits: ReaderLimits): Reader {
  return async (bytes, type) => {
    const text = await readOnce(bytes, type, limits, { ...(await isolation()), child: CHILD, clock });
    return isScan(text) ? { fault: 'no_text' } : text;
  };
}

/** Whether a PDF has so little text that its pages may be pictures. */
function isScan(text: ReadResult): boolean {
  if ('fault' in text) return text.fault === 'no_text';
  return text.lines.join('').replace(/\s/g, '').length < LEAST_TEXT;
}

type Place = Isolation & { readonly child: string; readonly clock: Clock };

function readOnce(bytes: Buffer, type: string, limits: ReaderLimits, place: Place): Promise<ReadResult> {
  const process = start(type, limits, place);
  return new Promise((resolve) => {
    let answer = '';
    let late = false;
    let tooLong = false;
    const timer = place.clock.after(limits.timeMs, () => {
      late = true;
      kill(process);
    });
    process.stdout?.setEncoding('utf8');
    process.stdout?.on('data', (part: string) => {
      answer += part;
      if (answer.length <= MOST_ANSWER) return;
      tooLong = true;
      answer = '';
      kill(process);
    });
    // A process that ends before it has read all is told by its end.
    process.stdin?.on('error', () => {});
    process.on('error', () => {
      timer.cancel();
      resolve({ fault: 'reader_failed' });
    });
    process.on('close', (code, signal) => {
      timer.cancel();
      if (late) resolve({ fault: 'reader_time' });
      else resolve(tooLong ? { fault: 'reader_failed' } : resultOf(answer, code, signal));
    });
    process.stdin?.end(bytes);
  });
}

/**
 * `ulimit` is in each POSIX shell. No file is written, and a crash leaves no image of the memory. Where the machine has
 * no more memory, Linux ends this process first, and not the service.
 */
const LIMITED =
  '{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; ulimit -c 0; ulimit -f 0; ulimit -d "$1"; ulimit -t "$2"; shift 2; exec "$@"';

function start(type: string, { timeMs, memoryMiB, heapMiB }: ReaderLimits, place: Place): ChildProcess {
  const options = [...place.nodeOptions, `--max-old-space-size=${heapMiB}`];
  const node = [process.execPath, ...options, place.child, type];
  const limits = [`${memoryMiB * 1024}`, `${Math.ceil(timeMs / 1000)}`];
  return spawn('/bin/sh', ['-c', LIMITED, 'sh', ...limits, ...place.before, ...node], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
    // A group of its own, so that nothing of the process is left.
    detached: true,
  });
}

function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** What Node.js ends with where it gets no more memory: an abort, or by the shell its number + 128. */
const OUT_OF_MEMORY = new Set<string | number>([
  'SIGABRT',
  'SIGTRAP',
  'SIGILL',
  'SIGSEGV',
  134,
  133,
  132,
  139,
]);
/** The time of the processor is over. */
const OUT_OF_TIME = new Set<string | number>(['SIGXCPU', 'SIGKILL', 152, 137]);

function resultOf(answer: string, code: number | null, signal: NodeJS.Signals | null): ReadResult {
  const end = signal ?? code ?? 0;
  if (OUT_OF_MEMORY.has(end)) return { fault: 'reader_memory' };
  if (OUT_OF_TIME.has(end)) return { fault: 'reader_time' };
  if (end !== 0) return { fault: 'reader_failed' };
  try {
    const value: unknown = JSON.parse(answer);
    if (!Value.Check(ANSWER, value)) return { fault: 'reader_failed' };
    const isLong = 'lines' in value && value.lines.join('').length > MOST_TEXT;
    return isLong ? { fault: 'reader_failed' } : value;
  } catch {
    return { fault: 'reader_failed' };
  }
}

/** Lets so many do something at once; the others wait in their order. */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(free: number) {
    this.#free = free;
  }

  /** Resolves when it is the caller's turn; call what is returned when the turn is over. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((go) => this.#waiting.push(go));
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}
