/** What commands write: one JSON value for programs, tables for people. */
import { Writable } from 'node:stream';
import { inLine, printable } from './terminal-text.ts';

/** Where a program writes and what it ends with; `process` is one. */
export interface Io {
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Set where the program failed: 1, or 2 where it was not used as it is meant. */
  exitCode?: number | string | null | undefined;
}

/** The reader went away (a pipe into `head`): nobody is left to tell, and nothing is wrong. */
export class OutputClosed extends Error {}

/** Rows that a table shows where nothing else is asked for. */
const TABLE_ROWS = 50;
/** JSON text is written in pieces of about this many characters. */
const PIECE = 65_536;

export interface Column<T> {
  readonly title: string;
  readonly value: (item: T) => string | number | null;
}

export interface ListOptions {
  readonly json?: boolean;
  readonly limit?: number;
}

/** How many rows a list shows at most. */
export function shownRows({ json, limit }: ListOptions): number {
  return limit ?? (json === true ? Infinity : TABLE_ROWS);
}

/** Writes a text, made safe for a terminal, and waits until it is taken. Throws `OutputClosed`. */
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

/** Says a text, made safe for a terminal, on standard error; nobody waits for it. */
export function writeNote({ stderr }: Pick<Io, 'stderr'>, text: string): void {
  stderr.write(printable(text));
}

/** The same program, which goes on where nobody reads what it says. */
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
  // Each write hears of its failure; without a listener the stream would end the process.
  stdout.on('error', () => {});
  return {
    stdout,
    stderr: io.stderr,
    set exitCode(code: Io['exitCode']) {
      io.exitCode = code;
    },
  };
}

/** Writes one JSON value. */
export function writeJson(io: Io, value: unknown): Promise<void> {
  return writeOutput(io, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Writes a list: with `json` as a whole and streamed, else a table of the first `limit` (50) and how to see
 * the rest. With both, as many as asked for.
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

/** Lines and colours would only be in the way of a pipe. */
const PLAIN = {
  chars: {
    top: '', 'top-mid': '', 'top-left': '', 'top-right': '',
    bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '',
    left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ',
  },
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
}; // biome-ignore format: one table

async function tableOf<T>(items: readonly T[], columns: readonly Column<T>[]): Promise<string> {
  // Not before it is needed: most commands show no table.
  const { default: Table } = await import('cli-table3');
  const table = new Table({ ...PLAIN, head: columns.map(({ title }) => title) });
  for (const item of items) table.push(columns.map(({ value }) => inLine(cell(value(item)))));
  return table.toString().replace(/ +$/gm, '');
}

/** Labels and values below each other, for one thing. */
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

/** A time for people: to the second, in UTC. */
export function shortTime(time: Date | null): string | null {
  return time === null ? null : `${time.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
