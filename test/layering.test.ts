/**
 * The storeys and rooms of the program, and its house rules, checked on every file of src and of the packages. A room
 * imports rooms of its own storey or of lower ones, and no room needs itself by way of others: so each can be read and
 * tested with what lies below it.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { test } from 'node:test';
import { importsOf, placeOf, REPOSITORY, readProgram, readSources, type Source } from './support/sources.ts';

const MAX_LINES = 500;
/** The most rooms above each other. */
const MAX_FLOORS = 14;

/** From the ground up. `domain`, `seal` and `app` are one room each; the others have a room for each folder. */
const STOREYS = ['ground', 'domain', 'seal', 'wire', 'program', 'subjects', 'listeners', 'app', 'packages'];
const WHOLE = ['domain', 'seal', 'app'];

/** What a subject needs to have rows, uses and commands. */
const SUBJECT = [
  ...['ground/base', 'ground/postgres', 'domain', 'seal'],
  ...['program/operations', 'program/cli', 'program/subject'],
];

/** The rooms that a room may import, besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'ground/base': [],
  'ground/invariants': [],
  'ground/files': ['ground/base'],
  // The connection to PostgreSQL, its schema, and the server that comes along.
  'ground/postgres': ['ground/base'],
  'ground/schema': ['ground/base', 'ground/postgres'],
  'ground/embedded': ['ground/base', 'ground/files', 'ground/postgres'],
  // Where objects lie: a folder, or an S3-compatible store.
  'ground/places': ['ground/base', 'ground/files'],

  // The pure terms and rules that several subjects read.
  domain: ['ground/base'],
  // Indexes and ids are made of values of the domain.
  seal: ['ground/base', 'ground/files', 'ground/postgres', 'domain'],

  // What goes over HTTP: the partners' contract, the operators' routes, and the gate before both.
  'wire/contract': ['ground/base', 'domain'],
  'wire/operator': ['ground/base', 'domain'],
  'wire/gate': ['ground/base', 'domain', 'wire/contract'],

  // What every subject is made of: what an operator's act needs, the commands, the parts, the traces.
  'program/operations': ['ground/base', 'ground/postgres', 'seal'],
  'program/tracing': ['ground/base', 'ground/postgres', 'domain', 'seal'],
  'program/cli': ['ground/base', 'domain', 'program/operations'],
  'program/subject': [
    ...['ground/base', 'ground/postgres', 'domain', 'seal', 'wire/contract', 'wire/operator'],
    ...['program/operations', 'program/cli'],
  ],
  // What the outbox, replies, pushes and the work beside conversations share.
  'program/queue': ['ground/base', 'ground/postgres', 'domain', 'program/subject'],

  'subjects/partners': [...SUBJECT, 'wire/contract', 'wire/gate', 'wire/operator'],
  // Versions of the policy, and the one that decides.
  'subjects/policies': [...SUBJECT, 'wire/operator'],
  'subjects/applications': [
    ...[...SUBJECT, 'wire/contract', 'wire/gate', 'wire/operator', 'program/tracing'],
    ...['subjects/partners', 'subjects/policies'],
  ],
  // What policies decided and would decide.
  'subjects/evaluation': [...SUBJECT, 'wire/operator', 'subjects/policies', 'subjects/applications'],
  // The business in numbers. It follows the decisions, and reads what other subjects store of what became of them.
  'subjects/business': [...SUBJECT, 'wire/operator', 'subjects/applications', 'subjects/evaluation'],
  'subjects/messages': [
    ...[...SUBJECT, 'wire/gate', 'program/tracing', 'program/queue'],
    ...['subjects/partners', 'subjects/applications'],
  ],
  'subjects/events': [
    ...[...SUBJECT, 'wire/contract', 'wire/gate', 'wire/operator', 'program/queue'],
    ...['subjects/partners', 'subjects/applications'],
  ],
  // A file from the channel to a sealed, checked and read document.
  'subjects/documents': [...SUBJECT, 'ground/places', 'wire/gate', 'subjects/applications'],
  // Observed income against declared income.
  'subjects/income': [...SUBJECT, 'subjects/policies', 'subjects/applications', 'subjects/documents'],
  // Terms, contracts and their signature. The PDFs lie in the store of documents.
  'subjects/signing': [...SUBJECT, 'subjects/applications', 'subjects/documents', 'subjects/messages'],
  // What follows the tap on "I am interested", up to the signature.
  'subjects/conversation': [
    ...[...SUBJECT, 'program/queue', 'subjects/applications', 'subjects/messages', 'subjects/events'],
    ...['subjects/documents', 'subjects/income', 'subjects/signing'],
  ],
  // What refused applicants are told and ask a person for.
  'subjects/reconsiderations': [...SUBJECT, 'subjects/applications', 'subjects/messages'],
  // The accounts of operators and of people at partners.
  'subjects/operators': [...SUBJECT, 'wire/operator', 'subjects/partners'],
  // One application as operators see it in the browser: it reads what the subjects have of it.
  'subjects/desk': [
    ...['ground/base', 'ground/postgres', 'domain', 'seal', 'wire/operator'],
    ...['program/operations', 'program/queue', 'program/subject', 'subjects/operators'],
    'subjects/applications',
    ...[
      'subjects/messages',
      'subjects/documents',
      'subjects/income',
      'subjects/signing',
      'subjects/conversation',
      'subjects/reconsiderations',
      // How many activations wait, beside the proposals.
      'subjects/policies',
      // The phones that an operator's text can mean.
      'subjects/partners',
    ],
  ],
  // What a person may ask for: it reads the tables of all subjects, and erases by the functions of their owners.
  'subjects/rights': [
    ...[...SUBJECT, 'subjects/partners', 'subjects/applications', 'subjects/messages', 'subjects/documents'],
    ...['subjects/income', 'subjects/signing', 'subjects/conversation', 'subjects/reconsiderations'],
    'subjects/desk',
  ],
  // What operators watch. It reads the tables of all subjects, and imports none of them.
  'subjects/monitoring': [
    ...['ground/base', 'ground/postgres', 'domain', 'wire/gate', 'wire/operator'],
    ...['program/operations', 'program/cli', 'program/subject'],
  ],
  // Each subject tells what it has sealed, and `app` tells the vault.
  'subjects/vault': [
    ...['ground/base', 'ground/postgres', 'seal'],
    ...['program/operations', 'program/cli', 'program/subject'],
  ],
  // The record of what operators did. `operations` writes it, because every command of an operator may. It is compared
  // with the activations of policies.
  'subjects/audit': [
    ...['ground/base', 'program/operations', 'program/cli', 'program/subject'],
    'subjects/policies',
  ],
  // Backups are of the whole embedded store. What holds in every store is asked in SQL.
  'subjects/backup': [
    ...['ground/base', 'ground/files', 'ground/embedded', 'ground/places', 'ground/invariants'],
    'program/cli',
  ],
  // The simulator stands for the phones of applicants: it shows what is stored, and answers as they would.
  'subjects/simulator': [
    ...['ground/base', 'ground/postgres', 'domain', 'seal', 'program/operations'],
    ...['subjects/applications', 'subjects/messages'],
  ],
  'listeners/docs-page': ['ground/base', 'domain', 'wire/contract'],
  'listeners/partner': [
    ...['ground/base', 'domain', 'wire/contract', 'wire/gate', 'program/operations', 'program/tracing'],
    ...['subjects/partners', 'subjects/applications', 'subjects/messages', 'subjects/events'],
  ],
  'listeners/browser': [
    ...['ground/base', 'ground/postgres', 'domain', 'seal', 'wire/gate', 'wire/operator'],
    ...['program/operations', 'subjects/operators'],
  ],
  'listeners/ops': ['ground/base', 'wire/gate'],

  // The composition root: it may import every way in and every use, and only the entry may import it.
  app: [
    ...[
      'ground/base',
      'ground/postgres',
      'ground/schema',
      'ground/embedded',
      'ground/places',
      'domain',
      'seal',
    ],
    ...['wire/gate', 'wire/operator'],
    ...['program/operations', 'program/tracing', 'program/cli', 'program/subject'],
    ...['subjects/policies', 'subjects/evaluation', 'subjects/business'],
    ...['subjects/partners', 'subjects/applications', 'subjects/messages', 'subjects/events'],
    ...['subjects/documents', 'subjects/income', 'subjects/signing', 'subjects/conversation'],
    'subjects/reconsiderations',
    ...['subjects/operators', 'subjects/desk', 'subjects/rights', 'subjects/monitoring', 'subjects/vault'],
    ...['subjects/audit', 'subjects/backup', 'subjects/simulator'],
    ...['listeners/docs-page', 'listeners/partner', 'listeners/browser', 'listeners/ops'],
  ],

  // A file of applicants becomes requests. It reads the rules that a service has (packages/submit/src/README.md).
  'packages/submit': ['ground/base', 'domain', 'wire/contract', 'program/cli', 'program/subject'],
};

/** What a part of a subject may import: rooms below the subjects, and parts of its own subject or of a lower one. */
interface Part {
  readonly rooms: readonly string[];
  readonly parts: readonly string[];
}

