/** docs/glossary.md has each term once, and the names of its last column are in the code. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { codesIn } from './support/markdown.ts';

const REPOSITORY = join(import.meta.dirname, '..');
const DOCUMENT = readFileSync(join(REPOSITORY, 'docs/glossary.md'), 'utf8');
const ROWS = DOCUMENT.split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (term|---) \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));
const SOURCE = /\.(ts|sql)$/;
const CODE = ['src', 'packages/submit/src', 'client/src', 'migrations', 'sql']
  .flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => SOURCE.test(name))
      .flatMap((name) => [join(folder, name), readFileSync(join(REPOSITORY, folder, name), 'utf8')]),
  )
  .join('\n');
const WORDS = new Set(CODE.match(/[A-Za-z_][A-Za-z0-9_]*/g));

test('each term has one row with all its cells', () => {
  const terms = ROWS.map(([, term]) => term);
  assert.ok(terms.length > 70, `${terms.length}`);
  assert.deepEqual(terms, [...new Set(terms)]);
  for (const row of ROWS) assert.ok(row.length === 6 && row.slice(1, 5).every((cell) => cell !== ''), row[1]);
});

test('every name of the last column is in the code', () => {
  const missing = ROWS.flatMap(([, term, , , names = '']) => {
    const present = names.replaceAll(/`[^`]+` in D\d+/g, '');
    return codesIn(present)
      .filter(
        (name) =>
          !(name.includes('/') ? CODE.includes(name) : name.split('.').every((one) => WORDS.has(one))),
      )
      .map((name) => `${term}: ${name}`);
  });
  assert.deepEqual(missing, []);
});
