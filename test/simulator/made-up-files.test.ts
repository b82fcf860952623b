/** The made-up statements of the simulator: whole months, and amounts around the income that they are to show. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HOUR_MS } from '../../src/ground/base/clock.ts';
import { madeUpFile } from '../../src/subjects/simulator/made-up-files.ts';

const SHARES = { fitting: 1, less: 0.8, far_less: 0.5, other_person: 1 } as const;
const MONTHS =
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' ');

/** A month is over everywhere 12 hours after it is in UTC. */
const HALF_A_DAY_MS = 12 * HOUR_MS;

test('a statement shows the three newest months that are over, and their mean is the share of the income', () => {
  const day = fc.oneof(
    fc.date({ min: new Date('2024-01-01'), max: new Date('2031-12-31'), noInvalidDate: true }),
    fc.integer({ min: 0, max: 24 }).map((hour) => new Date(Date.UTC(2026, 11, 1, hour))),
  );
  const what = fc.constantFrom(...(Object.keys(SHARES) as (keyof typeof SHARES)[]));
  fc.assert(
    fc.property(day, what, fc.integer({ min: 100_000, max: 90_000_000 }), (today, kind, income) => {
      const owner = { name: 'Ana Gómez', idNumber: '1020304050', income, currency: 'COP' };
      const text = madeUpFile(kind, owner, today).bytes.toString('latin1');
      const rows = [...text.matchAll(/\((\p{L}+) de (\d{4})\) Tj\n.*\n.*\(\$ ([\d.]+),00\) Tj/gu)];
      const shown = rows.map(([, month = '', year]) => `${year} ${month.toLowerCase()}`);
      const over = new Date(today.getTime() - HALF_A_DAY_MS);
      const wanted = [3, 2, 1].map((back) => {
        const month = new Date(Date.UTC(over.getUTCFullYear(), over.getUTCMonth() - back, 1));
        return `${month.getUTCFullYear()} ${MONTHS[month.getUTCMonth()]}`;
      });
      assert.deepEqual(shown, wanted);
      const amounts = rows.map(([, , , amount = '']) => Number(amount.replaceAll('.', '')));
      const mean = amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length;
      assert.ok(Math.abs(mean - income * SHARES[kind]) <= 1, `${mean} of ${income}`);
    }),
  );
});