const STORED = ['ground/base', 'ground/postgres', 'domain', 'seal'];
/** A file of a subject's folder itself, such as its settings, is the part ''. */
const PARTS: Readonly<Record<string, Part>> = {
  // Only those of its own subject: what several subjects read is in the domain.
  rules: { rooms: ['ground/base', 'domain'], parts: ['rules'] },
  sql: { rooms: STORED, parts: ['rules', 'sql', 'store'] },
  uses: {
    rooms: [...STORED, 'program/operations', 'program/queue', 'program/tracing'],
    parts: ['rules', 'sql', 'uses', 'store', 'scan', 'reader', 'pdf', 'senders', 'sources', 'http', ''],
  },
  routes: {
    rooms: [...STORED, 'wire/contract', 'wire/gate', 'wire/operator', 'program/operations'],
    parts: ['rules', 'uses', 'routes', ''],
  },
  // A command may show what a command of a lower subject shows.
  commands: {
    rooms: ['ground/base', 'ground/places', 'domain', 'seal', 'program/operations', 'program/cli'],
    parts: ['rules', 'uses', 'store', 'commands', ''],
  },
  // Of messages.
  channels: { rooms: ['ground/base', 'domain'], parts: ['channels'] },
  intake: { rooms: STORED, parts: ['rules', 'sql', 'intake'] },
  delivery: {
    rooms: [...STORED, 'program/subject', 'program/queue', 'program/tracing'],
    parts: ['rules', 'sql', 'intake', 'delivery'],
  },
  // Of documents. The reader's process loads nothing else, and partners take turns.
  store: { rooms: ['ground/base', 'ground/places'], parts: ['store'] },
  scan: { rooms: ['ground/base'], parts: ['rules', 'scan'] },
  reader: { rooms: ['ground/base', 'domain', 'wire/gate'], parts: ['reader'] },
  // Of signing, of income, of pushes and of monitoring.
  pdf: { rooms: ['ground/base', 'domain'], parts: ['pdf'] },
  senders: { rooms: ['ground/base', 'domain'], parts: ['rules', 'channels', 'senders'] },
  sources: { rooms: ['ground/base', 'domain'], parts: ['rules', 'sql', 'uses', 'sources'] },
  http: { rooms: ['ground/base', 'seal'], parts: ['rules', 'http'] },
  metrics: {
    rooms: ['ground/base', 'ground/postgres', 'domain', 'wire/gate', 'program/subject'],
    parts: ['rules', 'metrics'],
  },
};

