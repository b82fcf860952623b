/** A copy of the checkout in which faults are brought back, so that the checkout itself stays as it is. */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { transformSync } from 'esbuild';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const LOADERS = { '.ts': 'ts', '.tsx': 'tsx', '.js': 'js', '.css': 'css' } as const;

/**
 * Copies what git tracks and what it would track, as it is in the working tree, into a new temporary folder, and links
 * the installed packages. Returns the folder, which goes with the process.
 */
export function copyCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ventanilla-faults-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', args, { cwd: REPOSITORY, encoding: 'utf8' });
  for (const path of new Set(listed.split('\0'))) {
    // The index may name a file that is deleted, and packages may be a link.
    if (!statSync(join(REPOSITORY, path), { throwIfNoEntry: false })?.isFile()) continue;
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    copyFileSync(join(REPOSITORY, path), join(folder, path));
  }
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** The text of a file of the copy; null: there is none. */
export function readIn(folder: string, file: string): string | null {
  const path = join(folder, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** Writes the texts into the copy. Returns what puts the files back. */
export function changeIn(folder: string, texts: ReadonlyMap<string, string>): () => void {
  const before = [...texts.keys()].map(
    (file) => [join(folder, file), readIn(folder, file) as string] as const,
  );
  for (const [file, text] of texts) writeFileSync(join(folder, file), text);
  return () => {
    for (const [path, text] of before) writeFileSync(path, text);
  };
}

/** What is wrong with the syntax of a changed file; null: nothing. SQL is not read. */
export function syntaxErrorIn(file: string, text: string): string | null {
  const loader = LOADERS[extname(file) as keyof typeof LOADERS];
  if (loader === undefined) return null;
  try {
    transformSync(text, { loader, logLevel: 'silent' });
    return null;
  } catch (error) {
    return `${file}: ${(error as Error).message.split('\n').slice(0, 2).join(' ')}`;
  }
}
