/** Compiles TypeScript of the repository for a package. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const REPOSITORY = join(import.meta.dirname, '..');

/**
 * Compiles a project to a folder, where the files lie as they do in the repository. So a relative path of the code
 * leads to the same file in both. Comments stay: the code of a stack trace can be read.
 */
export function compile(project, outDir) {
  // A file of an earlier build would be packed too.
  rmSync(outDir, { recursive: true, force: true });
  const compiler = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));
  const { status } = spawnSync(process.execPath, [compiler, '-p', project, '--outDir', outDir], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

/** Writes the package.json that the compiled code reads its version from. */
export function writeVersion(outDir) {
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
  writeFileSync(join(outDir, 'package.json'), `${JSON.stringify({ type: 'module', version })}\n`);
}
