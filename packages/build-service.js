/** Writes `dist`, the compiled program, which `npm pack` puts into the package `ventanilla`. */
import { spawnSync } from 'node:child_process';
import { constants, copyFileSync, cpSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { compile, REPOSITORY, writeVersion } from './compile.js';

const DIST = join(REPOSITORY, 'dist');

compile(join(import.meta.dirname, 'service.tsconfig.json'), DIST);
// The pages load their own scripts, styles and pictures; layouts are data.
for (const folder of [
  'src/listeners/docs-page/page',
  'src/listeners/partner',
  'src/subjects/simulator/page',
  'src/subjects/documents/layouts',
]) {
  const entries = readdirSync(join(REPOSITORY, folder), { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile())) {
    if (extname(name) === '.ts') continue;
    const path = join(parentPath, name);
    const copy = join(DIST, relative(REPOSITORY, path));
    mkdirSync(dirname(copy), { recursive: true });
    // A page's script must not replace a compiled module.
    copyFileSync(path, copy, constants.COPYFILE_EXCL);
  }
}
// The pages of the console and of the portal are built whole, so the package needs none of what builds them.
const builder = join(REPOSITORY, 'console/build.js');
for (const page of ['console', 'portal']) {
  const { status } = spawnSync(process.execPath, [builder, page], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  cpSync(join(REPOSITORY, page, 'dist'), join(DIST, page, 'dist'), { recursive: true });
}
for (const folder of ['migrations', 'sql']) {
  cpSync(join(REPOSITORY, folder), join(DIST, folder), { recursive: true });
}
writeVersion(DIST);
