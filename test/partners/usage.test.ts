/** The usage ledger, and the upkeep of the ledger and of the receipts (D16, D18, D36). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { BATCH_RECEIPTS } from '../../src/subjects/applications/sql/tables.ts';
import { advanceUsage, usedNow } from '../../src/subjects/partners/sql/usage.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const service = await testService();
const { database } = service;
const HOUR = 3_600;
const DAY = 24 * HOUR;

interface Entry {
  /** Seconds after the whole second that the database's clock stood in at the start. */
  readonly offset: number;
  readonly slot: number;
  readonly count: number;
}

/** The start of the present second by the database's clock, as text. */
async function nowSecond(): Promise<string> {
  const { rows } = await database.query("SELECT date_trunc('second', now())::text AS now");
  return rows[0].now;
}

async function insertEntries(partnerId: PartnerId, base: string, entries: readonly Entry[]): Promise<void> {
  await database.query(
    `INSERT INTO usage_entries (partner_id, second, slot, count)
    SELECT $1, $2::timestamptz + o * interval '1 second', s, c
    FROM unnest($3::integer[], $4::smallint[], $5::integer[]) AS e(o, s, c)`,
    [partnerId, base, entries.map((e) => e.offset), entries.map((e) => e.slot), entries.map((e) => e.count)],
  );
}

async function usedAt(partnerId: PartnerId, base: string, offset: number): Promise<number> {
  const { rows } = await database.query(
    "SELECT usage_at($1, $2::timestamptz + $3 * interval '1 second') AS used",
    [partnerId, base, offset],
  );
  return Number(rows[0].used);
}

/** An entry whose second ends at `offset` counts until 24 hours after that. */
const naive = (entries: readonly Entry[], at: number) =>
  entries.filter(({ offset }) => offset > at - DAY).reduce((sum, { count }) => sum + count, 0);

const offset = fc.oneof(
  fc.integer({ min: -26 * HOUR, max: 1 }),
  // The edges of the window, and of the running total.
  fc.integer({ min: -DAY - 20, max: -DAY + 20 }),
  fc.integer({ min: -75, max: 1 }),
);
const ledger = fc.uniqueArray(
  fc.record({ offset, slot: fc.nat({ max: 7 }), count: fc.integer({ min: 1, max: 100 }) }),
  { maxLength: 25, selector: ({ offset, slot }) => `${offset} ${slot}` },
);
/** Moments before and after the upkeep. */
const later = fc.oneof(fc.integer({ min: -120, max: 120 }), fc.integer({ min: -25 * HOUR, max: 25 * HOUR }));

describe('D18: usage_at', () => {
  it('D18: is the sum of the entries in the window, before and after each advance', async () => {
    const plan = fc.record({
      before: ledger,
      moments: fc.array(later, { minLength: 1, maxLength: 4 }),
      more: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ before, moments, more }) => {
        const { partnerId } = await service.addPartner();
        const base = await nowSecond();
        await insertEntries(partnerId, base, before);
        const entries = [...before];
        const check = async (when: string) => {
          for (const moment of moments) {
            assert.equal(
              await usedAt(partnerId, base, moment),
              naive(entries, moment),
              `${when}, +${moment}`,
            );
          }
        };
        for (const moment of [0, ...moments]) {
          assert.equal(await usedAt(partnerId, base, moment), naive(entries, moment), `first, +${moment}`);
        }
        await advanceUsage(database);
        await check('advanced');
        await advanceUsage(database);
        await check('advanced again');
        // Entries after an advance are in no slot that a ledger above has.
        const added = more.map((count, index) => ({ offset: 1, slot: 10 + index, count }));
        await insertEntries(partnerId, base, added);
        entries.push(...added);
        await check('added to');
        await advanceUsage(database);
        await check('advanced after that');
        await database.query('DELETE FROM usage_totals WHERE partner_id = $1', [partnerId]);
      }),
      { numRuns: 60 },
    );
  });

  it('D18: a registration counts for 24 hours and for at most one second more', async () => {
    const { apiKey, partnerId } = await service.addPartner();
    const { status } = await post(`${service.url}/PRO`, apiKey, { applications: [anApplication()] });
    assert.equal(status, 200);
    const { rows } = await database.query(
      `SELECT usage_at($1, created_at + interval '24 hours') AS whole_day,
        usage_at($1, created_at + interval '24 hours 1 second') AS second_more
      FROM applications WHERE partner_id = $1`,
      [partnerId],
    );
    assert.deepEqual(rows, [{ whole_day: '1', second_more: '0' }]);
  });

  it('D18: the window is rolling: usage that leaves it makes room in a full cap', async () => {
    const { apiKey, partnerId } = await service.addPartner({ dailyCap: 5 });
    const base = await nowSecond();
    await insertEntries(partnerId, base, [
      { offset: -DAY - 1, slot: 0, count: 40 },
      { offset: -DAY, slot: 0, count: 2 },
      { offset: -DAY + 60, slot: 0, count: 3 },
      { offset: -30, slot: 0, count: 1 },
    ]);
    for (const step of ['before the upkeep', 'after it']) {
      const response = await fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': apiKey } });
      const { partner } = (await response.json()) as { partner: Record<string, unknown> };
      assert.deepEqual([partner.used_24h, partner.remaining], [4, 1], step);
      await advanceUsage(database);
    }
    const applications = [anApplication(), anApplication()];
    const { body } = await post(`${service.url}/PRO`, apiKey, { applications });
    assert.deepEqual(
      [(body as { processed: number }).processed, (body as { errors: number }).errors],
      [1, 1],
    );
  });
});

