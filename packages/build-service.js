/** Writes `dist`, the compiled program, which `npm pack` puts into the package `ventanilla`. */
import { cpSync } from 'node:fs';
import { extname, join } from 'node:path';
import { compile, REPOSITORY, writeVersion } from './compile.js';

const DIST = join(REPOSITORY, 'dist');

compile(join(import.meta.dirname, 'service.tsconfig.json'), DIST);
// The pages load their own scripts, styles and pictures; layouts are data.
for (const folder of ['src/docs-page/page', 'src/http', 'src/simulator/page', 'src/documents/layouts']) {
  cpSync(join(REPOSITORY, folder), join(DIST, folder), {
    recursive: true,
    // A page's script must not replace a compiled module.
    force: false,
    errorOnExist: true,
    filter: (path) => extname(path) !== '.ts',
  });
}
cpSync(join(REPOSITORY, 'migrations'), join(DIST, 'migrations'), { recursive: true });
writeVersion(DIST);
