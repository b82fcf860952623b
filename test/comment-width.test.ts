/** A comment keeps to 120 columns. The formatter wraps code alone, and the linter has no rule for comments. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { REPOSITORY, readSources } from './support/sources.ts';

const MAX_COLUMNS = 120;
const FOLDERS = ['src', 'test', 'verify', 'bench', 'client/src', 'examples'];
/** A line of a comment, in TypeScript or in SQL. An instruction to the linter is one line, however long. */
const COMMENT = /^\s*(?:\*|\/\*|\/\/|--)(?! biome-ignore)/;

const migrations = readdirSync(join(REPOSITORY, 'migrations')).map((path) => ({
  path: `migrations/${path}`,
  text: readFileSync(join(REPOSITORY, 'migrations', path), 'utf8'),
}));
const sources = FOLDERS.flatMap((folder) =>
  readSources(folder).map(({ path, text }) => ({ path: `${folder}/${path}`, text })),
);

test('no line of a comment is longer than 120 columns', () => {
  const tooLong = [...migrations, ...sources].flatMap(({ path, text }) =>
    text
      .split('\n')
      .map((line, index) => ({ line, at: `${path}:${index + 1}` }))
      .filter(({ line }) => COMMENT.test(line) && [...line].length > MAX_COLUMNS)
      .map(({ at }) => at),
  );
  assert.deepEqual(tooLong, []);
});