/** The parts of the package: rows of a file, then their applications, then the requests. */
const PARTS_OF_SUBMIT: Readonly<Record<string, Part>> = {
  read: { rooms: ['ground/base'], parts: ['read'] },
  map: { rooms: ['ground/base', 'domain', 'wire/contract'], parts: ['read', 'map'] },
  send: { rooms: ['ground/base'], parts: ['read', 'map', 'send'] },
  commands: { rooms: ['ground/base', 'domain', 'program/cli'], parts: ['read', 'map', 'send', 'commands'] },
};

/** Where a room sees a few files of another one alone. */
const SEES: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  app: {
    'subjects/conversation': /\/subject\.ts$/,
    'subjects/signing': /\/subject\.ts$/,
    'subjects/income': /\/subject\.ts$/,
    'subjects/monitoring': /\/subject\.ts$/,
    'subjects/documents': /\/(subject|open)\.ts$/,
    'subjects/desk': /\/(subject|settings)\.ts$|\/routes\//,
  },
  'subjects/documents': { 'wire/gate': /\/fair-queue\.ts$/ },
  'subjects/signing': {
    'subjects/messages':
      /\/channels\/|\/uses\/public-holidays\.ts$|\/sql\/(replies|replies\/contents|suppressions)\.ts$/,
  },
  'subjects/rights': { 'subjects/desk': /\/sql\/|\/uses\/(notes|correct)\.ts$/ },
};
/** Pushes know the events; only the program knows the pushes. */
const PUSH = 'subjects/events/push/';

