/** A table has one owner: the room that writes it. What other rooms want written is a function of the owner. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSources, readSql, type Source } from './support/sources.ts';
import { declaredTables } from './support/tables.ts';

/**
 * The tables of each room, as it declares them. A subject's room is its folder `sql`; its migrations and its functions
 * have its name.
 */
const TABLES = Map.groupBy(await declaredTables(), ({ room }) => room);
/**
 * They make statements of declarations, whose names are those of the declaring room: `app` hands them over, and nobody
 * else calls them.
 */
const ENGINES = [
  'ground/postgres/fold.ts',
  'ground/postgres/forget.ts',
  'seal/reindex.ts',
  'seal/sealed-rows.ts',
];

/** Rooms without a subject: `shared` has their tables and the functions that write them. */
const GROUND = ['postgres', 'schema', 'seal'];

/** A statement's verb and the table that it writes. */
const WRITES =
  /\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|TRUNCATE(?:\s+TABLE)?|MERGE\s+INTO|COPY)\s+(?:ONLY\s+)?([a-z_]\w*)/g;
/** A write to a table whose name is put in when the statement runs. */
const UNNAMED = /\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|TRUNCATE|MERGE\s+INTO|COPY)\s+(?:%|\$\{|'\s*\|\|)/;

interface Part {
  /** The function's name, or a path. */
  readonly name: string;
  readonly room: string;
  readonly text: string;
}

const SQL = readSql();

/** The room of a file of SQL, by the subject in its name or of its folder; '' for what has no subject. */
function roomOf(path: string): string {
  const subject = /^(?:migrations\/\d{4}_|sql\/functions\/)([a-z]+)/.exec(path)?.[1] ?? '';
  if (subject === 'shared') return '';
  return subject === 'push' ? 'events/push/sql' : `${subject}/sql`;
}

/** The functions of a file, and under its path what stands outside of them. */
function partsOf({ path, text }: Source): Part[] {
  const code = text.replace(/--.*$/gm, '');
  return code.split(/(?=\bCREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) )/).map((part) => ({
    name: /^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) (\w+)/.exec(part)?.[1] ?? path,
    room: roomOf(path),
    text: part,
  }));
}

const MODULES: readonly Part[] = readSources('src').map(({ path, text }) => ({
  name: `src/${path}`,
  // A room may have folders.
  room: path.slice(0, path.lastIndexOf('/')).replace(/^(?:ground|program|subjects)\/|(?<=\/sql)\/.*/g, ''),
  text: text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, ''),
}));
const FUNCTIONS = SQL.flatMap(partsOf);
const OWNER = new Map(
  [...TABLES].flatMap(([room, declared]) => declared.map(({ table }) => [table.name, room])),
);

/** The tables that a text writes, each once. A partition counts as its table. */
function writtenBy(text: string): string[] {
  const names = [...withNames(text).matchAll(WRITES)].map((match) =>
    (match[1] as string).replace(/_to_$/, ''),
  );
  return [...new Set(names)].filter((name) => OWNER.has(name)).sort();
}

/** A statement that `format` makes, with what is put in. */
const FORMAT = /\bformat\(\s*(?:'((?:[^']|'')*)'|\$(\w*)\$([\s\S]*?)\$\2\$)\s*,([^;]*)/g;

/**
 * A text in which `format` has the beginnings of the names that it puts in: `batches_to_` for a partition of `batches`.
 * A name that does not begin with a literal, itself or by way of constants of the text, stays as it is.
 */
function withNames(text: string): string {
  const constants = new Map(
    [...text.matchAll(/\b(v_\w+) constant text := ([^;]+);/g)].map((match) => [match[1], match[2] as string]),
  );
  const beginning = (expression: string): string | undefined => {
    const [, literal, name] = /^\s*(?:'(\w+)'|(v_\w+))/.exec(expression) ?? [];
    if (name !== undefined && constants.has(name)) return beginning(constants.get(name) as string);
    return literal;
  };
  return text.replace(FORMAT, (_whole, plain = '', _tag, dollars = '', values: string) => {
    const given = values.split(',');
    let n = 0;
    const statement = `${plain}${dollars}`.replace(/%[IsL]/g, (mark) => beginning(given[n++] ?? '') ?? mark);
    return `${statement} ${values}`;
  });
}

