/** The layering of src and its house rules, checked on every file. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, posix, resolve } from 'node:path';
import { test } from 'node:test';

const REPOSITORY = resolve(import.meta.dirname, '..');
const MAX_LINES = 300;

/** What a folder of src may import besides itself. What stands at the root wires the rest and may import all. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  contract: ['domain'],
  storage: ['domain'],
  channel: ['domain'],
  usecases: ['domain', 'storage', 'channel'],
  http: ['usecases', 'contract', 'domain'],
  delivery: ['usecases'],
  // The domain too: options that take one of a closed list read the list itself.
  cli: ['usecases', 'domain', 'bulk'],
  bulk: ['domain', 'contract'],
};
/** The bulk command sends through the client that partners install. */
const CLIENT = { folder: 'bulk', path: '../client/src/' };
const ROOT = [
  'start.js',
  'main.ts',
  'lifetime.ts',
  'log.ts',
  'roles.ts',
  'service.ts',
  'background.ts',
  'store.ts',
  'config.ts',
  'config-error.ts',
  'config-whatsapp.ts',
  'garbage-collection.ts',
  'welcome.ts',
];
/** Only the root imports these, and main nobody. */
const COMPOSITION = ['main.ts', 'roles.ts', 'service.ts', 'background.ts', 'store.ts'];
/** Everybody else takes whatever package or module of Node helps. */
const DOMAIN_PACKAGES = /^(libphonenumber-js(\/|$)|node:zlib$)/;

interface Source {
  /** Below src, with slashes. */
  readonly path: string;
  readonly text: string;
}

const SOURCES: readonly Source[] = readdirSync(join(REPOSITORY, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.[cm]?[jt]sx?$/.test(name))
  .map((name) => name.replaceAll('\\', '/'))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(REPOSITORY, 'src', path), 'utf8') }));

