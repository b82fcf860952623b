/** The layering of src and its house rules, checked on every file. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { test } from 'node:test';
import { importsOf, REPOSITORY, readSources, type Source } from './support/sources.ts';

const MAX_LINES = 300;

/**
 * The imports that a room of src may have, besides itself and the rooms within it. A room is a folder, or a folder
 * within another one that has its own line.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  contract: ['domain'],
  storage: ['domain'],
  channel: ['domain'],
  // Operators and the upkeep need the rules and the statements of delivery.
  usecases: [
    'domain',
    'storage',
    'channel',
    'messages/rules',
    'messages/sql',
    'events/push/http',
    'events/push/sql',
  ],
  http: ['usecases', 'contract', 'domain'],
  // Everything about messages. The rules and the statements have their own rooms.
  delivery: ['domain', 'storage', 'channel'],
  'messages/rules': ['domain'],
  'messages/sql': ['messages/rules', 'domain', 'storage'],
  // Everything about pushes to partners. HTTP, the rules and the statements have their own rooms.
  push: ['domain', 'contract', 'storage'],
  'events/push/http': ['domain', 'storage'],
  'events/push/rules': ['domain'],
  'events/push/sql': ['domain', 'storage'],
  // The domain too, because options with a closed list of values use the list itself.
  cli: ['usecases', 'domain', 'bulk'],
  // Rows of a file, then their applications, then the requests: each room may import the rooms before it.
  'bulk/read': [],
  'bulk/map': ['bulk/read', 'domain', 'contract'],
  'bulk/send': ['bulk/read', 'bulk/map', 'domain'],
  // The composition root: it may import every room, and only the entry may import it.
  app: ['cli', 'http', 'delivery', 'push', 'usecases', 'channel', 'storage', 'domain'],
  'app/config': ['domain'],
};
/** The files of src itself, each with its allowed imports. */
const ENTRY: Readonly<Record<string, readonly string[]>> = {
  'start.js': ['run.js'],
  'run.js': ['main.ts'],
  'main.ts': ['app', 'cli'],
  'submit.ts': ['cli'],
};
/** The compiled program, which only the package of `npm pack` has. */
const COMPILED = { file: 'run.js', specifier: '../dist/src/main.js' };
/** The bulk command sends through the partners' client. */
const CLIENT = { room: 'bulk/send', path: '../client/src/' };
/** The pure rooms. Other rooms may import any package and any module of Node. */
const PURE = ['domain', 'messages/rules', 'events/push/rules'];
const PURE_PACKAGES = /^(libphonenumber-js(\/|$)|ipaddr\.js$|node:zlib$)/;

const SOURCES: readonly Source[] = readSources('src');

/** The faults of a file's imports, one line each. */
function violations({ path, text }: Source): string[] {
  return importsOf(text)
    .map((specifier) => [specifier, objection(path, specifier)] as const)
    .filter(([, reason]) => reason !== undefined)
    .map(([specifier, reason]) => `src/${path} imports ${specifier}: ${reason}`);
}

function objection(path: string, specifier: string): string | undefined {
  if (path === COMPILED.file && specifier === COMPILED.specifier) return undefined;
  const room = roomOf(path);
  const allowed = MAY_IMPORT[room] ?? ENTRY[path];
  if (allowed === undefined) return `src/${path} is in no room of the table`;
  if (!specifier.startsWith('.')) {
    return PURE.some((pure) => isIn(room, pure)) && !PURE_PACKAGES.test(specifier)
      ? `${room} is pure`
      : undefined;
  }
  const target = posix.join(posix.dirname(path), specifier);
  if (isIn(room, CLIENT.room) && target.startsWith(CLIENT.path)) return undefined;
  if (target.startsWith('..')) return 'outside src';
  // A file of src itself is in no room, so only a room that names the file may import it.
  const targetRoom = roomOf(target) || target;
  if ([room, ...allowed].some((one) => one !== '' && isIn(targetRoom, one))) return undefined;
  return `${room || path} may import ${['itself', ...allowed].join(', ')}`;
}

/** The innermost room of a file by the table; empty where there is none. */
function roomOf(path: string): string {
  const rooms = Object.keys(MAY_IMPORT).filter((room) => path.startsWith(`${room}/`));
  return rooms.sort((a, b) => b.length - a.length)[0] ?? '';
}

/** True where a room is `outer` or within it. */
function isIn(room: string, outer: string): boolean {
  return room === outer || room.startsWith(`${outer}/`);
}

test('every import is allowed by the table', () => {
  assert.ok(SOURCES.length > 40, `read only ${SOURCES.length} files`);
  const imports = SOURCES.flatMap(({ text }) => importsOf(text));
  assert.ok(imports.length > 3 * SOURCES.length, `found only ${imports.length} imports`);
  for (const room of Object.keys(MAY_IMPORT)) {
    assert.ok(
      SOURCES.some(({ path }) => roomOf(path) === room),
      `no files in src/${room}`,
    );
  }
  assert.deepEqual(SOURCES.flatMap(violations), []);
});

test('the check finds as many imports as there are lines that begin one', () => {
  for (const { path, text } of SOURCES) {
    const begun = text.match(/^(import\b(?!\.)|export (type )?(\{[^}]*\}|\*.*) from)/gm)?.length ?? 0;
    const dynamic = text.match(/(?<!^)\bimport\s*\(/gm)?.length ?? 0;
    assert.equal(importsOf(text).length, begun + dynamic, path);
  }
});

