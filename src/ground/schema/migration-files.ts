/**
 * Reads the numbered SQL files of `migrations/` with their headers, and makes their checksums without comments. Reads
 * files once. The README of this folder has the rule of checksums, CONTRIBUTING.md that of headers.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

/**
 * The pieces that the reader takes as a whole: gaps, strings with backslashes, strings, quoted names and dollar quotes.
 * A quote without an end reaches to the end of the text. Every start and command reads all migrations with it. So a
 * single space, the most frequent gap, is no piece, and the groups have no names, which would cost more.
 */
const PIECE = new RegExp(
  [
    String.raw`((?! [^\s-])(?:\s+|--[^\n]*)+)`,
    String.raw`(?<![\w$])[eE]'(?:[^'\\]|\\[^]|'')*(?:'|$)`,
    "'(?:[^']|'')*(?:'|$)",
    '"(?:[^"]|"")*(?:"|$)',
    String.raw`(?<![\w$])(\$(?:[A-Za-z_]\w*)?\$)([^]*?)(?:\2|$)`,
  ].join('|'),
  'g',
);

/**
 * SQL with one space instead of each run of spaces, line ends and `--` comments. Strings and quoted names stay as they
 * are. A dollar quote counts as SQL, because migrations quote code alone that way. SQL with a comment of the other form
 * is returned as it is: such comments may hold quotes and each other.
 */
export function withoutComments(sql: string): string {
  return sql.includes('/*') ? sql : strip(sql).trim();
}

function strip(sql: string): string {
  return sql.replace(PIECE, (piece: string, gap?: string, tag?: string, body?: string) => {
    if (gap !== undefined) return ' ';
    return tag === undefined || body === undefined ? piece : tag + strip(body) + tag;
  });
}

const FOLDER = new URL('../../../migrations/', import.meta.url);
/** The first line of a file; files without it are of the first schema. */
const HEADER = /^-- Schema (\d+)(, additive)?\.\n/;

/** One file. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** The digest of the SQL without its comments, because a reworded comment changes nothing in the database. */
  readonly checksum: string;
  /** The version of the schema that the file belongs to. All files of one release have the same. */
  readonly schema: number;
  /** True if the release before the file's own also works on the tables after it. */
  readonly additive: boolean;
}

let files: Promise<readonly Migration[]> | undefined;

/** The migrations of this version, in order. They are read once, because each probe of `/readyz` needs them. */
export async function knownMigrations(): Promise<readonly Migration[]> {
  files ??= readMigrations().catch((error) => {
    files = undefined;
    throw error;
  });
  return files;
}

async function readMigrations(): Promise<readonly Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => readMigration(name, await readFile(new URL(name, FOLDER), 'utf8'))),
  );
}

/** A file as a migration. */
export function readMigration(name: string, sql: string): Migration {
  const [, schema, additive] = HEADER.exec(sql) ?? [];
  return {
    name,
    sql,
    checksum: createHash('sha256').update(withoutComments(sql)).digest('hex'),
    schema: Number(schema ?? 1),
    additive: additive !== undefined,
  };
}
