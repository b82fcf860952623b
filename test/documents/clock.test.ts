/** When files are deleted that no document has, while the clock steps (D39). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dueRemovals, noteOrphans } from '../../src/subjects/documents/sql/upkeep.ts';
import { testDatabase } from '../support/database.ts';
import { fakeClock } from '../support/faked-clock.ts';

const store = await testDatabase();
const { database } = store;
const clock = await fakeClock(store);
const START = Date.parse('2026-11-21T12:00:00Z');
const HOUR_MS = 3_600_000;
const elapse = (ms: number) => database.query('UPDATE elapsed SET ms = ms + $1', [ms]);

for (const [step, ms] of [
  ['ahead', 40],
  ['back', -40],
] as const) {
  test(`D39: after a step ${step} a file stays for an hour, and no longer`, async () => {
    const key = `document-${step}`;
    await clock.set(START);
    await noteOrphans(database, [key]);
    await clock.set(START + ms * HOUR_MS);
    assert.deepEqual(await dueRemovals(database), []);
    await elapse(HOUR_MS - 1);
    assert.deepEqual(await dueRemovals(database), []);
    await elapse(1);
    assert.deepEqual(await dueRemovals(database), [key]);
    await database.query('DELETE FROM document_removals');
  });
}
