/** Errors are shown to people with their text, and in the log without it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeError, errorFields } from '../../src/ground/base/describe-error.ts';

const of = (...messages: string[]) => messages.map((message) => new Error(message));

test('the text of an error is its message, or the messages of its parts where it has none', () => {
  for (const [error, text] of [
    [new Error('no such file'), 'no such file'],
    [
      new AggregateError(of('refused at ::1', 'refused at 127.0.0.1')),
      'refused at ::1; refused at 127.0.0.1',
    ],
    [new AggregateError(of('one', 'two'), 'both failed'), 'both failed'],
    ['a text', 'a text'],
    [null, 'null'],
    [undefined, 'undefined'],
  ] as const) {
    assert.equal(describeError(error), text);
  }
});

test('the log has the kind of any thrown value, and no message, because a message may have personal data', () => {
  for (const [error, kind] of [
    [new RangeError('Ana'), 'RangeError'],
    ['Ana', 'string'],
    [null, 'object'],
    [undefined, 'undefined'],
  ] as const) {
    const fields = errorFields(error);
    assert.equal(fields.kind, kind);
    assert.doesNotMatch(JSON.stringify(fields), /Ana/);
  }
});

test('the log names the function of a database error in each language of PostgreSQL', () => {
  for (const where of [
    'PL/pgSQL function register_batches(smallint,boolean) line 12 at RAISE',
    'SQL statement "SELECT (1)"\nPL/pgSQL function register_batches(smallint) line 12 at PERFORM',
    'PL/pgSQL-Funktion register_batches(smallint,boolean) Zeile 12 bei RAISE',
    'fonction PL/pgSQL register_batches(smallint,boolean), ligne 12 à RAISE',
    'función PL/pgSQL register_batches(smallint,boolean) en la línea 12 en RAISE',
    'PL/pgSQL関数register_batches(smallint,boolean)の12行目 - RAISE',
    'PL/pgSQL 함수 "register_batches(smallint,boolean)" 의 12번째 RAISE',
    `PL/pgSQL function register_batches(smallint) line 12 at RAISE\n${'PL/pgSQL a'.repeat(100_000)}`,
  ]) {
    assert.equal(errorFields(Object.assign(new Error(), { where })).function, 'register_batches');
  }
  for (const where of [
    '',
    'unnamed portal parameter $1',
    'PL/pgSQL '.repeat(100_000),
    `PL/pgSQL${'a'.repeat(1e6)}`,
  ])
    assert.equal(errorFields(Object.assign(new Error(), { where })).function, undefined);
});
