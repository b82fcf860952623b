/**
 * Reads documents, each in a process of its own: with the system's limits of memory and time, without the service's
 * variables, and isolated as `isolation.ts` does it. Partners take turns where readings wait. docs/documents.md has the
 * rule, "The reader".
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { Type } from 'typebox';
import Value from 'typebox/value';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { FairQueue } from '../../../wire/gate/fair-queue.ts';
import type { ReaderCommand } from './isolation.ts';
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

/** The name of what read a document, for the evidence: the reader's own version, then those of its libraries. */
export const READER_VERSION = '2 (unpdf 1.8.1, tesseract.js-core 7.0.0)';

/**
 * `reader_time`, `reader_memory`, `reader_failed`: the process met a limit, or ended without an answer. `reader_off`:
 * this machine reads no document. `reading_limit`: the phone has used up its time of the day.
 */
export type ReadResult =
  | ReadText
  | { readonly fault: ReadFault | `reader_${'time' | 'memory' | 'failed' | 'off'}` | 'reading_limit' };

/** Whose turn a reading takes, and how its time is counted. */
export interface ReadingTurn {
  /** If readings wait, partners take turns. */
  readonly partnerId: PartnerId;
  /** Whether the phone has used up its time of the day. Then nothing is read. */
  readonly isOver: boolean;
  /** Called with the time of each process, in milliseconds. */
  readonly took: (ms: number) => void;
}

/** Reads a document of this type; never throws. */
export type Reader = (bytes: Buffer, type: string, turn?: ReadingTurn) => Promise<ReadResult>;

/** The limits of one reading. */
export interface ReaderLimits {
  readonly timeMs: number;
  /** The memory of the whole process. */
  readonly memoryMiB: number;
}

/**
 * Ten times what a document of 50 pages takes; the OCR of a large picture takes half a minute of a busy core. V8
 * reserves 512 MiB of the memory for its code, and uses 20.
 */
export const PDF_LIMITS: ReaderLimits = { timeMs: 15_000, memoryMiB: 1_024 };
export const PICTURE_LIMITS: ReaderLimits = { timeMs: 60_000, memoryMiB: 1_280 };

/**
 * Processes of each kind at once. Those that read text end within a second, so they do not wait for those that guess
 * from pictures for half a minute.
 */
const AT_ONCE = 2;
/** The answer has little more than the lines. */
const MOST_ANSWER = 6 * MOST_TEXT + 100 * MOST_LINES;
/** The pages of a PDF with less text may be pictures; the text may be the name of the scanning program. */
const LEAST_TEXT = 100;

/** No further members: a fault beside the lines would otherwise become the reason of the document. */
const EXACT = { additionalProperties: false };
const ANSWER = Type.Union([
  Type.Object(
    {
      method: Type.Union(METHODS.map((method) => Type.Literal(method))),
      pages: Type.Integer({ minimum: 0, maximum: MOST_ANSWER }),
      lines: Type.Array(Type.String({ maxLength: MOST_LINE_LENGTH }), { maxItems: MOST_LINES }),
      confidence: Type.Number({ minimum: 0, maximum: 1 }),
    },
    EXACT,
  ),
  Type.Object({ fault: Type.Union(FAULTS.map((fault) => Type.Literal(fault))) }, EXACT),
]);

/** Decides how a reader is started; null: not at all. */
export type ReaderChoice = () => Promise<ReaderCommand | null>;

/** The reader of this machine. Tests give `limits` that replace those of the type. */
export function processReader(clock: Clock, choose: ReaderChoice, limits?: ReaderLimits): Reader {
  const texts = new Turns(AT_ONCE);
  const pictures = new Turns(AT_ONCE);
  return async (bytes, type, turn) => {
    if (turn?.isOver) return { fault: 'reading_limit' };
    const command = await choose();
    if (command === null) return { fault: 'reader_off' };
    const once = async (turns: Turns, asType: string, some: ReaderLimits) => {
      const done = await turns.take(turn?.partnerId ?? NOBODY);
      const begunMs = clock.monotonicMs();
      try {
        return await readOnce(bytes, asType, limits ?? some, { ...command, clock });
      } finally {
        turn?.took(clock.monotonicMs() - begunMs);
        done();
      }
    };
    if (type !== 'application/pdf') return once(pictures, type, PICTURE_LIMITS);
    const text = await once(texts, type, PDF_LIMITS);
    if (!isScan(text)) return text;
    const scan = await once(pictures, SCANNED_PDF, PICTURE_LIMITS);
    return 'lines' in scan || !('lines' in text) ? scan : text;
  };
}