/** Every module that a file names: `import ... from`, `export ... from`, `import '...'`, `import('...')`. */
function importsOf(text: string): string[] {
  const statement =
    /\bfrom\s*(['"])([^'"`\s]+)\1|\bimport\s*(['"])([^'"`\s]+)\3|\bimport\s*\(\s*(['"`])([^'"`\s]+)\5/g;
  return [...text.matchAll(statement)].map((match) => (match[2] ?? match[4] ?? match[6]) as string);
}

/** What is wrong with the imports of a file, one line each. */
function violations({ path, text }: Source): string[] {
  return importsOf(text)
    .map((specifier) => [specifier, objection(path, specifier)] as const)
    .filter(([, reason]) => reason !== undefined)
    .map(([specifier, reason]) => `src/${path} imports ${specifier}: ${reason}`);
}

function objection(path: string, specifier: string): string | undefined {
  const folder = folderOf(path);
  if (folder !== '' && MAY_IMPORT[folder] === undefined) return `src/${folder} is not in the table`;
  if (folder === '' && !ROOT.includes(path)) return 'the root of src is for the composition root';
  if (!specifier.startsWith('.')) {
    return folder === 'domain' && !DOMAIN_PACKAGES.test(specifier) ? 'domain is pure' : undefined;
  }
  const target = posix.join(posix.dirname(path), specifier);
  if (folder === CLIENT.folder && target.startsWith(CLIENT.path)) return undefined;
  if (target.startsWith('..')) return 'outside src';
  if (target === 'main.ts') return path === 'start.js' ? undefined : 'only start imports main';
  if (folder === '') return undefined;
  const targetFolder = folderOf(target);
  if (COMPOSITION.includes(target)) return 'nobody imports the composition root';
  if (targetFolder === folder || MAY_IMPORT[folder]?.includes(targetFolder)) return undefined;
  return `${folder} may import ${['itself', ...(MAY_IMPORT[folder] ?? [])].join(', ')}`;
}

function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] as string) : '';
}

test('every import keeps to the table', () => {
  assert.ok(SOURCES.length > 40, `read only ${SOURCES.length} files`);
  const imports = SOURCES.flatMap(({ text }) => importsOf(text));
  assert.ok(imports.length > 3 * SOURCES.length, `found only ${imports.length} imports`);
  for (const folder of ['domain', 'contract', 'storage', 'usecases', 'http', 'cli']) {
    assert.ok(
      SOURCES.some(({ path }) => path.startsWith(`${folder}/`)),
      `no files in src/${folder}`,
    );
  }
  assert.deepEqual(SOURCES.flatMap(violations), []);
});

test('no import is missed: as many as there are lines that begin one', () => {
  for (const { path, text } of SOURCES) {
    const begun = text.match(/^(import\b(?!\.)|export (type )?(\{[^}]*\}|\*.*) from)/gm)?.length ?? 0;
    const dynamic = text.match(/(?<!^)\bimport\s*\(/gm)?.length ?? 0;
    assert.equal(importsOf(text).length, begun + dynamic, path);
  }
});

test('what it imports is there, and packages are dependencies of the program', () => {
  const { dependencies } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
  for (const { path, text } of SOURCES) {
    for (const specifier of importsOf(text)) {
      if (specifier.startsWith('.')) {
        assert.ok(existsSync(join(REPOSITORY, 'src', dirname(path), specifier)), `${path}: ${specifier}`);
      } else if (!isBuiltin(specifier)) {
        const name = /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';
        assert.ok(name in dependencies, `${path}: ${name} is not in dependencies`);
      } else {
        assert.match(specifier, /^node:/, path);
      }
    }
  }
});

test('the check is not blind: planted violations are found', () => {
  const planted: [path: string, text: string][] = [
    ['domain/a.ts', "import { x } from '../storage/database.ts';"],
    ['domain/a.ts', "import type { X } from '../config.ts';"],
    ['domain/a.ts', "import { readFile } from 'node:fs/promises';"],
    ['domain/a.ts', "import pg from 'pg';"],
    ['contract/a.ts', "export { x } from '../usecases/keys.ts';"],
    ['contract/a.ts', "export * from '../http/partner-api.ts';"],
    ['storage/a.ts', "import {\n  x,\n  y,\n} from '../usecases/keys.ts';"],
    ['storage/embedded/a.ts', "import '../../http/partner-api.ts';"],
    ['usecases/a.ts', "const x = await import('../http/partner-api.ts');"],
    ['usecases/a.ts', 'const x = await import(\n  "../contract/texts.ts"\n);'],
    ['http/a.ts', "import { x } from '../storage/database.ts';"],
    ['http/a.ts', "import { x } from '../service.ts';"],
    ['cli/a.ts', "import { x } from '../contract/texts.ts';"],
    ['cli/a.ts', "import { x } from '../store.ts';"],
    ['cli/a.ts', "import { x } from '../../client/src/index.ts';"],
    ['bulk/a.ts', "import { x } from '../usecases/keys.ts';"],
    ['bulk/a.ts', "import { x } from '../../test/support/service.ts';"],
    ['delivery/a.ts', "import { x } from '../domain/notify.ts';"],
    ['service.ts', "import { x } from './main.ts';"],
    ['service.ts', "import { x } from '../test/support/service.ts';"],
    ['http/a.ts', "import { x } from '../../bench/load.ts';"],
    ['helpers/a.ts', "import { x } from '../domain/notify.ts';"],
    ['helpers.ts', "import { x } from './domain/notify.ts';"],
  ];
  for (const [path, text] of planted) assert.equal(violations({ path, text }).length, 1, `${path}: ${text}`);
  const fine: [path: string, text: string][] = [
    ['domain/a.ts', "import { x } from 'libphonenumber-js/max';\nimport { y } from './fields.ts';"],
    ['storage/embedded/a.ts', "import pg from 'pg';\nimport type { X } from '../../domain/fields.ts';"],
    ['bulk/a.ts', "import { x } from '../../client/src/index.ts';"],
    ['main.ts', "import { x } from './service.ts';\nexport { y } from './http/partner-api.ts';"],
  ];
  for (const [path, text] of fine) assert.deepEqual(violations({ path, text }), []);
});

test(`no file is longer than ${MAX_LINES} lines`, () => {
  const long = SOURCES.filter(({ text }) => text.split('\n').length - 1 > MAX_LINES);
  assert.deepEqual(
    long.map(({ path }) => path),
    [],
  );
});

test('every file says what it is for: at its top, or of something that it exports', () => {
  const silent = SOURCES.filter(({ text }) => !/^(#!.*\n)?\/\*\*|\*\/\nexport /.test(text));
  assert.deepEqual(
    silent.map(({ path }) => path),
    [],
  );
});

test('nothing is left for later, and nothing written past the log', () => {
  for (const { path, text } of SOURCES) {
    // XXX is also a currency's code: as a mark it begins a comment or ends with a colon.
    assert.doesNotMatch(text, /\b(TODO|FIXME)\b|(\/\/|\*) *XXX\b|\bXXX:/, path);
    assert.doesNotMatch(text, /\bconsole\s*\./, path);
  }
});
