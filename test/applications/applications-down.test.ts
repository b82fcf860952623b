/** The walk over applications, newest first, reads the batches of the days that are asked for (docs/operators.md). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Database } from '../../src/ground/postgres/database.ts';
import { applicationsDown } from '../../src/subjects/applications/sql/desk/listed.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';

const store = await testDatabase();
const { database } = store;

/** The batches that the walk may read, as its statements say. */
async function walk(filter: { from?: string; to?: string }) {
  const read: [from: number, before: number][] = [];
  const query = (text: string, values: unknown[]) => {
    if (text.includes('generate_series')) read.push([Number(values[0]), Number(values[1])]);
    return database.query(text, values);
  };
  const watched = { ...database, query } as unknown as Database;
  const found = await applicationsDown(watched, filter, null, 100);
  return {
    ids: found.map(({ id }) => Number(id)),
    mayRead: (batch: number) => read.some(([from, before]) => from <= batch && batch < before),
  };
}

it('ends where all earlier batches are of earlier days, and begins below those of later ones', async () => {
  const { json } = commandLine(store);
  const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const register = await registrarOf(store);
  assert.deepEqual((await walk({ to: '2026-03-01' })).ids, [], 'no batch is that old');
  const days = ['2026-03-01', '2026-03-02', '2026-03-02', '2026-03-03'];
  const made: { id: number; batch: number; day: string }[] = [];
  for (const day of days) {
    const [id] = await register(key, [applicant({ phone: null })]);
    const batch = Math.floor(id! / 128);
    await database.query("UPDATE batches SET created_at = $2::timestamp AT TIME ZONE 'UTC' WHERE id = $1", [
      batch,
      `${day} 12:00`,
    ]);
    made.push({ id: id!, batch, day });
  }
  for (const [from, to] of [
    ['2026-03-02', undefined],
    [undefined, '2026-03-02'],
    ['2026-03-02', '2026-03-02'],
    ['2026-03-04', undefined],
    [undefined, '2026-02-28'],
    [undefined, undefined],
  ] as const) {
    const { ids, mayRead } = await walk({ ...(from && { from }), ...(to && { to }) });
    const isWanted = (day: string) => (from === undefined || day >= from) && (to === undefined || day <= to);
    const wanted = made.filter(({ day }) => isWanted(day));
    assert.deepEqual(ids, wanted.map(({ id }) => id).toReversed(), `${from} to ${to}`);
    for (const { batch, day } of made)
      assert.equal(mayRead(batch), isWanted(day), `${day}: ${from} to ${to}`);
  }
});
