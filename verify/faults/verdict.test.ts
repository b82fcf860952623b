/** A fault counts as told only where a test of the program failed: a run that could not start tells of nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verdictOf } from './verdict.ts';

const FAILED = `failed: test/http/a.test.ts > answers > says 413
  AssertionError: 200 !== 413
failed: test/http/a.test.ts > answers > says 413
failed: test/http/b.test.ts > the file itself
10 passed, 2 failed, 1 skipped
`;

test('the failures of a run are its tests, by file', () => {
  assert.deepEqual(verdictOf(1, FAILED), {
    kind: 'failed',
    failures: [
      { file: 'test/http/a.test.ts', test: 'answers > says 413' },
      { file: 'test/http/b.test.ts', test: 'the file itself' },
    ],
  });
});

test('a run without a failure passed, whatever its tests print', () => {
  const ran = verdictOf(0, 'ReferenceError: x is not defined\n10 passed, 0 failed, 1 skipped\n');
  assert.deepEqual(ran, { kind: 'passed' });
});

test('a run that ends early tells of nothing: a migration that does not apply, a signal', () => {
  for (const output of [
    '',
    'error: syntax error at or near "SELEC"\n',
    FAILED.replace(/^10 passed.*\n/m, ''),
  ])
    assert.equal(verdictOf(1, output).kind, 'unusable', output);
  assert.equal(verdictOf(null, '').kind, 'unusable');
});

test('a run in which an edit names what is not there tells of nothing', () => {
  for (const line of [
    "SyntaxError: The requested module './x.ts' does not provide an export named 'y'",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/x/y.ts'",
    'ReferenceError: hasPassed is not defined',
    "ReferenceError: Cannot access 'now' before initialization",
  ]) {
    const ran = verdictOf(1, `  ${line}\n${FAILED}`);
    assert.equal(ran.kind === 'unusable' && ran.reason, line);
  }
});

test('a service that answers with broken JSON is a fault that a test told', () => {
  const line = `SyntaxError: Unexpected token '<', "<html>" is not valid JSON`;
  assert.equal(verdictOf(1, `  ${line}\n${FAILED}`).kind, 'failed');
});
