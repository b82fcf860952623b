/** The project's modules as text, for tests of their imports. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const REPOSITORY = resolve(import.meta.dirname, '../..');

export interface Source {
  /** The path in the folder, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Every module of a folder of the repository, in the order of their paths. */
export function readSources(folder: string): Source[] {
  return readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[cm]?[jt]sx?$/.test(name))
    .map((name) => name.replaceAll('\\', '/'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(REPOSITORY, folder, path), 'utf8') }));
}

/** The modules of the program: those of src by their path there, those of packages by their path in the repository. */
export function readProgram(): Source[] {
  return [
    ...readSources('src'),
    ...readSources('packages/submit/src').map(({ path, text }) => ({
      path: `packages/submit/src/${path}`,
      text,
    })),
  ];
}

/** The path in the repository of a module of the program. */
export function placeOf(path: string): string {
  return path.startsWith('packages/') ? path : `src/${path}`;
}

/** The SQL of the database: the migrations, and the source of functions. */
export function readSql(): Source[] {
  return ['migrations', 'sql'].flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.sql'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .sort()
      .map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), 'utf8') })),
  );
}

/** Every module that a file imports: `import ... from`, `export ... from`, `import '...'`, `import('...')`. */
export function importsOf(text: string): string[] {
  const statement =
    /\bfrom\s*(['"])([^'"`\s]+)\1|\bimport\s*(['"])([^'"`\s]+)\3|\bimport\s*\(\s*(['"`])([^'"`\s]+)\5/g;
  return [...text.matchAll(statement)].map((match) => (match[2] ?? match[4] ?? match[6]) as string);
}
