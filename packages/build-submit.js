/**
 * Writes what `npm pack` puts into the package `ventanilla-submit`: the modules that `submit` loads, and its libraries
 * in the tested versions, so that an install needs no registry. Of libphonenumber-js, which has the same code in eight
 * forms (13 MB), only the files that are loaded are taken.
 */
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { compile, REPOSITORY, writeVersion } from './compile.js';
import { reached } from './reached.js';

const PACKAGE = join(import.meta.dirname, 'submit');
const DIST = join(PACKAGE, 'dist');
const LIBRARIES = join(PACKAGE, 'node_modules');
/** The modules of libphonenumber-js that the program imports, as the library's package.json maps them. */
const PHONES = ['max/index.js', 'metadata.max.json.js'];

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

compile(join(PACKAGE, 'tsconfig.json'), DIST);
const { files, packages } = reached(join(DIST, 'packages/submit/src/main.js'));
for (const path of filesBelow(DIST)) {
  // The compiler also writes modules that are imported for their types alone.
  if (!files.has(path)) rmSync(path);
}
writeVersion(DIST);
cpSync(join(REPOSITORY, 'docs/submit.md'), join(DIST, 'submit.md'));

const { dependencies } = readJson(join(PACKAGE, 'package.json'));
const unlisted = [...packages].filter((name) => !(name in dependencies));
if (unlisted.length > 0) throw new Error(`packages/submit/package.json does not list ${unlisted.join(', ')}`);
rmSync(LIBRARIES, { recursive: true, force: true });
for (const name of withTheirs(Object.keys(dependencies))) {
  const source = join(REPOSITORY, 'node_modules', name);
  const taken =
    name === 'libphonenumber-js' ? reached(...PHONES.map((path) => join(source, path))).files : null;
  for (const path of filesBelow(source)) {
    const isNeeded = taken === null || taken.has(path) || /(package\.json|LICENSE)$/.test(path);
    if (isNeeded) cpSync(path, join(LIBRARIES, name, path.slice(source.length)));
  }
}

/** The names of packages with those of their dependencies. All of them lie beside each other in the repository. */
function withTheirs(names) {
  const all = new Set(names);
  for (const name of all) {
    const own = readJson(join(REPOSITORY, 'node_modules', name, 'package.json')).dependencies ?? {};
    for (const dependency of Object.keys(own)) all.add(dependency);
  }
  return all;
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
