/** A mistake of the operator or trouble of the machine is one line; a fault of the program says what to report. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VentanillaError } from '../../client/src/index.ts';
import { BulkError } from '../../packages/submit/src/read/bulk-error.ts';
import { tellingOfService } from '../../packages/submit/src/send/remote-service.ts';
import { submit } from '../../packages/submit/test/commands/submit-harness.ts';
import { fileOf } from '../../packages/submit/test/files.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { InDoubtError, UnavailableError } from '../../src/ground/base/registration-failure.ts';
import { PassingSetupError, SetupError } from '../../src/ground/postgres/setup-error.ts';
import { OperatorError } from '../../src/program/operations/operator-context.ts';
import { commandLine } from './harness.ts';

/** Runs a command whose database fails. */
function failing(error: unknown, ...args: string[]) {
  const query = () => Promise.reject(error);
  return commandLine({
    database: { query, connect: query } as never,
    vault: null as never,
    clock: machineClock,
  }).run(...args);
}

const coded = (code: string, message = 'gone', more = {}) =>
  Object.assign(new Error(message), { code, ...more });

const TOLD: readonly unknown[] = [
  new OperatorError('gone'),
  new BulkError({ en: 'gone', es: 'gone' }),
  new SetupError('gone'),
  new PassingSetupError('gone'),
  new UnavailableError('gone'),
  new InDoubtError('gone'),
  // As the bulk command passes it on.
  await tellingOfService(Promise.reject(new VentanillaError('gone')), 'en').catch((error: unknown) => error),
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'ETIMEDOUT'].map((code) => coded(code)),
  ...['ENOENT', 'EACCES', 'ENOSPC', 'EROFS', 'EISDIR'].map((code) =>
    coded(code, 'gone', { syscall: 'open' }),
  ),
  // SQLSTATEs: connection, password, database, right, room, read-only, start, time limit, lock, conflicts.
  ...[
    '08006',
    '28P01',
    '3D000',
    '42501',
    '53100',
    '53300',
    '25006',
    '57P01',
    '57P03',
    '57014',
    '55P03',
    '40001',
    '40P01',
  ].map((code) => coded(code)),
  new AggregateError([coded('ECONNREFUSED', 'go'), coded('ENETUNREACH', 'ne')]),
  new Error('Connection terminated unexpectedly'),
  new Error('gone', { cause: coded('57P03') }),
];

const FAULTS: readonly (readonly [error: unknown, said: string])[] = [
  [new TypeError('Ana'), 'TypeError'],
  [new RangeError('Ana'), 'RangeError'],
  [new Error('Ana'), 'Error'],
  ['Ana', 'string'],
  [undefined, 'undefined'],
  [coded('42P01', 'Ana'), 'Error, code 42P01'],
  [coded('23503', 'Ana', { table: 'partners', constraint: 'name', detail: 'Ana' }), 'Error, code 23503'],
  [coded('XX000', 'Ana'), 'Error, code XX000'],
  [coded('ERR_INVALID_ARG_TYPE', 'Ana'), 'Error, code ERR_INVALID_ARG_TYPE'],
  [coded('EBADF', 'Ana', { syscall: 'read' }), 'Error, code EBADF'],
  [new AggregateError([coded('ECONNREFUSED'), new TypeError('Ana')], 'Ana'), 'AggregateError'],
];

test('what the operator can mend is one line, and exit code 1', async () => {
  for (const error of TOLD) {
    const { code, out, err } = await failing(error, 'partner', 'list');
    assert.deepEqual([code, out], [1, ''], String(error));
    assert.match(err, /^error: (?:gone|go; ne|Connection terminated unexpectedly)\n$/);
  }
});

test('a fault of the program says so, with what to report and without a value, and exit code 70', async () => {
  for (const [error, said] of FAULTS) {
    const { code, out, err } = await failing(error, 'partner', 'rename', '7', '--name', 'Ana', '--json');
    assert.deepEqual([code, out], [70, ''], said);
    const [first, ...lines] = err.trimEnd().split('\n');
    assert.match(first ?? '', /^error: This is a fault of Ventanilla/);
    assert.ok(lines.every((line) => line.startsWith('       ')));
    assert.match(err, /version: \d+\.\d+\.\d+, Node v\d+/);
    assert.match(err, /command: ventanilla partner rename --name --json\n/);
    assert.ok(err.includes(`error: ${said}`), err);
    assert.doesNotMatch(err, /Ana/);
    assert.match(err, /--debug/);
  }
});

test('--debug shows the stack of any failure, wherever it stands', async () => {
  for (const args of [
    ['--debug', 'partner', 'list'],
    ['partner', 'list', '--debug'],
  ]) {
    const cause = new RangeError('the cause');
    const fault = await failing(new TypeError('the fault', { cause }), ...args);
    assert.match(fault.err, /TypeError: the fault\n +at .*failures\.test\.ts/);
    assert.match(fault.err, /Caused by: RangeError: the cause/);
    const told = await failing(new OperatorError('told'), ...args);
    assert.equal(told.code, 1);
    assert.match(told.err, /^error: told\n +\w*Error: told\n +at /);
  }
});

test('submit tells its own faults too', async () => {
  const path = fileOf('a.csv', 'name,id_number\nAna,1\n');
  const wrong = await submit({}, path, '--dry-run', '--encoding', 'latin9');
  assert.deepEqual([wrong.code, wrong.err.split('\n').length], [1, 2]);
  const unknown = await submit({}, path, '--nonsense');
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /^error: unknown option '--nonsense' \(add --help/);
});
