/** The statements of a recount read a part of the rows each, and all parts add up (docs/business.md, "The recount"). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readEventSums, readOfferSums, readStored } from '../../src/subjects/business/sql/recount.ts';
import { testDatabase } from '../support/database.ts';

/** More than two parts of 20,000. */
const MANY = 50_000;
const DAY = '2026-03-01';

const { database } = await testDatabase();

it('D39: the counts of 50,000 days', async () => {
  await database.query(
    `INSERT INTO business_days (day, partner_id, currency, registered)
     SELECT $1::date + n / 3, n % 3, 'COP', 1 FROM generate_series(0, $2::integer - 1) AS n`,
    [DAY, MANY],
  );
  const days = await readStored(database);
  assert.equal(
    days.reduce((sum, { sums }) => sum + Number(sums.registered), 0),
    MANY,
  );
});

it('D39: 50,000 events of two partners, of which some count for nothing and some are not counted yet', async () => {
  await database.query(
    `INSERT INTO partner_events (partner_id, number, at, stored_ms, application_id, type)
     SELECT n % 2 + 1, n / 2, $1::timestamptz, 0, n,
       CASE WHEN n < 45000 THEN 'income.verified' ELSE 'contract.signed' END::partner_event_type
     FROM generate_series(0, $2::integer - 1) AS n`,
    [`${DAY}T12:00Z`, MANY],
  );
  await database.query(
    'INSERT INTO business_event_places (partner_id, next_event) VALUES (1, 23000), (2, 25000)',
  );
  const sums = new Map<number, number>();
  for (const { day, partnerId, name, events } of await readEventSums(database)) {
    assert.deepEqual([day, name], [DAY, 'signed']);
    sums.set(partnerId, (sums.get(partnerId) ?? 0) + Number(events));
  }
  assert.deepEqual([...sums].toSorted(), [
    [1, 500],
    [2, 2_500],
  ]);
});

it('D39: the first offers among 50,000 rows of evidence', async () => {
  await database.query("UPDATE business_place SET offers_since = '2026-01-01Z'");
  await database.query(
    `INSERT INTO contract_evidence (application_id, number, recorded_at, kind, facts, key_number, mac)
     SELECT n / 5 + 1, n % 5 + 1, $1::timestamptz, CASE WHEN n % 5 IN (2, 3) THEN 'offer_shown' ELSE 'signed' END, '{}', 0,
       decode(repeat('00', 32), 'hex')
     FROM generate_series(0, $2::integer - 1) AS n`,
    [`${DAY}T12:00Z`, MANY],
  );
  await database.query('DELETE FROM business_offers WHERE application_id > 7');
  assert.deepEqual(await readOfferSums(database), new Map([[DAY, BigInt(MANY / 5 - 7)]]));
});
