/** A repeated failure is logged when it begins and once a minute, whichever work meets it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { connectionEndLog, failureLog, workFailureLog } from '../../src/program/operations/failure-log.ts';
import { TestClock } from '../support/test-clock.ts';

const SECOND = 1_000;

function aLog() {
  const lines: { msg: string; level: number; work: string; times_since: number; error: object }[] = [];
  const clock = new TestClock();
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const failed = workFailureLog(failureLog(log, clock));
  return { failed, ended: connectionEndLog(log, clock), lines, clock };
}

const withCode = (code: string) => Object.assign(new Error('its text'), { code });

// The driver's errors for a server that is gone, refuses, ends, starts or is silent.
const OUTAGE = [
  new Error('Connection terminated unexpectedly'),
  new Error('Connection terminated due to connection timeout', { cause: new Error('socket') }),
  new Error('timeout exceeded when trying to connect'),
  new Error('Query read timeout'),
  withCode('ECONNREFUSED'),
  withCode('08006'),
];

test('an outage of an hour is logged once a minute, for all work together', async () => {
  const { failed, lines, clock } = aLog();
  const works = ['a turn of the delivery', 'upkeep: mend times', 'upkeep: advance usage'];
  const turns = 3_600 / 2;
  for (let turn = 0; turn < turns; turn += 1) {
    for (const work of works) failed(work, OUTAGE[turn % OUTAGE.length]);
    await clock.advance(2 * SECOND);
  }
  assert.deepEqual(new Set(lines.map(({ msg }) => msg)), new Set(['the database cannot be reached']));
  assert.equal(lines.length, 60);
  const told = lines.reduce((sum, line) => sum + line.times_since, lines.length);
  assert.ok(told > (turns - 31) * works.length, `${told} told`);
});

test('a failure of one work hides no failure of another, and an outage hides none', () => {
  const { failed, lines } = aLog();
  for (const error of [withCode('22P02'), withCode('ECONNREFUSED'), withCode('22P02')]) {
    failed('upkeep: mend times', error);
    failed('upkeep: trim envelopes', error);
  }
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['upkeep: mend times failed', 'upkeep: trim envelopes failed', 'the database cannot be reached'],
  );
});

test('connections that end together make one warning, with the server’s error and without its text', async () => {
  const { ended, lines, clock } = aLog();
  for (let connection = 0; connection < 10; connection += 1) ended(withCode('57P01'));
  await clock.advance(60 * SECOND - 1);
  ended(withCode('57P01'));
  await clock.advance(1);
  ended(new Error('Connection terminated unexpectedly'));
  const told = lines.map(({ msg, level, times_since }) => ({ msg, level, times_since }));
  const msg = 'database connections ended';
  assert.deepEqual(told, [
    { msg, level: 40, times_since: 0 },
    { msg, level: 40, times_since: 10 },
  ]);
  const [first] = lines;
  assert.partialDeepStrictEqual(first?.error, { kind: 'Error', code: '57P01' });
  assert.doesNotMatch(JSON.stringify(lines), /its text/);
});