/**
 * Whether this machine cannot run the reader's process at all. The bytes of the trial are no document, and a working
 * process says so after it has loaded its library. A process whose time is over may work.
 */
export async function isFailing(reader: Reader): Promise<boolean> {
  const result = await reader(Buffer.from('no document'), 'application/pdf');
  return !('fault' in result && (result.fault === 'damaged' || result.fault === 'reader_time'));
}

/** An operator waits for the text, and soon after this time the listener itself ends the request. */
const SHOWN_LIMITS: ReaderLimits = { ...PDF_LIMITS, timeMs: 5_000 };

/** Reads only the text that a PDF contains. Its pictures do not go to the OCR, so a scan has no text. */
export function pdfTextReader(clock: Clock, choose: ReaderChoice): Reader {
  return async (bytes, type) => {
    const command = await choose();
    if (command === null) return { fault: 'reader_off' };
    const text = await readOnce(bytes, type, SHOWN_LIMITS, { ...command, clock });
    return isScan(text) ? { fault: 'no_text' } : text;
  };
}

/** Whether a PDF has so little text that its pages may be pictures. */
function isScan(text: ReadResult): boolean {
  if ('fault' in text) return text.fault === 'no_text';
  return text.lines.join('').replace(/\s/g, '').length < LEAST_TEXT;
}

type ReaderStart = ReaderCommand & { readonly clock: Clock };

async function readOnce(
  bytes: Buffer,
  type: string,
  limits: ReaderLimits,
  place: ReaderStart,
): Promise<ReadResult> {
  let process: ChildProcess;
  try {
    process = start(type, limits, place);
  } catch {
    // The service is root in a container that may not change its user.
    return { fault: 'reader_failed' };
  }
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
    // If a process ends before it has read all bytes, its end tells what happened.
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
 * Every POSIX shell has `ulimit`. No file is written, and a crash leaves no image of the memory. If the machine has no
 * more memory, Linux ends this process first, and not the service.
 */
const LIMITED =
  '{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; ulimit -c 0; ulimit -f 0; ulimit -d "$1"; ulimit -t "$2"; shift 2; exec "$@"';

/** Where the programs of a system lie, whatever the service's PATH says. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function start(type: string, { timeMs, memoryMiB }: ReaderLimits, place: ReaderStart): ChildProcess {
  const limits = [`${memoryMiB * 1024}`, `${Math.ceil(timeMs / 1000)}`];
  return spawn('/bin/sh', ['-c', LIMITED, 'sh', ...limits, ...place.command, type], {
    ...place.account,
    env: { PATH },
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore', ...nothingFor(place.closed)],
    // A process group of its own, so that its end leaves no process behind.
    detached: true,
  });
}

let nothing: number | undefined;

/** The open files from 3 on: /dev/null in the place of `files`, and all others as they are. */
function nothingFor(files: readonly number[]): (number | 'ignore')[] {
  if (files.length > 0) nothing ??= openSync('/dev/null', 'r');
  const length = Math.max(2, ...files) - 2;
  return Array.from({ length }, (_, index) => (files.includes(index + 3) ? (nothing as number) : 'ignore'));
}

function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

/** How Node.js ends if it gets no more memory: by an abort, which the shell tells as the signal's number + 128. */
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
/** How a process ends after its time of the processor. */
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

/** For readings without a partner, such as the trial. */
const NOBODY = 0 as PartnerId;

/** Lets `free` readings run at once. If more wait, partners take turns. */
class Turns {
  readonly #waiting = new FairQueue<() => void, PartnerId>();
  #free: number;

  constructor(free: number) {
    this.#free = free;
  }

  /** Resolves when it is the caller's turn. The caller calls the returned function at the end of the turn. */
  async take(partnerId: PartnerId): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((go) => this.#waiting.add(partnerId, 1, go));
    return () => {
      const next = this.#waiting.take();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}
