/** A table has one owner: the room that writes it. What other rooms want written is a function of the owner. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { REPOSITORY, readSources } from './support/sources.ts';

/** The tables of each room. A subject's room is its folder `sql`, and its migrations have its name. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  postgres: ['elapsed'],
  schema: ['schema_migrations'],
  seal: ['secret_checks'],
  'partners/sql': ['partners', 'api_keys', 'usage_entries', 'usage_counted', 'usage_totals', 'key_outcomes'],
  'applications/sql': [
    ...['policies', 'batches', 'batch_receipts', 'open_phones', 'application_states', 'application_events'],
    ...['review_queue', 'closed_segments', 'look_up_buckets'],
  ],
  'messages/sql': [
    ...[
      'outbox',
      'waiting_rejections',
      'leases',
      'message_records',
      'message_records_after_reviews',
      'waiting_messages',
    ],
    ...['message_counts', 'recipients', 'sender', 'early_events', 'paused_templates'],
    ...['suppressions', 'channel_users'],
  ],
  'events/sql': ['partner_events', 'partner_event_totals'],
  'events/push/sql': ['partner_endpoints', 'pushes'],
};
/** Rooms without a subject: the file `shared` makes their tables. */
const GROUND = ['postgres', 'schema', 'seal'];

/** Functions that write a table of another room. Each has its reason here. */
const CROSSINGS: Readonly<Record<string, readonly string[]>> = {
  // The end of the partitions and of the closed segments stand in the row that every session reads anyway.
  make_batch_partitions: ['elapsed'],
  close_segments: ['elapsed'],
  // The function of `postgres/elapsed.ts`. The migration `shared`, where it stands, is of no single room.
  move_elapsed: ['elapsed'],
};

/**
 * Functions that write tables whose names are put in. Both write what takes the place of an old partition: one of
 * `applications` copies `batches` and `message_records`, which lie side by side, under one lock; one of `messages` brings
 * the copied records up to date.
 */
const BY_NAME = ['settle_records', 'copy_open_applications'];

/** A statement's verb and the table that it writes. */
const WRITES =
  /\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|TRUNCATE(?:\s+TABLE)?|MERGE\s+INTO|COPY)\s+(?:ONLY\s+)?([a-z_]\w*)/g;
/** A write to a table whose name is put in when the statement runs: no test can tell its owner. */
const UNNAMED = /\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|TRUNCATE|MERGE\s+INTO|COPY)\s+(?:%|\$\{|'\s*\|\|)/;

interface Part {
  /** The function's name, or a path. */
  readonly name: string;
  readonly room: string;
  readonly text: string;
}

const MIGRATIONS = readdirSync(join(REPOSITORY, 'migrations'))
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => ({ name, text: readFileSync(join(REPOSITORY, 'migrations', name), 'utf8') }));

/** The room of a migration, by the subject in its name; '' for what has no subject. */
function roomOf(name: string): string {
  const subject = /^\d{4}_([a-z]+)/.exec(name)?.[1] ?? '';
  if (subject === 'shared') return '';
  return subject === 'push' ? 'events/push/sql' : `${subject}/sql`;
}

/** The functions of a migration, and under its name what stands outside of them. */
function partsOf({ name, text }: { readonly name: string; readonly text: string }): Part[] {
  const code = text.replace(/--.*$/gm, '');
  return code.split(/(?=\bCREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) )/).map((part) => ({
    name: /^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) (\w+)/.exec(part)?.[1] ?? name,
    room: roomOf(name),
    text: part,
  }));
}

const MODULES: readonly Part[] = readSources('src').map(({ path, text }) => ({
  name: `src/${path}`,
  room: path.slice(0, path.lastIndexOf('/')),
  text: text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, ''),
}));
const FUNCTIONS = MIGRATIONS.flatMap(partsOf);
const OWNER = new Map(
  Object.entries(TABLES).flatMap(([room, tables]) => tables.map((table) => [table, room])),
);

