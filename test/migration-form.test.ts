/**
 * The form of SQL: migrations have tables, `sql/functions` has what is made again where it changed, a file has one
 * subject, and a function fits a screen. The linter holds functions of TypeScript to the same bound.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSql } from './support/sources.ts';

const MAX_LINES = 70;

/** Functions that stay longer, with the reason. */
const EXEMPT: Readonly<Record<string, string>> = {};

/** The subjects, of which a file's name has one; `shared`: what has no subject. */
const SUBJECTS = [
  'shared',
  'partners',
  'applications',
  'policies',
  'evaluation',
  'business',
  'messages',
  'events',
  'push',
  'conversation',
  'vault',
  'monitoring',
  'operations',
  'rights',
  'documents',
  'income',
  'operators',
  'desk',
  'signing',
  'reconsiderations',
];
const MAX_FILE_LINES = 500;
const LONG_FILES: Readonly<Record<string, string>> = {};

const FILES = readSql().map(({ path, text }) => ({ name: path, sql: text }));
const MIGRATIONS = FILES.filter(({ name }) => name.startsWith('migrations/'));
const FUNCTION_FILES = FILES.filter(({ name }) => name.startsWith('sql/functions/'));

/** Names of functions, tables, views and sequences that SQL without comments uses before it makes them. */
function usedTooEarly(sql: string): string[] {
  const made = sql.matchAll(/^CREATE (?:FUNCTION|TABLE|VIEW|SEQUENCE|TYPE) (\w+)/gm);
  return [...made]
    .filter(({ 1: name, index }) => {
      const use = `\\b${name}\\(|\\b(?:FROM|JOIN|INTO|UPDATE|LIKE|REFERENCES|OF) ${name}\\b|'${name}'`;
      return new RegExp(use).test(sql.slice(0, index));
    })
    .map(({ 1: name }) => name ?? '');
}

const withoutComments = (sql: string) => sql.replace(/--.*$/gm, '');

/** The functions of a file, each with its number of lines from `CREATE` to the semicolon that ends its definition. */
function functionsIn(sql: string): { readonly name: string; readonly lines: number }[] {
  return sql
    .split(/^(?=CREATE (?:OR REPLACE )?FUNCTION )/m)
    .filter((text) => text.startsWith('CREATE'))
    .map((text) => {
      const name = /FUNCTION (\w+)/.exec(text)?.[1] ?? '';
      // A body between dollar signs and a comment hold semicolons of their own.
      const definition = /^(?:--[^\n]*|\$\$[\s\S]*?\$\$|[^;])*?;/.exec(text);
      assert.ok(definition, `${name} has no end`);
      return { name, lines: definition[0].split('\n').length };
    });
}

test('no function is longer than a screen', () => {
  const functions = FILES.flatMap(({ sql }) => functionsIn(sql));
  assert.ok(functions.length > 70, `read only ${functions.length} functions`);
  const long = functions.filter(({ lines }) => lines > MAX_LINES);
  assert.deepEqual(
    long.filter(({ name }) => !(name in EXEMPT)).map(({ name, lines }) => `${name}: ${lines} lines`),
    [],
  );
  const names = long.map(({ name }) => name);
  assert.deepEqual(
    Object.keys(EXEMPT).filter((name) => !names.includes(name)),
    [],
    'these functions are short by now',
  );
});

/** PostgreSQL counts a plan that it was told to avoid as costly enough to compile it, which takes 700 ms each time. */
test('a function that forces its plan turns the compilation of plans off, for sessions behind a pooler too', () => {
  const forced = FILES.flatMap(({ sql }) => sql.split(/^(?=CREATE )/m)).filter((text) =>
    /^SET enable_/m.test(text),
  );
  assert.ok(forced.length > 15, `read only ${forced.length} functions`);
  assert.deepEqual(
    forced.filter((text) => !/^SET jit = off$/m.test(text)).map((text) => text.split('\n')[0]),
    [],
  );
});