/** The files of src itself, each with its allowed imports. */
const ENTRY: Readonly<Record<string, readonly string[]>> = {
  'start.js': ['run.js'],
  'run.js': ['main.ts'],
  'main.ts': ['app', 'ground/base/clock.ts', 'packages/submit/src/command.ts'],
};
/** The compiled program, which only the package of `npm pack` has. */
const COMPILED = { file: 'run.js', specifier: '../dist/src/main.js' };
/** `submit` sends through the partners' client. */
const CLIENT = { room: 'packages/submit/src/send/', path: 'client/src/' };
/** What is pure. Other files may import any package and any module of Node. */
const PURE = /^(ground\/base|domain|subjects\/\w+(\/push)?\/rules)\//;
const PURE_PACKAGES = /^((libphonenumber-js|typebox)(\/|$)|ipaddr\.js$|otpauth$|saxes$|node:zlib$)/;
/** The pure files that work with the machine: the `Clock`, which everything else gets, and the program's version. */
const WITH_MACHINE: Readonly<Record<string, string>> = {
  'ground/base/clock.ts': 'node:timers/promises',
  'ground/base/version.ts': 'node:fs',
};
/** What a pure file may know of the log: its type. */
const LOG_TYPE = "import type { Logger } from 'pino';";

const SOURCES: readonly Source[] = readProgram();

/** The faults of a file's imports, one line each. */
function violations({ path, text }: Source): string[] {
  return importsOf(text)
    .map((specifier) => [specifier, objection({ path, text }, specifier)] as const)
    .filter(([, reason]) => reason !== undefined)
    .map(([specifier, reason]) => `${placeOf(path)} imports ${specifier}: ${reason}`);
}

function objection({ path, text }: Source, specifier: string): string | undefined {
  if (path === COMPILED.file && specifier === COMPILED.specifier) return undefined;
  const room = roomOf(path);
  const allowed = MAY_IMPORT[room] ?? ENTRY[path];
  if (allowed === undefined) return `${placeOf(path)} is in no room of the table`;
  if (!specifier.startsWith('.')) {
    if (specifier === 'pino' && text.includes(LOG_TYPE)) return undefined;
    if (WITH_MACHINE[path] === specifier) return undefined;
    return PURE.test(path) && !PURE_PACKAGES.test(specifier) ? 'the file is pure' : undefined;
  }
  const target = targetOf(path, specifier);
  if (path.startsWith(CLIENT.room) && target.startsWith(CLIENT.path)) return undefined;
  const targetRoom = roomOf(target);
  const isItself = room !== '' && targetRoom === room;
  if (!isItself && !allowed.includes(targetRoom) && !allowed.includes(target))
    return `${room || path} may import ${['itself', ...allowed].join(', ')}`;
  if (SEES[room]?.[targetRoom]?.test(target) === false)
    return `${room} sees other files of ${targetRoom} alone`;
  if (target.startsWith(PUSH) && !path.startsWith(PUSH) && room !== 'app')
    return 'only the program knows the pushes';
  return objectionOfPart(path, target);
}

/** What a module imports by a relative path, by its own path in src or in the repository. */
function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(placeOf(path)), specifier).replace(/^src\//, '');
}

