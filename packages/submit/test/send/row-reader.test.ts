/** Rejected rows are written down as they were sent, or not at all. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { RowReader } from '../../src/send/send.ts';
import { applicant, csvOf, fileOf, sourceOf, xlsxOf } from '../files.ts';

const LIST = Array.from({ length: 2_000 }, (_, index) => applicant({ name: `Person ${index}` }));
const FILES: [name: string, content: string | Buffer, first: number][] = [
  ['a.csv', csvOf(LIST), 2],
  ['a.json', JSON.stringify(LIST), 1],
  ['a.jsonl', LIST.map((one) => JSON.stringify(one)).join('\n'), 1],
  ['a.xlsx', xlsxOf(LIST), 2],
];

function isOpen(path: string): boolean {
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });
}

for (const [name, content, first] of FILES) {
  test(`it finds rows of ${name} and closes the file`, async () => {
    const path = fileOf(name, content);
    const reader = new RowReader(await sourceOf(path));
    for (const place of [0, 1, 7, 700, 1_500]) {
      assert.equal((await reader.rowAt(place, place + first)).cells[0], `Person ${place}`);
    }
    await reader.verify();
    await reader.close();
    if (!existsSync('/proc/self/fd')) return;
    // The system closes the file in its own time.
    await eventually('the file to be closed', () => !isOpen(path));
  });
}

test('a changed file gives no row, or fails the verification', async () => {
  const path = fileOf('a.csv', csvOf(LIST));
  const reader = new RowReader(await sourceOf(path));
  await reader.verify();
  writeFileSync(path, `${csvOf(LIST.slice(0, 3))}\n\n${csvOf(LIST).split('\n').slice(4).join('\n')}`);
  utimesSync(path, new Date(), new Date(0));
  assert.equal((await reader.rowAt(1, 3)).cells[0], 'Person 1');
  await assert.rejects(reader.rowAt(700, 702), /^Error: a\.csv: it changed while it was sent/);
  await assert.rejects(reader.verify(), /^Error: a\.csv: it changed while it was sent/);
  await reader.close();
});
