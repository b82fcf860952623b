/** The list of faults of `npm run verify:faults` follows the code: every fault can be brought back today. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Fault, LostEditError, readFaults, withFault } from '../verify/faults/list.ts';
import { tierOf } from './run/tiers.ts';
import { REPOSITORY } from './support/sources.ts';

const FAULTS = readFaults();
/** A text for a person. */
const SENTENCE = /^["\p{Lu}].*\.$/su;

function textOf(file: string): string | null {
  const path = join(REPOSITORY, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** What keeps a fault from being brought back; null: nothing. */
function lostEdit(fault: Fault, read = textOf): string | null {
  try {
    withFault(fault, read);
    return null;
  } catch (error) {
    if (error instanceof LostEditError) return `${fault.name}: ${error.message}`;
    throw error;
  }
}

test('each edit of each fault stands exactly once in the file of today', () => {
  assert.deepEqual(
    FAULTS.map((fault) => lostEdit(fault)).filter((reason) => reason !== null),
    [],
  );
});

test('each edit changes its file, and a file of the program', () => {
  const edits = FAULTS.flatMap(({ name, edits }) => edits.map((edit) => ({ name, ...edit })));
  const same = edits.filter(({ now, before }) => now === before);
  const elsewhere = edits.filter(
    ({ file }) => !/^(?:src|migrations|sql|client\/src|console\/src|packages)\//.test(file),
  );
  assert.deepEqual(
    [...same, ...elsewhere].map(({ name, file }) => `${name}: ${file}`),
    [],
  );
});

test('each fault has a name of its own, the commit that mended it, and a sentence that says what goes wrong', () => {
  const names = FAULTS.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
  for (const { name, mended, what } of FAULTS) {
    assert.match(name, /^[a-z0-9]+(?:-[a-z0-9]+)*$/);
    assert.match(mended, /^[0-9a-f]{8,40}$/, name);
    assert.match(what, SENTENCE, name);
  }
});

test('each fault names test files that exist', () => {
  const missing = FAULTS.flatMap(({ name, told }) =>
    told
      .filter((file) => !file.endsWith('.test.ts') || textOf(file) === null)
      .map((file) => `${name}: ${file}`),
  );
  assert.deepEqual(missing, []);
});

test('there are 63 faults, and for nine tenths of them the first file that tells is of the gate', () => {
  assert.ok(FAULTS.length >= 63, `${FAULTS.length}`);
  const later = FAULTS.filter(({ told: [first] }) => tierOf(first as string) !== 'gate');
  const names = later.map(({ name }) => name).join(', ');
  assert.ok(later.length <= FAULTS.length / 10, `only the full tier tells of ${names}`);
});

test('an edit whose text is gone, or stands twice, is lost', () => {
  const edits = [
    { file: 'src/a.ts', now: 'one', before: 'two' },
    { file: 'src/a.ts', now: 'last', before: '' },
  ];
  const fault = { name: 'a', mended: '00000000', what: 'A.', edits, told: ['test/a.test.ts'] };
  assert.deepEqual([...withFault(fault, () => 'one, last')], [['src/a.ts', 'two, ']]);
  assert.equal(
    lostEdit(fault, () => 'last'),
    'a: its text is not in src/a.ts any more',
  );
  assert.equal(
    lostEdit(fault, () => null),
    'a: its text is not in src/a.ts any more',
  );
  assert.equal(
    lostEdit(fault, () => 'one, one, last'),
    'a: its text is in src/a.ts more than once',
  );
});