describe('D18: advanceUsage', () => {
  it('D18, D39: deletes entries that were stored 25 elapsed hours ago, and no others', async () => {
    const { partnerId } = await service.addPartner();
    const base = await nowSecond();
    const offsets = [-3 * DAY, -DAY - 1, -DAY, -DAY + 60, -HOUR, -61, -1, 1];
    const entries = offsets.map((offset) => ({ offset, slot: 0, count: 1 }));
    await insertEntries(partnerId, base, entries);
    await advanceUsage(database);
    const left = async () => {
      const { rows } = await database.query(
        `SELECT extract(epoch FROM second - $2::timestamptz)::integer AS offset FROM usage_counted
        WHERE partner_id = $1 ORDER BY second`,
        [partnerId, base],
      );
      return rows.map((row) => row.offset as number);
    };
    assert.deepEqual(await left(), offsets);
    assert.equal((await usedNow(database, partnerId)).used, 5);
    await database.query(
      `UPDATE usage_counted SET stored_ms = elapsed_ms() - $3 WHERE partner_id = $1
        AND second < $2::timestamptz - interval '10 seconds'`,
      [partnerId, base, 25 * HOUR * 1_000],
    );
    await advanceUsage(database);
    assert.deepEqual(await left(), [-1, 1]);
    assert.equal((await usedNow(database, partnerId)).used, 2);
  });

  it('D18: leaves an entry that another session is just changing for the next time', async () => {
    const { partnerId } = await service.addPartner();
    const base = await nowSecond();
    await insertEntries(partnerId, base, [
      { offset: -HOUR, slot: 0, count: 7 },
      { offset: -30, slot: 0, count: 5 },
    ]);
    const holder = await database.connect();
    await holder.query('BEGIN');
    await holder.query('UPDATE usage_entries SET count = count + 3 WHERE partner_id = $1 AND count = 5', [
      partnerId,
    ]);
    await advanceUsage(database);
    const { rows } = await database.query('SELECT total FROM usage_totals WHERE partner_id = $1', [
      partnerId,
    ]);
    assert.equal(rows[0].total, '7');
    assert.equal((await usedNow(database, partnerId)).used, 12);
    await holder.query('COMMIT');
    holder.release();
    assert.equal((await usedNow(database, partnerId)).used, 15);
    await advanceUsage(database);
    assert.equal((await usedNow(database, partnerId)).used, 15);
  });

  it('D18: several processes at once count everything once, while one partner is held up', async () => {
    const { partnerId } = await service.addPartner();
    const base = await nowSecond();
    const entries = Array.from({ length: 40 }, (_, index) => ({
      offset: -DAY - 10 + index * 2_000,
      slot: index % 8,
      count: 1 + index,
    }));
    const inside = entries.map((entry) => ({
      ...entry,
      offset: Math.min(entry.offset, -100 - entry.slot),
    }));
    const unique = [...new Map(inside.map((entry) => [`${entry.offset} ${entry.slot}`, entry])).values()];
    await insertEntries(partnerId, base, unique);
    const holder = await database.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM usage_totals WHERE partner_id = $1 FOR NO KEY UPDATE', [partnerId]);
    // All of them wait for the row, and so for each other.
    const work = Promise.all(Array.from({ length: 4 }, () => advanceUsage(database)));
    try {
      await eventually('all to wait', async () => (await waitingSessions(database)).length >= 4);
    } finally {
      await holder.query('COMMIT');
      holder.release();
    }
    await work;
    assert.equal((await usedNow(database, partnerId)).used, naive(unique, 5));
  });

  it('D18: while batches register, capped and not, nothing is lost', async () => {
    const partners = [await service.addPartner({ dailyCap: 400 }), await service.addPartner()];
    const base = await nowSecond();
    // Some are old enough to go into the total, and some to leave the window during the test.
    const seeds = Array.from({ length: 30 }, (_, index) => ({
      offset: index < 10 ? -DAY - 2 + index : -HOUR - index,
      slot: index % 8,
      count: 1,
    }));
    for (const { partnerId } of partners) await insertEntries(partnerId, base, seeds);
    const second = openPatiently(service.databaseUrl, 2);
    let done = false;
    const upkeep = [database, second].map(async (pool) => {
      while (!done) await advanceUsage(pool);
    });
    const registered = await Promise.all(
      partners.map(async ({ apiKey }) => {
        let processed = 0;
        for (let turn = 0; turn < 15; turn += 1) {
          const answers = await Promise.all(
            Array.from({ length: 4 }, () =>
              post(`${service.url}/PRO`, apiKey, { applications: [anApplication(), anApplication()] }),
            ),
          );
          for (const { status, body } of answers) {
            assert.equal(status, 200);
            processed += (body as { processed: number }).processed;
          }
        }
        return processed;
      }),
    );
    done = true;
    await Promise.all(upkeep);
    await second.end();
    for (const [index, { partnerId }] of partners.entries()) {
      assert.equal(registered[index], 120);
      // At a moment that is near no edge of the seed.
      assert.equal(await usedAt(partnerId, base, HOUR / 2), 120 + naive(seeds, HOUR / 2));
      await advanceUsage(database);
      assert.equal(await usedAt(partnerId, base, HOUR / 2), 120 + naive(seeds, HOUR / 2));
    }
  });
});

