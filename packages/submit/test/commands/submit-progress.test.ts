/** What `ventanilla submit` says while it works, and how it hears Ctrl-C. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Sink } from '../../../../test/cli/harness.ts';
import { TestClock } from '../../../../test/support/test-clock.ts';
import { INTERRUPTED, PROCESS, showProgress } from '../../src/commands/submit-terminal.ts';

test('without a terminal there is a line every five seconds, with the rate and what is left', async () => {
  const clock = new TestClock();
  const stderr = new Sink();
  const progress = await showProgress(stderr, {
    clock,
    language: 'en',
    isTerminal: false,
    verb: 'sent',
    total: 1_200,
  });
  await clock.advance(4_999);
  progress.update(100);
  assert.equal(stderr.text, '');
  await clock.advance(1);
  progress.update(200);
  assert.equal(stderr.text, 'Sent 200 of 1,200 rows, 40 a second, 25 s left\n');
  await clock.advance(4_999);
  progress.update(1_000);
  await clock.advance(1);
  progress.update(1_100);
  assert.match(stderr.text, /left\nSent 1,100 of 1,200 rows, 110 a second, 1 s left\n$/);
});

test('a dry run does not know how many rows there are', async () => {
  const clock = new TestClock();
  const stderr = new Sink();
  const progress = await showProgress(stderr, {
    clock,
    language: 'es',
    isTerminal: false,
    verb: 'checked',
    total: null,
  });
  await clock.advance(10_000);
  progress.update(1);
  assert.equal(stderr.text, 'Revisadas 1 fila, 0 por segundo\n');
});

test('Ctrl-C that arrives twice within a second is one; a later one ends the process at once', async (t) => {
  const clock = new TestClock();
  const exit = t.mock.method(process, 'exit', () => {});
  const { signal, release } = PROCESS.interruption(clock);
  t.after(release);
  process.emit('SIGINT');
  assert.ok(signal.aborted);
  await clock.advance(1_000);
  process.emit('SIGINT');
  assert.equal(exit.mock.callCount(), 0);
  await clock.advance(1);
  process.emit('SIGINT');
  assert.deepEqual(
    exit.mock.calls.map(({ arguments: [code] }) => code),
    [INTERRUPTED],
  );
});
