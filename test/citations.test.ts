/** What a text of the repository cites is in the repository: a decision, a section of the contract or a document. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const REPOSITORY = resolve(import.meta.dirname, '..');
const FOLDERS = ['src', 'test', 'docs', 'bench', 'client', 'examples', 'migrations'];
const TEXT = /\.(ts|js|md|sql|py|sh|css|html)$/;
/** Numbers of a tracker, and a design that nobody has. The two are put together, or this file would cite them. */
const ELSEWHERE = new RegExp(`\\b${'iss'}ues? #?\\d|\\(${'des'}ign\\b|\\b${'des'}ign, "`, 'i');

function textsBelow(folder: string): string[] {
  return readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => TEXT.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .filter((path) => statSync(join(REPOSITORY, path)).isFile());
}

test('nothing cites a number of a tracker or a design that the repository does not hold', () => {
  const root = readdirSync(REPOSITORY).filter((name) => name.endsWith('.md'));
  const paths = [...FOLDERS.flatMap(textsBelow), ...root, '.env.example'];
  assert.ok(paths.length > 300, `found only ${paths.length} texts`);
  const citing = paths.flatMap((path) =>
    readFileSync(join(REPOSITORY, path), 'utf8')
      .split('\n')
      .flatMap((line, index) => (ELSEWHERE.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
  assert.deepEqual(citing, []);
});