describe('D36, D39: deleteOldReceipts', async () => {
  // Without a service, whose upkeep deletes old receipts too.
  const { database } = await testDatabase();
  /** Receipts that were stored this many elapsed milliseconds ago; their ids in that order. */
  const insert = async (agesMs: readonly number[]) => {
    const ids = agesMs.map(() => randomUUID());
    const { rows } = await database.query<{ ms: string }>('SELECT ms FROM elapsed');
    await database.query(
      `INSERT INTO batch_receipts (batch_id, api_key_id, created_at, stored_ms, number)
      SELECT id, 1, now(), $3 - age, 1 FROM unnest($1::uuid[], $2::bigint[]) AS r(id, age)`,
      [ids, agesMs, rows[0]?.ms],
    );
    return ids;
  };
  const receipts = async (ids: readonly string[]) => {
    const { rows } = await database.query('SELECT batch_id FROM batch_receipts WHERE batch_id = ANY ($1)', [
      ids,
    ]);
    return rows.map((row) => row.batch_id as string).sort();
  };

  it('D36: deletes receipts that were stored 25 elapsed hours ago, and no others', async () => {
    const boundary = 25 * HOUR * 1_000;
    const old = await insert([boundary, boundary + 1, 5 * DAY * 1_000]);
    const kept = await insert([boundary - 1, HOUR * 1_000, 0]);
    await forgetRows(database, BATCH_RECEIPTS);
    assert.deepEqual(await receipts([...old, ...kept]), [...kept].sort());
  });

  it('D36: deletes more receipts than one statement takes', async () => {
    const ids = await insert(Array.from({ length: 11_000 }, (_, index) => 30 * HOUR * 1_000 + index));
    assert.equal(await forgetRows(database, BATCH_RECEIPTS), ids.length);
    assert.deepEqual(await receipts(ids), []);
  });
});
