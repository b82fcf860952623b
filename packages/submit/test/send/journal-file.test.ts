/** The journal's file when a write fails. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { LineWriter } from '../../src/send/journal.ts';

test('after a failed write no more lines are written, because they would join half a line', {
  skip: existsSync('/dev/full') ? false : 'only Linux has a disk that is always full',
}, async () => {
  const writer = await LineWriter.open('/dev/full');
  const both = await Promise.allSettled([writer.append({ line: 1 }), writer.append({ line: 2 })]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  writer.note({ line: 3 });
  await assert.rejects(writer.append({ line: 4 }), { code: 'ENOSPC' });
  await writer.close();
});
