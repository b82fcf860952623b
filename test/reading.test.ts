/** How many files a reader opens to follow a batch, a message or a decision through src. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import { importsOf, readSources } from './support/sources.ts';

/**
 * The most files on the way of a `POST /PRO` from its route to the statement and back. These are the route and what it
 * imports, values and types, by any number of steps. The way goes through the subjects and the contract. It stops at
 * the doors of `base`, `postgres` and `seal`: a file that the way imports from there counts, and what stands behind
 * that file does not. Rooms before the route do not count either: `app`,
 * `listeners` and `wire/gate`.
 */
const MOST_FILES = 30;
/** The most files with all that stands behind the doors, types included. */
const MOST_WITH_GROUND = 33;
const ROUTE = 'subjects/applications/routes/post-batch.ts';
/** Rooms that have no subject: a reader takes their functions at their word. */
const GROUND = ['ground/base', 'ground/postgres', 'seal'];
/** The rooms before the route, each with the file where a reader begins. */
const BEFORE: Readonly<Record<string, string>> = {
  'wire/gate': 'listeners/partner/partner-api.ts',
  listeners: 'listeners/partner/partner-api.ts',
  app: 'app/serve.ts',
};

const IMPORTS = new Map(
  readSources('src').map(({ path, text }) => [
    path,
    importsOf(text).map((specifier) => posix.join(posix.dirname(path), specifier)),
  ]),
);

/** The files that `start` imports by any number of steps, and itself. Files of the rooms of `ends` are not opened. */
function filesFrom(start: string, ends: readonly string[]): string[] {
  const found = new Set([start]);
  for (const path of found) {
    if (isIn(path, ends)) continue;
    for (const target of IMPORTS.get(path) ?? []) if (IMPORTS.has(target)) found.add(target);
  }
  return [...found].sort();
}

function isIn(path: string, rooms: readonly string[]): boolean {
  return rooms.some((room) => path.startsWith(`${room}/`));
}

test(`a reader of a POST opens at most ${MOST_FILES} files`, (t) => {
  const before = Object.keys(BEFORE);
  const way = filesFrom(ROUTE, [...GROUND, ...before]).filter((path) => !isIn(path, before));
  t.diagnostic(`${way.length} files on the way: ${way.join(', ')}`);
  const all = filesFrom(ROUTE, []);
  t.diagnostic(`${all.length} files with all that stands behind the doors`);
  assert.ok(all.length <= MOST_WITH_GROUND, `${all.length} files: ${all.join(', ')}`);
  for (const [room, start] of Object.entries(BEFORE)) {
    const files = filesFrom(start, []).filter((path) => isIn(path, [room]));
    t.diagnostic(`${files.length} files of ${room} before the route`);
  }
  for (const path of [
    'subjects/applications/uses/ingest-batch.ts',
    'subjects/applications/sql/registration-sql.ts',
  ]) {
    assert.ok(way.includes(path), `the way leads past ${path}`);
  }
  assert.ok(way.length <= MOST_FILES, `${way.length} files: ${way.join(', ')}`);
});

/** A way through the subjects that ARCHITECTURE.md tells with its files. */
interface Way {
  readonly heading: string;
  /** The most files of subjects. Terms and the rooms below the subjects are taken at their word. */
  readonly most: number;
  /** Where the way begins, and where it goes on by a loop or a port, which no import shows. */
  readonly starts: readonly string[];
  /** The way goes through these: what a file of theirs imports is opened. At other files it stops. */
  readonly through: readonly string[];
}

const WAYS: readonly Way[] = [
  {
    heading: "A message's way",
    most: 60,
    starts: [
      'messages/routes/whatsapp-webhook',
      'messages/intake/channel-event-intake',
      'conversation/uses/hear',
      'conversation/uses/turns',
      'messages/delivery/reply-turn',
    ],
    through: ['messages/routes/', 'messages/intake/', 'messages/delivery/reply-turn', 'conversation/'],
  },
  {
    heading: "A decision's way",
    // A payment leads to its lines, its terms and the way to pay out.
    most: 47,
    starts: ['desk/routes/proposals', 'desk/applying'],
    through: ['desk/'],
  },
];

for (const { heading, most, starts, through } of WAYS) {
  test(`${heading} has at most ${most} files, and ARCHITECTURE.md names each`, () => {
    const way = new Set(starts.map(fileOf));
    for (const path of way) {
      if (!through.some((part) => path.startsWith(`subjects/${part}`))) continue;
      for (const target of IMPORTS.get(path) ?? [])
        if (target.startsWith('subjects/') && IMPORTS.has(target)) way.add(target);
    }
    assert.ok(way.size <= most, `${way.size} files: ${[...way].sort().join(', ')}`);
    const [, section = ''] = readFileSync('ARCHITECTURE.md', 'utf8').split(`## ${heading}\n`);
    const [told = ''] = section.split('\n## ');
    const named = [...told.matchAll(/`([a-z/-]+)`/g)].map(([, name]) => fileOf(name!));
    assert.deepEqual([...new Set(named.filter((path) => IMPORTS.has(path)))].sort(), [...way].sort());
  });
}

function fileOf(name: string): string {
  return `subjects/${name}.ts`;
}
