/** Writes `dist/`: ES modules, and the same as CommonJS in `dist/cjs/`, each with its types. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
// Found in client/node_modules or in the repository's, whichever `npm ci` filled.
const compiler = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));

function compile(...options) {
  const { status } = spawnSync(process.execPath, [compiler, '-p', here('.'), ...options], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

// A file of an earlier build would be packed too.
rmSync(here('dist'), { recursive: true, force: true });
mkdirSync(here('dist/cjs'), { recursive: true });
// Without this file Node and compilers take `dist/cjs` for ES modules.
writeFileSync(here('dist/cjs/package.json'), '{ "type": "commonjs" }\n');
compile();
compile('--module', 'commonjs', '--moduleResolution', 'bundler', '--outDir', here('dist/cjs'));
