/**
 * Writes the output of commands: one JSON value for programs, tables for people (docs/operations.md, "Commands").
 * Writes to the streams of `Io` alone.
 */
import { type Readable, Writable } from 'node:stream';
import { inLine, printable } from '../../ground/base/plain-text.ts';

/** The streams and the exit code of a program; `process` is one. */
export interface Io {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly stdin?: Readable;
  /** 1 after a failure, 2 after wrong use, 70 after a fault of the program. */
  exitCode?: number | string | null | undefined;
}

/** The reader of the output has left, for example a pipe into `head`. Nothing is wrong, so the program ends quietly. */
export class OutputClosed extends Error {}

/** Rows of a table without `--limit`. */
const TABLE_ROWS = 50;
/** Characters of JSON in one write, about. */
const PIECE = 65_536;

export interface Column<T> {
  readonly title: string;
  readonly value: (item: T) => string | number | null;
}

export interface ListOptions {
  readonly json?: boolean;
  readonly limit?: number;
}

/** The most rows that a list shows. */
export function shownRows({ json, limit }: ListOptions): number {
  return limit ?? (json === true ? Infinity : TABLE_ROWS);
}

/** Writes a text to stdout, safe for a terminal, and waits until the stream has taken it. Throws `OutputClosed`. */
export function writeOutput({ stdout }: Io, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(printable(text), (error) => {
      if (!error) resolve();
      else if ('code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')) {
        reject(new OutputClosed());
      } else reject(error);
    });
  });
}

/** Writes a text to stderr, safe for a terminal, without waiting. */
export function writeNote({ stderr }: Pick<Io, 'stderr'>, text: string): void {
  stderr.write(printable(text));
}

/** The streams of a program that goes on after the reader of its output has left. */
export function unheard(io: Io): Io {
  const stdout = new Writable({
    decodeStrings: false,
    write(text, _encoding, done) {
      writeOutput(io, text).then(
        () => done(),
        (error) => done(error instanceof OutputClosed ? null : error),
      );
    },
  });
  // Each write reports its own failure. Without a listener the stream would end the process.
  stdout.on('error', () => {});
  return {
    stdout,
    stderr: io.stderr,
    set exitCode(code: Io['exitCode']) {
      io.exitCode = code;
    },
  };
}

/** Writes one JSON value. `named` (`ground/base/named.ts`) gives members the names of JSON. */
export function writeJson(io: Io, value: unknown): Promise<void> {
  return writeOutput(io, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Writes a list. With `json` it streams the whole list, or the first `limit` elements. Without `json` it writes a
 * table of the first `limit` (default 50) and says how to see the rest; for an empty list it writes `view.none`.
 */
export async function writeList<T>(
  io: Io,
  items: AsyncIterable<T> | Iterable<T>,
  options: ListOptions,
  view: { columns: readonly Column<T>[]; json: (item: T) => unknown; none: string },
): Promise<void> {
  const limit = shownRows(options);
  if (options.json === true) return writeJsonList(io, items, limit, view.json);
  const shown: T[] = [];
  let more = false;
  for await (const item of items) {
    more = shown.length === limit;
    if (more) break;
    shown.push(item);
  }
  if (shown.length === 0) return writeOutput(io, `${view.none}\n`);
  await writeOutput(io, `${await tableOf(shown, view.columns)}\n`);
  if (more) await writeOutput(io, `\nThese are the newest ${limit}: --limit N shows N, --json shows all.\n`);
}

async function writeJsonList<T>(
  io: Io,
  items: AsyncIterable<T> | Iterable<T>,
  limit: number,
  json: (item: T) => unknown,
): Promise<void> {
  let piece = '[';
  let count = 0;
  for await (const item of items) {
    piece += `${count === 0 ? '\n' : ',\n'}${JSON.stringify(json(item))}`;
    count += 1;
    if (piece.length >= PIECE) {
      await writeOutput(io, piece);
      piece = '';
    }
    if (count === limit) break;
  }
  await writeOutput(io, `${piece}${count === 0 ? '' : '\n'}]\n`);
}

/** No lines and no colours: programs that read a table through a pipe could not use them. */
const PLAIN = {
  chars: {
    top: '', 'top-mid': '', 'top-left': '', 'top-right': '',
    bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '',
    left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ',
  },
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
}; // biome-ignore format: one table

async function tableOf<T>(items: readonly T[], columns: readonly Column<T>[]): Promise<string> {
  // Loaded here, because most commands show no table.
  const { default: Table } = await import('cli-table3');
  const table = new Table({ ...PLAIN, head: columns.map(({ title }) => title) });
  for (const item of items) table.push(columns.map(({ value }) => inLine(cell(value(item)))));
  return table.toString().replace(/(?<! ) +$/gm, '');
}

/** One thing as lines of a label and a value. */
export function recordOf(
  entries: readonly (readonly [label: string, value: string | number | null])[],
): string {
  const width = Math.max(...entries.map(([label]) => label.length)) + 2;
  const indent = `\n${' '.repeat(width)}`;
  return entries
    .map(([label, value]) => label.padEnd(width) + cell(value).replaceAll('\n', indent))
    .join('\n');
}

function cell(value: string | number | null): string {
  return value === null || value === '' ? '-' : String(value);
}

/** A time for people, to the second, in UTC. */
export function shortTime(time: Date | null): string | null {
  return time === null ? null : `${time.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
