/** Every function of the migrations fits a screen. The linter holds functions of TypeScript to the same bound. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { REPOSITORY } from './support/sources.ts';

const MAX_LINES = 70;

/** Functions that stay longer, with the reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  begin_sending: 'is being split',
  claim_due: 'is being split',
  forget_partition: 'is being split',
};

const FOLDER = join(REPOSITORY, 'migrations');

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

test('no function of the migrations is longer than a screen', () => {
  const functions = readdirSync(FOLDER).flatMap((name) =>
    functionsIn(readFileSync(join(FOLDER, name), 'utf8')),
  );
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