/** The same, by the parts of subjects and of packages. */
function objectionOfPart(path: string, target: string): string | undefined {
  const part = (path.startsWith('packages/') ? PARTS_OF_SUBMIT : PARTS)[partOf(path)];
  if (part === undefined) return undefined;
  if (/^(subjects|packages)\//.test(target)) {
    const isForeign = partOf(path) === 'rules' && dirname(path) !== dirname(target);
    return part.parts.includes(partOf(target)) && !isForeign
      ? undefined
      : `its part knows ${part.parts.join(', ')}`;
  }
  const isKnown = part.rooms.includes(roomOf(target)) || isWatched(path, target);
  return isKnown ? undefined : `its part knows ${part.rooms.join(', ')}`;
}

/** The facts of monitoring have the shape that the watcher of a process has. */
function isWatched(path: string, target: string): boolean {
  return path.startsWith('subjects/monitoring/sql/') && roomOf(target) === 'program/subject';
}

/** The part of a subject or of a package that a file is in; '' for a file that is in none. */
function partOf(path: string): string {
  return /^(?:subjects\/\w+\/(?:push\/)?|packages\/\w+\/src\/)(\w+)\//.exec(path)?.[1] ?? '';
}

/** The room of a file; empty where it is in none. */
function roomOf(path: string): string {
  const [storey = '', folder = '', ...rest] = path.split('/');
  if (WHOLE.includes(storey)) return storey;
  return rest.length > 0 ? `${storey}/${folder}` : '';
}

/** The rooms that the files of each room import. */
function arrows(): Map<string, Set<string>> {
  const found = new Map(Object.keys(MAY_IMPORT).map((room) => [room, new Set<string>()]));
  for (const { path, text } of SOURCES)
    for (const specifier of importsOf(text).filter((one) => one.startsWith('.'))) {
      const target = roomOf(targetOf(path, specifier));
      if (target !== '' && target !== roomOf(path)) found.get(roomOf(path))?.add(target);
    }
  return found;
}

test('every import is allowed by the table', () => {
  assert.ok(SOURCES.length > 40, `read only ${SOURCES.length} files`);
  const imports = SOURCES.flatMap(({ text }) => importsOf(text));
  assert.ok(imports.length > 3 * SOURCES.length, `found only ${imports.length} imports`);
  for (const room of Object.keys(MAY_IMPORT)) {
    assert.ok(
      SOURCES.some(({ path }) => roomOf(path) === room),
      `no files in ${room}`,
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
        assert.ok(existsSync(join(REPOSITORY, dirname(placeOf(path)), specifier)), `${path}: ${specifier}`);
      } else if (!isBuiltin(specifier)) {
        const name = /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';
        assert.ok(name in dependencies, `${path}: ${name} is not in dependencies`);
      } else {
        assert.match(specifier, /^node:/, path);
      }
    }
  }
});

test('no arrow runs back up: a room imports rooms of its storey or of lower ones', () => {
  const storey = (room: string) => STOREYS.indexOf(room.split('/')[0] as string);
  for (const [room, targets] of arrows())
    for (const target of targets) assert.ok(storey(target) <= storey(room), `${room} -> ${target}`);
});

test(`no room needs itself by way of others, and at most ${MAX_FLOORS} rooms lie above each other`, () => {
  const left = arrows();
  let floors = 0;
  while (left.size > 0) {
    const free = [...left].filter(([, targets]) => [...targets].every((target) => !left.has(target)));
    assert.ok(free.length > 0, `these rooms need each other: ${[...left.keys()].join(', ')}`);
    for (const [room] of free) left.delete(room);
    floors += 1;
  }
  assert.ok(floors <= MAX_FLOORS, `${floors} floors`);
});

/** From below: a folder of the console imports folders of earlier lines alone. */
const CONSOLE = [
  ['texts', 'base-ui', 'charts'],
  ['api', 'keyboard'],
  ['format', 'sign-in'],
  ['decide', 'lead', 'find'],
  ['application', 'queue', 'frame'],
  ['proposals', 'reconsiderations', 'inbox', 'views'],
  ['policies', 'business', 'service', 'partners'],
];

