/** `ventanilla submit` with a file whose encoding is doubtful. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inCodePage } from '../code-pages.ts';
import { applicant, csvOf, fileOf } from '../files.ts';
import { submit } from './submit-harness.ts';

const doubtful = () =>
  fileOf('a.csv', inCodePage(csvOf([applicant({ name: 'SCHRÖDER', city: 'Cali' })]), 'Windows-1252') ?? '');

test('on a terminal the names are shown as each encoding reads them, and the chosen one is read', async () => {
  for (const [answer, name] of [
    ['windows-1252', 'SCHRÖDER'],
    [' cp850 ', 'SCHRÍDER'],
  ] as const) {
    const { code, out, err } = await submit({ answer }, doubtful(), '--dry-run');
    assert.equal(code, 0, err);
    assert.match(out, /Windows-1252 +SCHRÖDER\n/);
    assert.match(out, /cp850 +SCHRÍDER\n/);
    assert.match(out, new RegExp(`a\\.csv: CSV, ${answer.trim()}`, 'i'), name);
  }
});

test('any other answer, --yes or no terminal is an error that names --encoding and shows no name', async () => {
  for (const [person, args] of [
    [{ answer: '' }, []],
    [{ answer: 'yes' }, []],
  ] as const) {
    const { code, err } = await submit(person, doubtful(), '--dry-run', ...args);
    assert.deepEqual([code, /its encoding is doubtful/.test(err)], [1, true]);
  }
  for (const [person, args] of [
    [{}, ['--dry-run']],
    [{ answer: 'cp850' }, ['--dry-run', '--yes']],
    [{ apiKey: 'x' }, ['--url', 'http://127.0.0.1:9/PRO', '--yes']],
  ] as const) {
    const { code, out, err } = await submit(person, doubtful(), ...args);
    assert.equal(code, 1);
    assert.match(err, /^error: a\.csv, line 2: .* encoding is doubtful: .*cp850, Windows-1252.* --encoding/);
    assert.doesNotMatch(out + err, /SCHR/);
  }
  assert.equal((await submit({}, doubtful(), '--dry-run', '--encoding', 'Windows-1252')).code, 0);
});

test('a file of rejected rows is UTF-8 whatever the file was, and is read with the same options', async () => {
  const list = [applicant({ name: 'Íñigo Núñez', income: -1 }), applicant({ name: 'João Conceição' })];
  const path = fileOf('a.csv', inCodePage(csvOf(list), 'cp850') ?? '');
  assert.equal((await submit({}, path, '--dry-run', '--encoding', 'cp850')).code, 2);
  const rejected = readFileSync(`${path}.rejected.csv`, 'utf8');
  assert.match(rejected, /^\ufeff.*Íñigo Núñez/s);
  assert.equal((await submit({}, `${path}.rejected.csv`, '--dry-run', '--encoding', 'cp850')).code, 2);
});
