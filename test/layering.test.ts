/** The layering of src and its house rules, checked on every file. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { test } from 'node:test';
import { importsOf, REPOSITORY, readSources, type Source } from './support/sources.ts';

const MAX_LINES = 300;
const MAX_FILES = 25;

/**
 * The rules of different subjects may import each other's rules: rules are pure, and none of them has a floor below.
 */
const RULES = [
  ...['applications/rules', 'messages/rules', 'partners/rules', 'events/rules'],
  ...['conversation/rules', 'documents/rules', 'income/rules', 'signing/rules'],
];
/** What every use of a subject may need: its failures, the connection, what seals, and who asks. */
const GROUND = ['base', 'postgres', 'seal', 'operations'];
/** What a subject needs to put its parts together for the program. */
const PARTS = ['base', 'cli', 'operations', 'postgres', 'subject'];

/**
 * The imports that a room of src may have, besides itself and the rooms within it. A room is a folder, or a folder
 * within another one that has its own line. From the ground up: what has no subject, then the subjects, then `app`.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  // The connection to PostgreSQL, its schema, and the server that comes along.
  postgres: ['base'],
  schema: ['base', 'postgres'],
  embedded: ['base', 'postgres'],
  // Indexes and ids are made of values of the subjects. The file of secrets lies beside the embedded server's files.
  seal: ['base', 'postgres', 'embedded', ...RULES],
  operations: ['base', 'postgres', 'seal'],
  tracing: ['base', 'postgres', 'seal', ...RULES],
  // The shape of a subject's parts: it names what each part works with.
  subject: [
    ...['base', 'postgres', 'seal', 'operations', 'cli', 'contract'],
    ...['messages/channels', 'messages/rules', 'partners/rules'],
  ],
  // The wire, and the front of HTTP.
  contract: ['base', ...RULES],
  gate: ['base', 'contract', 'partners/rules'],
  'docs-page': ['base', 'contract', ...RULES],
  // What the routes and the commands of all subjects share. `http` also puts the partners' routes together.
  http: [
    ...['base', 'contract', 'gate', 'operations', 'tracing', ...RULES],
    ...['applications/routes', 'messages/routes', 'partners/routes', 'events/routes'],
    ...['partners/uses', 'events/uses'],
  ],
  cli: ['base', 'operations', 'applications/rules', 'partners/rules'],

  // The files of a subject's folder itself put its parts together for the program.
  partners: PARTS,
  applications: PARTS,
  messages: [...PARTS, 'applications/rules'],
  events: PARTS,
  bulk: ['cli', 'subject'],

  'partners/rules': ['base', ...RULES],
  'partners/sql': ['base', 'postgres', 'seal', ...RULES],
  'partners/uses': [...GROUND, ...RULES, 'partners/sql'],
  'partners/routes': ['base', 'contract', 'gate', ...RULES, 'partners/uses'],
  'partners/commands': ['base', 'cli', 'operations', ...RULES, 'partners/uses'],

  'applications/rules': ['base', ...RULES],
  'applications/sql': ['base', 'postgres', 'seal', ...RULES],
  // An operator sees an application with its messages.
  'applications/uses': [
    ...[...GROUND, ...RULES, 'applications/sql', 'tracing'],
    ...['messages/sql', 'partners/sql', 'partners/uses'],
  ],
  'applications/routes': ['base', 'contract', 'gate', ...RULES, 'applications/uses'],
  'applications/commands': [
    ...[
      'base',
      'cli',
      'operations',
      ...RULES,
      'applications/settings.ts',
      'applications/uses',
      'messages/uses',
    ],
  ],

  'messages/rules': ['base', ...RULES],
  'messages/sql': ['base', 'postgres', 'seal', ...RULES, 'applications/sql'],
  'messages/channels': ['base', ...RULES],
  'messages/intake': ['base', 'postgres', 'seal', ...RULES, 'applications/sql', 'messages/sql'],
  'messages/delivery': [
    ...['base', 'postgres', 'seal', 'subject', 'tracing', ...RULES, 'applications/sql'],
    ...['messages/sql', 'messages/channels', 'messages/intake'],
  ],
  'messages/uses': [...GROUND, ...RULES, 'messages/sql', 'partners/uses'],
  'messages/routes': ['base', 'contract', 'gate', ...RULES],
  'messages/commands': ['base', 'cli', 'operations', ...RULES, 'messages/uses'],

  'events/rules': ['base', ...RULES],
  'events/sql': ['base', 'postgres', 'seal', ...RULES, 'applications/sql'],
  'events/uses': [...GROUND, ...RULES, 'events/sql', 'applications/sql', 'partners/uses'],
  'events/routes': ['base', 'contract', 'gate', ...RULES, 'events/uses'],
  'events/commands': ['base', 'cli', 'operations', ...RULES, 'events/uses'],

  // What follows the tap on "I am interested", up to the signature.
  conversation: [
    ...[...PARTS, 'conversation/sql', 'conversation/uses'],
    ...['documents/open.ts', 'income/open.ts', 'messages/open.ts', 'signing/open.ts'],
  ],
  'conversation/rules': ['base', ...RULES],
  'conversation/sql': ['base', 'postgres', 'seal', ...RULES, 'applications/sql'],
  // The commands that decide on documents: the conversation hears of it.
  'conversation/commands': [
    ...['base', 'cli', 'operations', ...RULES, 'conversation/uses'],
    'documents/commands/document-store.ts',
  ],
  'conversation/uses': [
    ...[...GROUND, ...RULES, 'conversation/sql'],
    ...['applications/sql', 'messages/sql', 'events/sql', 'messages/channels'],
    ...['documents/uses', 'income/uses', 'signing/uses'],
  ],

  // Terms, contracts and their signature. The PDFs lie in the store of documents.
  signing: [...PARTS, 'seal', 'messages/channels', 'documents/open.ts', 'documents/files.ts'],
  'signing/rules': ['base', ...RULES],
  'signing/pdf': ['base', 'signing/rules'],
  'signing/senders': ['base', ...RULES, 'messages/channels'],
  'signing/sql': ['base', 'postgres', 'seal', ...RULES, 'applications/sql', 'documents/store'],
  'signing/uses': [
    ...[...GROUND, ...RULES, 'applications/sql', 'messages/uses/public-holidays.ts'],
    ...['messages/sql/replies.ts', 'messages/sql/suppressions.ts', 'documents/store'],
    ...['signing/settings.ts', 'signing/sql', 'signing/pdf', 'signing/senders'],
  ],
  'signing/commands': [
    ...['base', 'cli', 'operations', 'applications/rules', 'documents/open.ts'],
    ...['signing/open.ts', 'signing/uses'],
  ],

  // A push is an event on its way to a partner's endpoint.
  'events/push/rules': ['base'],
  'events/push/sql': ['base', 'postgres', 'seal', 'partners/rules', 'events/push/rules'],
  'events/push/http': ['base', 'seal', 'events/push/rules'],
  'events/push/uses': [
    ...[...GROUND, 'events/push/rules', 'events/push/sql', 'events/push/http'],
    ...['partners/rules', 'partners/sql', 'partners/uses'],
  ],
  'events/push/commands': [
    'base',
    'cli',
    'operations',
    'partners/rules',
    'events/push/rules',
    'events/push/uses',
  ],
  'events/push': [...PARTS, 'seal', 'contract', 'partners/rules', 'events/rules', 'events/sql'],

  // What seals is below the subjects. Each subject tells what it has sealed, and `app` tells the vault.
  'vault/sql': ['base', 'postgres', 'seal'],
  'vault/uses': [...GROUND, 'vault/sql'],
  'vault/commands': ['base', 'cli', 'operations', 'seal', 'vault/uses'],
  vault: [...PARTS, 'seal'],

  // A file from the channel to a sealed, checked and read document. The reader's process has a room of its own.
  'documents/rules': ['base', ...RULES],
  'documents/sql': ['base', 'postgres', 'seal', ...RULES],
  'documents/store': ['base', 'places'],
  'documents/scan': ['base', 'documents/rules'],
  // Partners take turns.
  'documents/reader': ['base', 'gate/fair-queue.ts', 'partners/rules'],
  'documents/uses': [
    ...[...GROUND, ...RULES, 'applications/sql', 'messages/channels'],
    ...['documents/sql', 'documents/store', 'documents/scan', 'documents/reader'],
  ],
  'documents/commands': [
    ...['base', 'cli', 'operations', ...RULES, 'places'],
    ...['documents/settings.ts', 'documents/sql', 'documents/store', 'documents/uses'],
  ],
  documents: [...PARTS, 'places'],

  // Observed income against declared income. Sources look at documents, at operators' words, and at providers.
  'income/rules': ['base', ...RULES],
  'income/sql': ['base', 'postgres', 'seal', ...RULES],
  'income/sources': ['base', ...RULES, 'documents/sql', 'documents/uses'],
  'income/uses': [...GROUND, ...RULES, 'applications/sql', 'income/sql', 'income/sources'],
  'income/commands': ['base', 'cli', 'operations', ...RULES, 'income/uses'],
  income: [...PARTS, 'applications/sql'],

  // What a person may ask for: it reads the tables of all subjects, and erases by the functions of their owners.
  rights: PARTS,
  'rights/sql': ['base', 'postgres', 'seal', ...RULES, 'applications/sql'],
  'rights/uses': [
    ...[...GROUND, ...RULES, 'applications/sql', 'applications/uses'],
    ...[
      'messages/sql',
      'documents/sql',
      'income/sql',
      'signing/sql',
      'conversation/sql',
      'desk/sql',
      'desk/uses/notes.ts',
      'partners/uses',
      'rights/sql',
    ],
  ],
  'rights/commands': [
    ...['base', 'cli', 'operations', 'applications/rules', 'applications/commands', 'rights/uses'],
  ],

  // Rows of a file, then their applications, then the requests: each room may import the rooms before it.
  'bulk/read': ['base'],
  'bulk/map': ['base', 'bulk/read', 'contract', 'applications/rules', 'partners/rules'],
  'bulk/send': ['base', 'bulk/read', 'bulk/map'],
  'bulk/commands': ['base', 'cli', 'bulk/read', 'bulk/map', 'bulk/send'],

  // The simulator stands for the phones of applicants: it shows what is stored, and answers as they would.
  simulator: [
    ...[...GROUND, ...RULES, 'applications/sql', 'applications/uses'],
    ...['messages/sql', 'messages/channels', 'messages/intake'],
  ],

  // The record of what operators did. `operations` writes it, because every command of an operator may.
  audit: PARTS,
  'audit/uses': [...GROUND],
  'audit/commands': ['base', 'cli', 'audit/uses'],

  // The accounts of operators, and the listener of their console.
  operators: PARTS,
  'operators/rules': ['base'],
  'operators/sql': ['base', 'postgres', 'seal', 'operators/rules'],
  'operators/uses': [...GROUND, 'operators/rules', 'operators/settings.ts', 'operators/sql'],
  'operators/routes': [
    ...GROUND,
    'operators/rules',
    'operators/settings.ts',
    'operators/sql',
    'operators/uses',
    'operator-api/route.ts',
  ],
  'operators/commands': [
    ...['base', 'cli', 'operations', 'operators/rules', 'operators/settings.ts', 'operators/uses'],
  ],
  'operator-api': [...GROUND, 'gate', 'http', 'operators/rules', 'operators/sql', 'operators/uses'],

  // One application as operators see it in the browser: it reads what the subjects have of it.
  desk: [...PARTS, 'desk/sql', 'desk/uses'],
  'desk/rules': ['base', ...RULES, 'operators/rules'],
  'desk/sql': [...['base', 'postgres', 'seal', ...RULES, 'operators/sql', 'applications/sql', 'desk/rules']],
  'desk/uses': [
    ...[...GROUND, ...RULES, 'applications/sql', 'applications/uses', 'messages/sql'],
    ...['conversation/sql', 'conversation/uses', 'documents/sql', 'documents/uses'],
    ...['income/sql', 'income/uses', 'signing/sql', 'desk/rules', 'desk/sql'],
    'operators/rules',
  ],
  'desk/routes': [
    ...['base', 'operations', ...RULES, 'operator-api/route.ts', 'documents/uses'],
    ...['desk/rules', 'desk/uses'],
  ],

  // What operators watch. It reads the tables of all subjects, and imports none of them.
  monitoring: [...PARTS, 'monitoring/sql', 'monitoring/metrics'],
  'monitoring/rules': ['base'],
  'monitoring/sql': ['base', 'postgres', 'subject', 'monitoring/rules'],
  'monitoring/metrics': [
    ...['base', 'postgres', 'gate', 'subject', 'messages/rules', 'conversation/rules', 'monitoring/rules'],
    'operators/rules',
  ],
  'monitoring/uses': [...GROUND, 'monitoring/rules', 'monitoring/sql'],
  'monitoring/commands': [
    'base',
    'cli',
    'operations',
    'messages/rules',
    'monitoring/rules',
    'monitoring/uses',
  ],

  // Backups are of the whole embedded store, below all subjects. What holds in every store is asked in SQL.
  invariants: [],
  // Where objects lie: a folder, or an S3-compatible store.
  places: ['base', 'embedded'],
  backup: ['base', 'embedded', 'invariants', 'places'],
  'backup/commands': ['base', 'cli', 'backup'],

  // The composition root: it may import every way in and every use, and only the entry may import it. Of `bulk` it sees
  // one file.
  app: [
    ...['base', 'postgres', 'schema', 'embedded', 'seal', 'operations', 'tracing', 'gate', 'http', 'cli'],
    ...['docs-page', 'subject', 'applications', 'messages', 'partners', 'events', 'rights', 'vault', 'audit'],
    ...[
      'simulator',
      'bulk/subject.ts',
      'conversation/subject.ts',
      'documents/subject.ts',
      'signing/subject.ts',
      'income/subject.ts',
      'monitoring/subject.ts',
      'operators',
      'operator-api',
      'desk/settings.ts',
      'desk/subject.ts',
      'desk/settings.ts',
      'desk/routes',
      'documents/open.ts',
      'backup',
      'places',
    ],
  ],
  'app/config': ['base', 'seal', 'operations', 'app/subjects.ts', 'places'],
};
/** The files of src itself, each with its allowed imports. */
const ENTRY: Readonly<Record<string, readonly string[]>> = {
  'start.js': ['run.js'],
  'run.js': ['main.ts'],
  'main.ts': ['app', 'base/clock.ts'],
  'submit.ts': ['base/clock.ts', 'bulk/commands', 'cli'],
};
/** The compiled program, which only the package of `npm pack` has. */
const COMPILED = { file: 'run.js', specifier: '../dist/src/main.js' };
/** The bulk command sends through the partners' client. */
const CLIENT = { room: 'bulk/send', path: '../client/src/' };
/** The pure rooms. Other rooms may import any package and any module of Node. */
const PURE = ['base', ...RULES, 'desk/rules', 'events/push/rules', 'monitoring/rules', 'operators/rules'];
const PURE_PACKAGES = /^((libphonenumber-js|typebox)(\/|$)|ipaddr\.js$|otpauth$|node:zlib$)/;
/** The one file of a pure room that works with the machine: everything else gets its `Clock`. */
const CLOCK = { file: 'base/clock.ts', specifier: 'node:timers/promises' };
/** What a pure room may know of the log: its type. */
const LOG_TYPE = "import type { Logger } from 'pino';";

