/** The median times to the steps of the business, as `/metrics` shows them (docs/monitoring.md, "/metrics"). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { STEPS, secondsOf } from '../../src/domain/application/waits.ts';
import { rememberStepMedians } from '../../src/subjects/monitoring/sql/step-medians.ts';
import { readStoreFacts } from '../../src/subjects/monitoring/sql/store-facts.ts';
import { testDatabase } from '../support/database.ts';

const { database } = await testDatabase();

it('are those of the last seven whole days over all partners, and go with the last application', async () => {
  const one = fc.record({
    // Today is 0: it goes on, and does not count.
    daysAgo: fc.integer({ min: 0, max: 9 }),
    partner: fc.integer({ min: 1, max: 3 }),
    step: fc.constantFrom(...STEPS.slice(0, 3)),
    bucket: fc.integer({ min: 0, max: 6 }),
    times: fc.integer({ min: 1, max: 5 }),
  });
  const some = fc.uniqueArray(one, {
    maxLength: 30,
    selector: (row) => `${row.daysAgo} ${row.partner} ${row.step} ${row.bucket}`,
  });
  await fc.assert(
    fc.asyncProperty(some, async (rows) => {
      await database.query('DELETE FROM business_waits');
      await database.query(
        `INSERT INTO business_waits (day, per, partner_id, step, bucket, times)
        SELECT (now() AT TIME ZONE 'UTC')::date - u.ago, 'day', u.partner, u.step, u.bucket, u.times
        FROM unnest($1::integer[], $2::integer[], $3::text[], $4::smallint[], $5::bigint[]) AS u(ago, partner, step, bucket, times)`,
        (['daysAgo', 'partner', 'step', 'bucket', 'times'] as const).map((name) =>
          rows.map((row) => row[name]),
        ),
      );
      await rememberStepMedians(database);
      const expected = STEPS.toSorted().flatMap((step) => {
        const took = rows
          .filter((row) => row.step === step && row.daysAgo >= 1 && row.daysAgo <= 7)
          .flatMap(({ bucket, times }) => Array.from({ length: times }, () => bucket))
          .toSorted((a, b) => a - b);
        return took.length === 0 ? [] : [{ step, seconds: secondsOf(took[Math.ceil(took.length / 2) - 1]!) }];
      });
      assert.deepEqual((await readStoreFacts(database, 0)).medians, expected);
    }),
    { numRuns: 30 },
  );
});
