/** How a program that the service runs has ended: the log of a start says it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runProgram } from '../../src/ground/embedded/program.ts';

it('a program that takes longer than its limit is ended, and the limit is told', async () => {
  const { status, output } = await runProgram(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    timeoutMs: 10,
  });
  assert.equal(status, null);
  assert.match(output, /it was not over within 0\.01 s/);
});

it('a signal of somebody else is told as one', async () => {
  const { status, output } = await runProgram(
    process.execPath,
    ['-e', 'process.kill(process.pid, "SIGTERM")'],
    {
      timeoutMs: 600_000,
    },
  );
  assert.equal(status, null);
  assert.match(output, /ended by SIGTERM/);
});