const SOURCES: readonly Source[] = readSources('src');

/** The faults of a file's imports, one line each. */
function violations({ path, text }: Source): string[] {
  return importsOf(text)
    .map((specifier) => [specifier, objection({ path, text }, specifier)] as const)
    .filter(([, reason]) => reason !== undefined)
    .map(([specifier, reason]) => `src/${path} imports ${specifier}: ${reason}`);
}

function objection({ path, text }: Source, specifier: string): string | undefined {
  if (path === COMPILED.file && specifier === COMPILED.specifier) return undefined;
  const room = roomOf(path);
  const allowed = MAY_IMPORT[room] ?? ENTRY[path];
  if (allowed === undefined) return `src/${path} is in no room of the table`;
  if (!specifier.startsWith('.')) {
    if (specifier === 'pino' && text.includes(LOG_TYPE)) return undefined;
    if (path === CLOCK.file && specifier === CLOCK.specifier) return undefined;
    const isPure = PURE.some((pure) => isIn(room, pure));
    return isPure && !PURE_PACKAGES.test(specifier) ? `${room} is pure` : undefined;
  }
  const target = posix.join(posix.dirname(path), specifier);
  if (isIn(room, CLIENT.room) && target.startsWith(CLIENT.path)) return undefined;
  if (target.startsWith('..')) return 'outside src';
  // A file of src itself is in no room, so only a room that names the file may import it.
  const targetRoom = roomOf(target) || target;
  if (allowed.includes(target)) return undefined;
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

test('the rooms have an order: by the table no room needs itself by way of others, but the rules', () => {
  const floor = (room: string) => (RULES.includes(room) ? 'rules' : room);
  const below = new Map<string, Set<string>>();
  for (const [room, allowed] of Object.entries(MAY_IMPORT)) {
    const rooms = allowed.flatMap((one) => Object.keys(MAY_IMPORT).filter((other) => isIn(other, one)));
    const known = below.get(floor(room)) ?? new Set<string>();
    below.set(floor(room), new Set([...known, ...rooms.map(floor)].filter((other) => other !== floor(room))));
  }
  const order: string[] = [];
  while (order.length < below.size) {
    const next = [...below].filter(
      ([room, needs]) => !order.includes(room) && [...needs].every((other) => order.includes(other)),
    );
    const left = [...below.keys()].filter((room) => !order.includes(room));
    assert.ok(next.length > 0, `these rooms need each other: ${left.join(', ')}`);
    order.push(...next.map(([room]) => room));
  }
});

test('the table allows no room that nothing imports there', () => {
  for (const [room, allowed] of Object.entries(MAY_IMPORT)) {
    const targets = SOURCES.filter(({ path }) => roomOf(path) === room).flatMap(({ path, text }) =>
      importsOf(text).map((specifier) => posix.join(posix.dirname(path), specifier)),
    );
    const shared = [...RULES, ...GROUND, 'contract', 'gate', 'cli'];
    const idle = allowed.filter((one) => !shared.includes(one) && !targets.some((path) => isIn(path, one)));
    assert.deepEqual(idle, [], room);
  }
});

test('the check finds planted violations', () => {
  const planted: [path: string, text: string][] = [
    ['base/a.ts', "import { x } from '../postgres/database.ts';"],
    ['base/a.ts', "import type { X } from '../app/config/config.ts';"],
    ['base/a.ts', "import { readFile } from 'node:fs/promises';"],
    ['base/a.ts', "import pino from 'pino';"],
    ['base/a.ts', "import { setTimeout as sleep } from 'node:timers/promises';"],
    ['partners/rules/a.ts', "import pg from 'pg';"],
    ['partners/rules/a.ts', "import { x } from '../sql/partners.ts';"],
    ['contract/a.ts', "export { x } from '../partners/uses/keys.ts';"],
    ['contract/a.ts', "export * from '../http/partner-api.ts';"],
    ['contract/a.ts', "import { x } from '../events/push/openapi.ts';"],
    ['postgres/a.ts', "import {\n  x,\n  y,\n} from '../seal/vault.ts';"],
    ['schema/a.ts', "import '../applications/sql/partitions.ts';"],
    ['embedded/a.ts', "import '../http/partner-api.ts';"],
    ['seal/a.ts', "import { x } from '../applications/sql/envelope.ts';"],
    ['applications/uses/a.ts', "const x = await import('../../http/partner-api.ts');"],
    ['applications/uses/a.ts', 'const x = await import(\n  "../../contract/texts.ts"\n);'],
    ['applications/uses/a.ts', "import { x } from '../../messages/delivery/turn.ts';"],
    ['applications/uses/a.ts', "import { x } from '../../events/push/turn.ts';"],
    ['applications/sql/a.ts', "import { x } from '../../messages/sql/claim.ts';"],
    ['applications/sql/a.ts', "import { x } from '../uses/applications.ts';"],
    ['applications/routes/a.ts', "import { x } from '../sql/applications.ts';"],
    ['partners/sql/a.ts', "import { x } from '../../events/push/sql/endpoints.ts';"],
    ['partners/commands/a.ts', "import { x } from '../../events/push/commands/endpoint.ts';"],
    ['events/commands/a.ts', "import { x } from '../push/commands/resend.ts';"],
    ['events/sql/a.ts', "import { x } from '../push/sql/queue.ts';"],
    ['http/a.ts', "import { x } from '../postgres/database.ts';"],
    ['http/a.ts', "import { x } from '../app/serve.ts';"],
    ['http/a.ts', "import { x } from '../../bench/load.ts';"],
    ['gate/a.ts', "import { x } from '../http/partner-api.ts';"],
    ['cli/a.ts', "import { x } from '../contract/texts.ts';"],
    ['cli/a.ts', "import { x } from '../partners/uses/keys.ts';"],
    ['cli/a.ts', "import { x } from '../../client/src/index.ts';"],
    ['bulk/map/a.ts', "import { x } from '../../partners/uses/keys.ts';"],
    ['bulk/map/a.ts', "import { x } from '../send/journal.ts';"],
    ['bulk/map/a.ts', "import { x } from '../../../client/src/index.ts';"],
    ['bulk/send/a.ts', "import { x } from '../../../test/support/service.ts';"],
    ['bulk/a.ts', "import { x } from '../applications/rules/fields.ts';"],
    ['messages/delivery/a.ts', "import { x } from '../uses/messages.ts';"],
    ['messages/rules/a.ts', "import { x } from '../sql/claim.ts';"],
    ['messages/rules/a.ts', "import { x } from 'node:crypto';"],
    ['messages/sql/a.ts', "import { x } from '../delivery/turn.ts';"],
    ['messages/channels/a.ts', "import { x } from '../../simulator/channel.ts';"],
    ['messages/a.ts', "import { x } from '../partners/uses/keys.ts';"],
    ['events/push/rules/a.ts', "import { x } from '../sql/claim.ts';"],
    ['events/push/turn.ts', "import { x } from '../../messages/delivery/turn.ts';"],
    ['docs-page/a.ts', "import { x } from '../simulator/page.ts';"],
    ['app/serve.ts', "import { x } from '../main.ts';"],
    ['app/serve.ts', "import { x } from '../../test/support/service.ts';"],
    ['app/serve.ts', "import { x } from '../bulk/send/send.ts';"],
    ['app/config/a.ts', "import { x } from '../open-store.ts';"],
    ['main.ts', "import { x } from './postgres/database.ts';"],
    ['start.js', "import('./main.ts');"],
    ['run.js', "await import('./app/program.ts');"],
    ['helpers/a.ts', "import { x } from '../base/time.ts';"],
    ['helpers.ts', "import { x } from './base/time.ts';"],
  ];
  for (const [path, text] of planted) assert.equal(violations({ path, text }).length, 1, `${path}: ${text}`);
  const fine: [path: string, text: string][] = [
    [
      'applications/rules/a.ts',
      "import { x } from 'libphonenumber-js/max';\nimport { y } from './fields.ts';",
    ],
    ['applications/rules/a.ts', "import type { X } from '../../messages/rules/notify.ts';"],
    ['base/a.ts', "import type { Logger } from 'pino';"],
    ['base/clock.ts', "import { setTimeout as sleep } from 'node:timers/promises';"],
    ['embedded/a.ts', "import pg from 'pg';\nimport type { X } from '../base/time.ts';"],
    [
      'bulk/send/a.ts',
      "import { x } from '../../../client/src/index.ts';\nimport { y } from '../read/table.ts';",
    ],
    ['messages/uses/a.ts', "import { x } from '../sql/pauses.ts';"],
    ['events/push/turn.ts', "import { x } from '../sql/partner-events.ts';"],
    ['main.ts', "import { x } from './app/program.ts';\nawait import('./app/process-roles.ts');"],
    ['app/serve.ts', "import { x } from './config/config.ts';\nexport { y } from '../http/partner-api.ts';"],
  ];
  for (const [path, text] of fine) assert.deepEqual(violations({ path, text }), []);
});

test(`no folder has more than ${MAX_FILES} files in a row`, () => {
  const rows = Map.groupBy(SOURCES, ({ path }) => posix.dirname(path));
  const long = [...rows].filter(([, files]) => files.length > MAX_FILES);
  assert.deepEqual(
    long.map(([folder, files]) => `${folder}: ${files.length}`),
    [],
  );
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
    assert.doesNotMatch(text, /\bconsole\s*\.\s*\w/, path);
  }
});
