/** The form of statements that a Citus cluster takes, checked without one. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readSources, readSql } from '../support/sources.ts';

/** Functions that Citus refuses in a statement that changes rows, unless a subquery computes them first. */
const VOLATILE = /\b(clock_timestamp|random|gen_random_uuid)\(/;
/** What computes them first. */
const COMPUTED_FIRST = /\(\s*SELECT\b(?:[^()]|\([^()]*\))*\)/g;

it('a statement that deletes or updates rows has times that the statement before or a subquery computed', () => {
  const statements = readSources('src').flatMap(({ path, text }) =>
    [...text.matchAll(/(['"`])\s*((?:DELETE|UPDATE)\s[^'"`]*?(?:'[^'`]*'[^'`]*?)*)\1/g)].map(
      ([, , statement]) => ({
        path,
        statement: statement!,
      }),
    ),
  );
  assert.ok(statements.length > 20, `${statements.length}`);
  const refused = statements.filter(({ statement }) =>
    VOLATILE.test(statement.replaceAll(COMPUTED_FIRST, '')),
  );
  assert.deepEqual(refused, []);
});

/** A change up to its end. In TypeScript a quote ends it. */
const changes = (text: string) =>
  [...text.matchAll(/\b(?:UPDATE [a-z_]+ |DO UPDATE SET |DELETE FROM )[^;`]*/g)].map(([change]) => change);

/** What depends on one of its parts: Citus takes immutable functions alone in it. */
const DEPENDS = /\bcoalesce\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\bCASE\b.*?\bEND\b/gis;

it('a change reads no clock within CASE or coalesce', () => {
  const found = [...readSources('src'), ...readSql()]
    .flatMap(({ path, text }) => changes(text).map((change) => ({ path, change })))
    .flatMap(({ path, change }) => (change.match(DEPENDS) ?? []).map((part) => ({ path, part })));
  assert.ok(found.length > 10, `${found.length}`);
  assert.deepEqual(
    found.filter(({ part }) => /\b(now|clock_timestamp|elapsed_ms)\(/.test(part)),
    [],
  );
});

/** Tables of which each machine has a copy (`distribution.ts`). */
const COPIED = ['partners', 'api_keys', 'policies', 'policy_live', 'policy_activations', 'policy_backtests'];
const OF_VERSIONS = COPIED.filter((name) => name.startsWith('polic')).join('|');

it('D51: functions of the owner alone change versions: of two roles in a transaction a cluster refuses one', () => {
  const changed = new RegExp(`\\b(?:INSERT INTO|UPDATE|DELETE FROM) (?:${OF_VERSIONS})\\b`);
  const found = readSources('src').filter(({ text }) => changed.test(text));
  assert.deepEqual(
    found.map(({ path }) => path),
    [],
  );
});

it('D51: these functions reach tables alone that each machine copies', () => {
  const source = readSql().find(({ path }) => path === 'sql/functions/policies/activate.sql')!.text;
  const statements = source.replace(/--.*$|IS DISTINCT FROM/gm, '');
  const names = [...statements.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE) ([a-z][a-z_]+)(?!\w*\()/g)].map(
    ([, name]) => name!,
  );
  assert.ok(names.length > 10, names.join());
  assert.deepEqual(
    names.filter((name) => !COPIED.includes(name) && !name.startsWith('v_')),
    [],
  );
});

/** Functions of times and settings that Citus refuses in RETURNING, where it takes immutable ones alone. */
const NOT_IMMUTABLE = /\b(extract|to_char|date_trunc|now|clock_timestamp|elapsed_ms|micros)\(/;

/** What a statement returns: up to its end, or to that of the parenthesis that it stands in. */
function returned(rest: string): string {
  let depth = 0;
  const end = [...rest].findIndex((sign) => {
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    return depth < 0 || sign === '`' || sign === ';';
  });
  return rest.slice(0, end < 0 ? undefined : end);
}

it('a statement returns no time that it computes: a SELECT over the statement does', () => {
  const clauses = readSources('src').flatMap(({ path, text }) =>
    [...text.matchAll(/\bRETURNING\b/g)].map(({ index }) => {
      const clause = returned(text.slice(index));
      const lists = [...clause.matchAll(/\$\{([A-Z_]+)\}/g)].map(
        ([, name]) => new RegExp(`\\bconst ${name} =[^;]*;`).exec(text)?.[0] ?? '',
      );
      return { path, clause: [clause, ...lists].join(' ') };
    }),
  );
  assert.ok(clauses.length > 20, `${clauses.length}`);
  assert.deepEqual(
    clauses.filter(({ clause }) => NOT_IMMUTABLE.test(clause)),
    [],
  );
});

/** A table of the schema in a FROM or a JOIN. */
const READS = /\b(?:FROM|JOIN)\s+(?!unnest\b|generate_series\b)[a-z_]+\b(?!\()/;

it('a function that FROM or JOIN reads is no function of SQL over tables: with a parameter a cluster refuses it', () => {
  const texts = [...readSources('src'), ...readSql()].map(({ text }) => text);
  const functions = readSql()
    .flatMap(({ text }) => text.replace(/--.*$/gm, '').split(/^(?=CREATE )/m))
    .filter((text) => /^CREATE OR REPLACE FUNCTION/.test(text));
  assert.ok(functions.length > 200, `${functions.length}`);
  const names = functions
    .filter((text) => /\bLANGUAGE sql\b/.test(text) && READS.test(text))
    .map((text) => /FUNCTION (\w+)/.exec(text)![1]!);
  assert.ok(names.includes('usage_at'), names.join());
  const isRead = (name: string) =>
    texts.some((text) => new RegExp(`\\b(?:FROM|JOIN)\\s+${name}\\(`).test(text));
  assert.deepEqual(names.filter(isRead), []);
});

/**
 * Tables whose rows are read in the order of this column. Without a value of its own a row gets a number of the range
 * of the machine that its session is on, which tells nothing about the order.
 */
const ORDERED: Readonly<Record<string, string>> = {
  application_events: 'id',
  application_notes: 'id',
  conversation_inputs: 'id',
  conversations: 'id',
  documents: 'id',
  income_checks: 'number',
  pends: 'id',
  proposals: 'id',
  signing_codes: 'id',
};

it('a row of a table that is read in the order of its numbers gets a number of all machines', async () => {
  const inserts = [...readSources('src'), ...readSql()].flatMap(({ path, text }) =>
    [...text.matchAll(/INSERT INTO (\w+)(?: AS \w+)?\s*\(([^)]*)\)/g)].map(([, table, columns]) => ({
      path,
      table: table!,
      columns: columns!.split(',').map((name) => name.trim()),
    })),
  );
  for (const [table, column] of Object.entries(ORDERED)) {
    const some = inserts.filter((one) => one.table === table);
    assert.ok(some.length > 0, table);
    for (const { path, columns } of some) assert.ok(columns.includes(column), `${path}: ${table}.${column}`);
  }
});

it('what was added beside what was there is counted by RETURNING: ROW_COUNT of a cluster counts both', () => {
  const wrong = readSql().filter(({ text }) =>
    /ON CONFLICT[^;]*DO NOTHING\s*;\s*(?:--[^\n]*\n\s*)*GET DIAGNOSTICS/.test(text),
  );
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});
