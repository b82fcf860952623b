/** The load is like what partners send: every row is valid and unique. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodies } from '../../bench/applicants.ts';
import { namedFields } from '../../src/domain/application/fields.ts';
import { readApplication } from '../../src/domain/application/read-application.ts';

const FIELDS = namedFields('messaging');

test('bodies of any size hold valid applicants with unique ID numbers and phones, also across streams', () => {
  const seen = { idNumbers: new Set(), phones: new Set(), names: new Set(), incomes: new Set() };
  let count = 0;
  for (const [size, rounds, stream] of [
    [1, 1_700, 1],
    [7, 250, 2],
    [100, 20, 3],
  ] as const) {
    const nextBody = bodies(size, stream);
    for (let round = 0; round < rounds; round += 1) {
      const { applications } = JSON.parse(nextBody().toString()) as { applications: unknown[] };
      assert.equal(applications.length, size);
      for (const element of applications) {
        const reading = readApplication(element, FIELDS, 'CO');
        assert.ok(reading.kind === 'valid', JSON.stringify(element));
        count += 1;
        seen.idNumbers.add(reading.application.id_number);
        seen.phones.add(reading.application.phone);
        seen.names.add(reading.application.name);
        seen.incomes.add(reading.application.income);
      }
    }
  }
  assert.deepEqual([seen.idNumbers.size, seen.phones.size], [count, count]);
  assert.ok(seen.names.size > 500 && seen.incomes.size > 100, `${seen.names.size} ${seen.incomes.size}`);
});
