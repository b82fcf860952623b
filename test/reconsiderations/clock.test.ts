/** The bounds of the database's clock: reasons once in 24 hours, and the channel's window (D39, D50). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { commandLine } from '../cli/harness.ts';
import { testDatabase } from '../support/database.ts';
import { fakeClock } from '../support/faked-clock.ts';
import { refusedOf } from '../support/refused.ts';

const store = await testDatabase();
const clock = await fakeClock(store);
const DAY_MS = 86_400_000;
/** A Tuesday in Bogotá, without a holiday within the term. */
const START_MS = Date.parse('2026-09-01T15:00:00Z');
await clock.set(START_MS);
const { json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const { refusedAt, writes, textsOf, casesOf } = await refusedOf(store, key);
const at = async (ms: number) => {
  await clock.set(ms);
  return new Date(ms);
};

it('D50: the reasons come again when 24 hours are over, and not a moment before; a clock that leapt silences nobody', async () => {
  const ana = await refusedAt();
  await writes(ana, 'hola', await at(START_MS));
  await writes(ana, 'hola', await at(START_MS + DAY_MS - 1));
  assert.equal((await textsOf(ana)).length, 1);
  await writes(ana, 'hola', await at(START_MS + DAY_MS));
  assert.equal((await textsOf(ana)).length, 2);
  // Told while the clock was a year ahead: back in time, that was not today.
  const eva = await refusedAt();
  await writes(eva, 'hola', await at(START_MS + 100 * DAY_MS));
  await writes(eva, 'hola', await at(START_MS + 2 * DAY_MS));
  assert.equal((await textsOf(eva)).length, 2);
});

it('D50: an answer goes out within 24 hours of the person’s last message, and the term ends with its last working day', async () => {
  for (const [waitMs, unreached] of [
    [DAY_MS - 1, null],
    [DAY_MS, 'window_closed'],
  ] as const) {
    const ana = await refusedAt();
    await writes(ana, 'quiero revisión', await at(START_MS));
    const { rows } = await store.database.query('SELECT due_at FROM cases WHERE application_id = $1', [
      ana.id,
    ]);
    // Ten working days after Tuesday, 1 September: the end of Tuesday, 15 September, in Bogotá.
    assert.equal(rows[0].due_at.toISOString(), '2026-09-16T05:00:00.000Z');
    const [one] = await casesOf(ana);
    await at(START_MS + waitMs);
    const answered = await json('reconsideration', 'answer', `${one!.id}`, '--confirmed', 'Sigue igual');
    assert.equal(answered.unreached, unreached);
  }
});

it('D50: whoever was refused more than 180 days ago is answered no more', async () => {
  await clock.set(START_MS);
  const ana = await refusedAt();
  await writes(ana, 'hola', await at(START_MS + 181 * DAY_MS));
  assert.deepEqual(await textsOf(ana), []);
});