test('no arrow runs back up in the console', () => {
  const floorOf = (path: string) =>
    CONSOLE.findIndex((folders) => folders.includes(path.split('/')[0] as string));
  for (const { path, text } of readSources('console/src').filter((source) => source.path.includes('/')))
    for (const specifier of importsOf(text)) {
      const target = posix.join(posix.dirname(path), specifier);
      if (!specifier.startsWith('.') || target.startsWith('..') || !target.includes('/')) continue;
      const isItself = path.split('/')[0] === target.split('/')[0];
      assert.ok(isItself || floorOf(target) < floorOf(path), `${path} imports ${target}`);
      assert.notEqual(floorOf(target), -1, target);
    }
});

test('the table allows no room that nothing imports there', () => {
  const found = arrows();
  for (const [room, allowed] of Object.entries(MAY_IMPORT)) {
    const idle = allowed.filter((one) => !SUBJECT.includes(one) && !found.get(room)?.has(one));
    assert.deepEqual(idle, [], room);
  }
});

test('the check finds planted violations', () => {
  const planted: [path: string, text: string][] = [
    ['ground/base/a.ts', "import { x } from '../postgres/database.ts';"],
    ['ground/base/a.ts', "import type { X } from '../../app/config/config.ts';"],
    ['ground/base/a.ts', "import { readFile } from 'node:fs/promises';"],
    ['ground/base/a.ts', "import pino from 'pino';"],
    ['ground/base/a.ts', "import { setTimeout as sleep } from 'node:timers/promises';"],
    ['ground/postgres/a.ts', "import {\n  x,\n  y,\n} from '../../seal/vault.ts';"],
    ['ground/schema/a.ts', "import '../../subjects/applications/sql/partitions.ts';"],
    ['domain/partner/a.ts', "import pg from 'pg';"],
    ['domain/message/a.ts', "import { x } from 'node:crypto';"],
    ['domain/message/a.ts', "import { x } from '../../subjects/messages/sql/claim.ts';"],
    ['domain/message/a.ts', "import { x } from '../../subjects/messages/rules/settle.ts';"],
    ['seal/a.ts', "import { x } from '../subjects/applications/sql/envelope.ts';"],
    ['wire/contract/a.ts', "export { x } from '../../subjects/partners/uses/keys.ts';"],
    ['wire/contract/a.ts', "export * from '../../listeners/partner/partner-api.ts';"],
    ['wire/gate/a.ts', "import { x } from '../../listeners/partner/partner-api.ts';"],
    ['program/cli/a.ts', "import { x } from '../../wire/contract/texts.ts';"],
    ['program/cli/a.ts', "import { x } from '../../../client/src/index.ts';"],
    ['subjects/partners/rules/a.ts', "import { x } from '../sql/partners.ts';"],
    ['subjects/signing/rules/a.ts', "import type { X } from '../../messages/rules/settle.ts';"],
    [
      'subjects/applications/uses/a.ts',
      "const x = await import('../../../listeners/partner/partner-api.ts');",
    ],
    ['subjects/applications/uses/a.ts', 'const x = await import(\n  "../../../app/serve.ts"\n);'],
    ['subjects/applications/uses/a.ts', "import { x } from '../../messages/delivery/turn.ts';"],
    ['subjects/applications/sql/a.ts', "import { x } from '../../messages/sql/claim.ts';"],
    ['subjects/applications/sql/a.ts', "import { x } from '../uses/applications.ts';"],
    ['subjects/applications/routes/a.ts', "import { x } from '../sql/applications.ts';"],
    ['subjects/messages/sql/a.ts', "import { x } from '../../applications/uses/applications.ts';"],
    ['subjects/messages/sql/a.ts', "import { x } from '../delivery/turn.ts';"],
    ['subjects/messages/sql/a.ts', "import { x } from '../../../wire/gate/admission.ts';"],
    ['subjects/signing/uses/a.ts', "import { x } from '../../messages/sql/claim.ts';"],
    ['subjects/rights/uses/a.ts', "import { x } from '../../desk/uses/reveal.ts';"],
    ['subjects/events/sql/a.ts', "import { x } from '../push/sql/queue.ts';"],
    ['subjects/events/commands/a.ts', "import { x } from '../push/commands/resend.ts';"],
    ['subjects/documents/reader/a.ts', "import { x } from '../../../wire/gate/admission.ts';"],
    ['subjects/documents/reader/a.ts', "import { x } from '../sql/documents.ts';"],
    ['subjects/documents/a.ts', "import { x } from '../messages/uses/messages.ts';"],
    ['packages/submit/src/map/a.ts', "import { x } from '../send/journal.ts';"],
    ['packages/submit/src/read/a.ts', "import { x } from '../../../../src/domain/application/fields.ts';"],
    ['app/serve.ts', "import { x } from '../../packages/submit/src/send/send.ts';"],
    ['app/subjects.ts', "import { x } from '../../packages/submit/src/command.ts';"],
    ['main.ts', "import { x } from '../packages/submit/src/commands/submit.ts';"],
    ['app/serve.ts', "import { x } from '../subjects/conversation/uses/turns.ts';"],
    ['subjects/messages/delivery/a.ts', "import { x } from '../uses/messages.ts';"],
    ['subjects/messages/channels/a.ts', "import { x } from '../../simulator/channel.ts';"],
    ['subjects/partners/commands/a.ts', "import { x } from '../../events/push/commands/endpoint.ts';"],
    ['subjects/events/push/rules/a.ts', "import { x } from '../sql/claim.ts';"],
    ['packages/submit/src/map/a.ts', "import { x } from '../../../../src/subjects/partners/uses/keys.ts';"],
    ['packages/submit/src/map/a.ts', "import { x } from '../../../../client/src/index.ts';"],
    ['packages/submit/src/send/a.ts', "import { x } from '../../../../test/support/service.ts';"],
    ['listeners/partner/a.ts', "import { x } from '../../ground/postgres/database.ts';"],
    ['listeners/partner/a.ts', "import { x } from '../../app/serve.ts';"],
    ['listeners/partner/a.ts', "import { x } from '../../../bench/load.ts';"],
    ['listeners/docs-page/a.ts', "import { x } from '../../subjects/simulator/page.ts';"],
    ['app/serve.ts', "import { x } from '../main.ts';"],
    ['app/serve.ts', "import { x } from '../../test/support/service.ts';"],
    ['main.ts', "import { x } from './ground/postgres/database.ts';"],
    ['start.js', "import('./main.ts');"],
    ['run.js', "await import('./app/program.ts');"],
    ['helpers/a/a.ts', "import { x } from '../../ground/base/clock.ts';"],
    ['helpers.ts', "import { x } from './ground/base/clock.ts';"],
  ];
  for (const [path, text] of planted) assert.equal(violations({ path, text }).length, 1, `${path}: ${text}`);
  const fine: [path: string, text: string][] = [
    [
      'domain/phone/a.ts',
      "import { x } from 'libphonenumber-js/max';\nimport { y } from '../money/currency.ts';",
    ],
    [
      'subjects/signing/rules/a.ts',
      "import { x } from './code-text.ts';\nimport type { Y } from '../../../domain/loan/loan.ts';",
    ],
    ['ground/base/a.ts', "import type { Logger } from 'pino';"],
    ['ground/base/clock.ts', "import { setTimeout as sleep } from 'node:timers/promises';"],
    ['ground/embedded/a.ts', "import pg from 'pg';\nimport type { X } from '../base/time.ts';"],
    [
      'packages/submit/src/send/a.ts',
      "import { x } from '../../../../client/src/index.ts';\nimport { y } from '../read/table.ts';",
    ],
    ['subjects/messages/uses/a.ts', "import { x } from '../sql/pauses.ts';"],
    [
      'subjects/messages/commands/a.ts',
      "import { x } from '../../applications/commands/application-view.ts';",
    ],
    ['main.ts', "import { x } from './app/program.ts';\nawait import('./app/process-roles.ts');"],
    [
      'app/serve.ts',
      "import { x } from './config/config.ts';\nexport { y } from '../listeners/partner/partner-api.ts';",
    ],
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
    assert.doesNotMatch(text, /\bconsole\s*\.\s*\w/, path);
  }
});