test('every imported file exists, and every imported package is a dependency of the program', () => {
  const { dependencies } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
  for (const { path, text } of SOURCES) {
    for (const specifier of importsOf(text)) {
      if (specifier === COMPILED.specifier) continue;
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

test('the check finds planted violations', () => {
  const planted: [path: string, text: string][] = [
    ['domain/a.ts', "import { x } from '../storage/database.ts';"],
    ['domain/a.ts', "import type { X } from '../app/config/config.ts';"],
    ['domain/a.ts', "import { readFile } from 'node:fs/promises';"],
    ['domain/a.ts', "import pg from 'pg';"],
    ['contract/a.ts', "export { x } from '../usecases/keys.ts';"],
    ['contract/a.ts', "export * from '../http/partner-api.ts';"],
    ['storage/a.ts', "import {\n  x,\n  y,\n} from '../usecases/keys.ts';"],
    ['embedded/a.ts', "import '../../http/partner-api.ts';"],
    ['usecases/a.ts', "const x = await import('../http/partner-api.ts');"],
    ['usecases/a.ts', 'const x = await import(\n  "../contract/texts.ts"\n);'],
    ['http/a.ts', "import { x } from '../storage/database.ts';"],
    ['http/a.ts', "import { x } from '../app/serve.ts';"],
    ['cli/a.ts', "import { x } from '../contract/texts.ts';"],
    ['cli/a.ts', "import { x } from '../app/open-store.ts';"],
    ['cli/a.ts', "import { x } from '../../client/src/index.ts';"],
    ['bulk/map/a.ts', "import { x } from '../../usecases/keys.ts';"],
    ['bulk/map/a.ts', "import { x } from '../send/journal.ts';"],
    ['bulk/map/a.ts', "import { x } from '../../../client/src/index.ts';"],
    ['bulk/send/a.ts', "import { x } from '../../../test/support/service.ts';"],
    ['bulk/a.ts', "import { x } from './read/table.ts';"],
    ['delivery/a.ts', "import { x } from '../usecases/keys.ts';"],
    ['messages/rules/a.ts', "import { x } from '../sql/claim.ts';"],
    ['messages/rules/a.ts', "import { x } from 'node:crypto';"],
    ['messages/sql/a.ts', "import { x } from '../turn.ts';"],
    ['usecases/a.ts', "import { x } from '../delivery/turn.ts';"],
    ['storage/a.ts', "import { x } from '../delivery/sql/claim.ts';"],
    ['usecases/a.ts', "import { x } from '../push/turn.ts';"],
    ['events/push/rules/a.ts', "import { x } from '../sql/claim.ts';"],
    ['events/push/turn.ts', "import { x } from '../delivery/turn.ts';"],
    ['channel/a.ts', "import { x } from '../delivery/rules/settle.ts';"],
    ['app/serve.ts', "import { x } from '../main.ts';"],
    ['app/serve.ts', "import { x } from '../../test/support/service.ts';"],
    ['app/serve.ts', "import { x } from '../bulk/send/send.ts';"],
    ['app/config/a.ts', "import { x } from '../open-store.ts';"],
    ['main.ts', "import { x } from './storage/database.ts';"],
    ['start.js', "import('./main.ts');"],
    ['run.js', "await import('./cli/program.ts');"],
    ['http/a.ts', "import { x } from '../../bench/load.ts';"],
    ['helpers/a.ts', "import { x } from '../domain/time.ts';"],
    ['helpers.ts', "import { x } from './domain/time.ts';"],
  ];
  for (const [path, text] of planted) assert.equal(violations({ path, text }).length, 1, `${path}: ${text}`);
  const fine: [path: string, text: string][] = [
    ['domain/a.ts', "import { x } from 'libphonenumber-js/max';\nimport { y } from './fields.ts';"],
    ['embedded/a.ts', "import pg from 'pg';\nimport type { X } from '../../domain/time.ts';"],
    [
      'bulk/send/a.ts',
      "import { x } from '../../../client/src/index.ts';\nimport { y } from '../read/table.ts';",
    ],
    ['cli/a.ts', "import { x } from '../bulk/map/check.ts';"],
    ['usecases/a.ts', "import { x } from '../delivery/sql/pauses.ts';"],
    ['delivery/a.ts', "import { x } from '../storage/database.ts';\nimport { y } from './rules/settle.ts';"],
    ['main.ts', "import { x } from './cli/program.ts';\nawait import('./app/process-roles.ts');"],
    ['app/serve.ts', "import { x } from './config/config.ts';\nexport { y } from '../http/partner-api.ts';"],
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

test('every file has a docstring at its top or on an export', () => {
  const silent = SOURCES.filter(({ text }) => !/^(#!.*\n)?\/\*\*|\*\/\nexport /.test(text));
  assert.deepEqual(
    silent.map(({ path }) => path),
    [],
  );
});

test('no file has a note for later or writes past the log', () => {
  for (const { path, text } of SOURCES) {
    // XXX is a currency code too. As a mark it begins a comment or ends with a colon.
    assert.doesNotMatch(text, /\b(TODO|FIXME)\b|(\/\/|\*) *XXX\b|\bXXX:/, path);
    assert.doesNotMatch(text, /\bconsole\s*\./, path);
  }
});
