/** The themes of the page. `test/support/page-faults.ts` relies on it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const SOURCES = join(import.meta.dirname, '../../console/src');

test('a theme changes colours alone: nothing asks for the theme, and light-dark() takes colours', () => {
  const asking = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(css|tsx?)$/.test(path))
    .filter((path) => /prefers-color-scheme|matchMedia/.test(readFileSync(join(SOURCES, path), 'utf8')));
  assert.deepEqual(asking, []);
});