/** Tables that a migration of another room made before their subject had a room of its own. Migrations only add. */
const MADE_BEFORE: Readonly<Record<string, string>> = { policies: 'applications/sql' };

/** The tables of other rooms that a part writes. */
function foreignTo({ room, text }: Part): string[] {
  return writtenBy(text).filter((table) => {
    const owner = OWNER.get(table) ?? '';
    return room === '' ? !GROUND.includes(owner) : owner !== room;
  });
}

describe('a table has one owner', () => {
  it('every table of the migrations has one, and its subject makes it', () => {
    const made = SQL.flatMap(({ path, text }) =>
      [...text.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gm)].map((match) => ({
        table: match[1] as string,
        room: roomOf(path),
      })),
    );
    assert.ok(made.length > 30, `found only ${made.length} tables`);
    const astray = made.filter(({ table, room }) => {
      const owner = OWNER.get(table);
      if (MADE_BEFORE[table] === room) return false;
      return owner === undefined || (owner !== room && !(room === '' && GROUND.includes(owner)));
    });
    assert.deepEqual(astray, []);
    const known = new Set(made.map(({ table }) => table));
    const gone = [...OWNER].filter(([table, room]) => room !== 'schema' && !known.has(table));
    assert.deepEqual(gone, []);
  });

  it('every file of SQL names a subject that has a room', () => {
    const nameless = SQL.filter(({ path }) => roomOf(path) !== '' && !TABLES.has(roomOf(path)));
    assert.deepEqual(
      nameless.map(({ path }) => path),
      [],
    );
  });

  it('every statement of the program writes tables of its own room', () => {
    const written = MODULES.flatMap(({ text }) => writtenBy(text));
    assert.ok(written.length > 25, `found only ${written.length} writes`);
    const foreign = MODULES.flatMap((part) => foreignTo(part).map((table) => `${part.name} writes ${table}`));
    assert.deepEqual(foreign, []);
  });

  it('every function writes tables of its own subject', () => {
    const written = FUNCTIONS.flatMap(({ text }) => writtenBy(text));
    assert.ok(written.length > 60, `found only ${written.length} writes`);
    const foreign = FUNCTIONS.flatMap((part) =>
      foreignTo(part).map((table) => `${part.name} writes ${table}`),
    );
    assert.deepEqual(foreign, []);
  });

  it('no statement writes a table whose name this test cannot read', () => {
    const unnamed = [...MODULES, ...FUNCTIONS].filter(({ text }) => UNNAMED.test(withNames(text)));
    assert.deepEqual(
      unnamed.map(({ name }) => name),
      ENGINES.map((path) => `src/${path}`),
    );
  });

  it('every table is declared once, and `app` alone hands declarations to what makes statements of them', () => {
    const declared = [...TABLES.values()].flat().map(({ table }) => table.name);
    assert.equal(new Set(declared).size, declared.length);
    const callers = readSources('src')
      .filter(({ text }) => /\b(?:foldRows|forgetRows|reindexedTable|sealedRows)\b/.test(text))
      .map(({ path }) => path);
    assert.deepEqual(callers, ['app/table-engines.ts', ...ENGINES]);
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
    assert.match(withNames("EXECUTE format('DELETE FROM %I', p_table)"), UNNAMED);
    const partition = `v_old constant text := 'batches_to_' || p_end; v_new constant text := v_old || '_kept';`;
    for (const text of [
      `EXECUTE format('INSERT INTO %I SELECT * FROM %I', v_new, p_table) USING x;`,
      'EXECUTE format($sql$ DELETE FROM %I WHERE id = 1 $sql$, v_old);',
    ]) {
      assert.deepEqual(writtenBy(partition + text), ['batches'], text);
      assert.doesNotMatch(withNames(partition + text), UNNAMED, text);
    }
  });
});
