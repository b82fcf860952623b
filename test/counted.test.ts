/** No text says `1 rows`: counts that are known while the program runs get their words from one function. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { counted } from '../src/ground/base/counted.ts';
import { readProgram } from './support/sources.ts';

/** Nouns that stand behind a count. The constants of limits, which are capitals, are never one. */
const PLURAL =
  /\$\{(?![A-Z_]+\})[^}]*\} (?:[a-z]+ )?(?:applications|columns|cells|erasures|events|files|jobs|keys|messages|phones|rows|rules|seconds|sheets|templates|times|troubles|values)\b/;
/** Texts for no eyes but a log's, a script of a page, which is alone in the browser, and ratios, not counts. */
const ALONE = /^domain\/scorecard\/reasons\.ts$|^ground\/postgres\/database\.ts$|\/page\//;

it('one has the singular, every other count the plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, 'row')),
    ['0 rows', '1 row', '2 rows'],
  );
  assert.equal(counted(1_234, 'solicitud', 'solicitudes', '1.234'), '1.234 solicitudes');
});

it('no text of the program writes a plural behind a count by itself', () => {
  const found = readProgram()
    .filter(({ path }) => !path.includes('/sql/') && !ALONE.test(path))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => PLURAL.test(line) && !line.includes('counted('))
        .map((line) => `${path}: ${line.trim()}`),
    );
  assert.deepEqual(found, []);
});