test('the end of a function is found behind the semicolons of its body', () => {
  const sql = [
    'CREATE FUNCTION one() RETURNS integer LANGUAGE sql RETURN 1;',
    'CREATE FUNCTION two() RETURNS void',
    '-- Set for the plan; not for the result.',
    'LANGUAGE plpgsql AS $$',
    'BEGIN',
    '  EXECUTE $sql$ SELECT 1; $sql$;',
    'END',
    '$$;',
    'CREATE TABLE t (id integer);',
  ].join('\n');
  assert.deepEqual(functionsIn(sql), [
    { name: 'one', lines: 1 },
    { name: 'two', lines: 7 },
  ]);
});

/** The subject in the name of a migration, or of the folder of a source file. */
const SUBJECT = /^(?:migrations\/\d{4}_(?=[a-z_]+\.sql$)|sql\/functions\/(?=[a-z]+\/[a-z-]+\.sql$))([a-z]+)/;

test('each file has one subject, in its name, and is not long', () => {
  assert.ok(FILES.length > 20, `read only ${FILES.length} files`);
  for (const { name, sql } of FILES) {
    assert.ok(SUBJECTS.includes(SUBJECT.exec(name)?.[1] ?? ''), name);
    const lines = sql.split('\n').length - 1;
    assert.ok(lines <= MAX_FILE_LINES || name in LONG_FILES, `${name}: ${lines} lines`);
  }
});

/** The stand-in for a function that columns have as their default: functions come after all tables. */
const STANDS_IN = /^CREATE FUNCTION elapsed_ms\(\)/;

test('migrations have tables alone, and source files what can be made again', () => {
  const statements = (files: typeof FILES) =>
    files.flatMap(({ name, sql }) =>
      [
        ...withoutComments(sql).matchAll(
          /^(?:CREATE|ALTER|DROP|INSERT|UPDATE|DELETE|SELECT|DO|GRANT|REVOKE) .*/gm,
        ),
      ].map(([statement]) => ({ name, statement })),
    );
  const code = statements(MIGRATIONS).filter(
    ({ statement }) =>
      /\b(?:FUNCTION|PROCEDURE|VIEW|TRIGGER)\b|^SELECT/.test(statement) && !STANDS_IN.test(statement),
  );
  assert.deepEqual(code, []);
  const others = statements(FUNCTION_FILES).filter(
    ({ statement }) => !/^(?:CREATE OR REPLACE (?:FUNCTION|VIEW|TRIGGER)|SELECT) /.test(statement),
  );
  assert.deepEqual(others, []);
});

/** What a subject leaves open, and the one that fills it in. */
const HOOKS = [
  'after_partner_events',
  'leave_desk',
  'leave_review_queue',
  'note_told_reasons',
  'told_in_chat',
];

test('a name has one function: the source drops and replaces functions by their names', () => {
  const names = FUNCTION_FILES.flatMap(({ sql }) => functionsIn(sql).map(({ name }) => name));
  assert.deepEqual(names.filter((name, index) => names.indexOf(name) !== index).toSorted(), HOOKS);
});

test('nothing is used before it is made', () => {
  assert.deepEqual(usedTooEarly(withoutComments(MIGRATIONS.map(({ sql }) => sql).join('\n'))), []);
  const sql = 'CREATE VIEW v AS SELECT f(a) FROM t;\nCREATE TABLE t (a integer);\nCREATE FUNCTION f(integer)';
  assert.deepEqual(usedTooEarly(sql), ['t', 'f']);
});

test('a foreign key leads to partners, of which each machine of a cluster has a copy; no other one works there', () => {
  const found = FILES.flatMap(({ name, sql }) =>
    [...sql.matchAll(/\bREFERENCES (\w+)/g)].map(([, table]) => `${name} ${table}`),
  );
  assert.deepEqual(
    found.filter((one) => !one.endsWith(' partners')),
    [],
  );
});