/** The tables that a text writes, each once. */
function writtenBy(text: string): string[] {
  const names = [...text.matchAll(WRITES)].map((match) => match[1] as string);
  return [...new Set(names)].filter((name) => OWNER.has(name)).sort();
}

/** The tables of other rooms that a part writes. */
function foreignTo({ room, text }: Part): string[] {
  return writtenBy(text).filter((table) => OWNER.get(table) !== room);
}

describe('a table has one owner', () => {
  it('every table of the migrations has one, and its subject makes it', () => {
    const made = MIGRATIONS.flatMap(({ name, text }) =>
      [...text.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gm)].map((match) => ({
        table: match[1] as string,
        room: roomOf(name),
      })),
    );
    assert.ok(made.length > 30, `found only ${made.length} tables`);
    const astray = made.filter(({ table, room }) => {
      const owner = OWNER.get(table);
      return owner === undefined || (owner !== room && !(room === '' && GROUND.includes(owner)));
    });
    assert.deepEqual(astray, []);
    const known = new Set(made.map(({ table }) => table));
    const gone = [...OWNER].filter(([table, room]) => room !== 'schema' && !known.has(table));
    assert.deepEqual(gone, []);
  });

  it('every migration names a subject that has a room', () => {
    const nameless = MIGRATIONS.filter(
      ({ name }) => roomOf(name) !== '' && TABLES[roomOf(name)] === undefined,
    );
    assert.deepEqual(
      nameless.map(({ name }) => name),
      [],
    );
  });

  it('every statement of the program writes tables of its own room', () => {
    const written = MODULES.flatMap(({ text }) => writtenBy(text));
    assert.ok(written.length > 25, `found only ${written.length} writes`);
    const foreign = MODULES.flatMap((part) => foreignTo(part).map((table) => `${part.name} writes ${table}`));
    assert.deepEqual(foreign, []);
  });

  it('every function writes tables of its own subject, but for those that are named here', () => {
    const written = FUNCTIONS.flatMap(({ text }) => writtenBy(text));
    assert.ok(written.length > 60, `found only ${written.length} writes`);
    const foreign = FUNCTIONS.map((part) => [part.name, foreignTo(part)] as const).filter(
      ([name, tables]) => tables.length > 0 && !(name.endsWith('.sql') && tables.every(isGround)),
    );
    const allowed = Object.entries(CROSSINGS).map(([name, tables]) => [name, tables.toSorted()]);
    assert.deepEqual(Object.fromEntries(foreign), Object.fromEntries(allowed));
  });

  it('no statement writes a table whose name this test cannot read', () => {
    const unnamed = [...MODULES, ...FUNCTIONS].filter(({ text }) => UNNAMED.test(text));
    assert.deepEqual(
      unnamed.map(({ name }) => name),
      BY_NAME,
    );
  });

  it('the check finds planted writes', () => {
    for (const text of [
      'INSERT INTO outbox (message_id) VALUES ($1)',
      'INSERT INTO outbox AS o SELECT 1 ON CONFLICT DO NOTHING',
      'UPDATE ONLY outbox SET due_at = now()',
      'WITH gone AS (DELETE FROM outbox WHERE batch_id = 1 RETURNING 1) SELECT 1',
      'TRUNCATE TABLE outbox',
      'MERGE INTO outbox USING x ON true',
      'COPY outbox FROM STDIN',
    ]) {
      assert.deepEqual(foreignTo({ name: 'x', room: 'applications/sql', text }), ['outbox'], text);
      assert.deepEqual(foreignTo({ name: 'x', room: 'messages/sql', text }), [], text);
    }
    assert.deepEqual(writtenBy('SELECT FROM outbox FOR UPDATE; DO UPDATE SET due_at = 1'), []);
    assert.match("EXECUTE format('DELETE FROM %I', p_table)", UNNAMED);
  });
});

function isGround(table: string): boolean {
  return GROUND.includes(OWNER.get(table) ?? '');
}
