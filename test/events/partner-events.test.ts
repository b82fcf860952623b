/** Partner events as they are told (D41). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PartnerId, toPartnerId } from '../../src/domain/partner/credential.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { eventIdOf, eventNumberOf } from '../../src/seal/event-ids.ts';
import { Vault } from '../../src/seal/vault.ts';
import { forgetPartnerEvents } from '../../src/subjects/events/sql/event-retention.ts';
import { readEventPage, readPartnerEvents } from '../../src/subjects/events/sql/partner-events.ts';
import { renderPartnerEvent } from '../../src/wire/contract/partner-event.ts';
import { IN_REVIEW } from '../support/applicant.ts';
import { TEST_SECRETS } from '../support/database.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { batchOf } from '../support/stored-applications.ts';

const service = await testService();
const { database, vault } = service;

/** Registers one application. */
async function register(apiKey: string, change: Readonly<Record<string, unknown>> = {}) {
  const application = anApplication(change);
  const { body } = await post(`${service.url}/PRO`, apiKey, { applications: [application] });
  const { results } = body as { results: { id: number; id_number: string }[] };
  return results[0]!;
}

describe('readPartnerEvents', () => {
  const add = (partnerId: PartnerId, id: number) =>
    database.query(
      `SELECT add_partner_events('application.status_changed', ARRAY[$1::integer], ARRAY[$2::bigint], 'in_review',
        'pending_signature', 'income_verified', NULL)`,
      [partnerId, id],
    );

  it('D41: an event tells the number of the applicant from the envelope, and null where it is erased or unreadable', async () => {
    const { partnerId, apiKey } = await service.addPartner();
    const [read, damaged, erased] = [await register(apiKey), await register(apiKey), await register(apiKey)];
    for (const { id } of [read, damaged, erased]) await add(partnerId, id);
    await database.query("UPDATE batches SET envelope = '\\x00' WHERE id = $1", [
      (await batchOf(database, damaged.id)).id,
    ]);
    await database.query('UPDATE batches SET envelope = NULL WHERE id = $1', [
      (await batchOf(database, erased.id)).id,
    ]);

    const places = [3, 1, 2, 4].map((number) => ({ partnerId, number }));
    const events = await readPartnerEvents({ database, vault, clock: machineClock }, places);
    assert.deepEqual(
      events.map(({ number, applicationId, idNumber }) => [number, applicationId, idNumber]),
      [
        [1, read.id, read.id_number],
        [2, damaged.id, null],
        [3, erased.id, null],
      ],
    );
    assert.deepEqual(renderPartnerEvent(events[0]!), {
      id: eventIdOf(vault, partnerId, 1),
      type: 'application.status_changed',
      timestamp: events[0]!.at.toISOString().replace('Z', '+00:00'),
      data: {
        id: read.id,
        id_number: read.id_number,
        from: 'in_review',
        to: 'pending_signature',
        reason_code: 'income_verified',
        reason_codes: [],
      },
    });
  });

  it("D41, D50: an event never tells the ID number of another partner's applicant, nor the reasons", async () => {
    const [own, other] = [await service.addPartner(), await service.addPartner()];
    const { id } = await register(other.apiKey, IN_REVIEW);
    await add(own.partnerId, id);
    const [event] = await readPartnerEvents({ database, vault, clock: machineClock }, [
      { partnerId: own.partnerId, number: 1 },
    ]);
    assert.equal(event?.idNumber, null);
    assert.deepEqual((event as { reasonCodes?: unknown }).reasonCodes, []);
  });
});

it('D41: a page of events of 500 batches takes few statements, and far less than a second of CPU', async () => {
  const { partnerId, apiKey } = await service.addPartner();
  const ids: number[] = [];
  for (let round = 0; round < 50; round += 1) {
    const batches = Array.from({ length: 10 }, () => Array.from({ length: 20 }, () => anApplication()));
    const answers = await Promise.all(
      batches.map((applications) => post(`${service.url}/PRO`, apiKey, { applications })),
    );
    for (const { body } of answers) ids.push((body as { results: { id: number }[] }).results[7]!.id);
  }
  await database.query(
    "SELECT add_partner_events('application.interested', $1, $2, NULL, NULL, NULL, NULL)",
    [ids.map(() => partnerId), ids],
  );
  let statements = 0;
  const query = (...values: Parameters<Database['query']>) => {
    statements += 1;
    return database.query(...values);
  };
  const start = process.cpuUsage();
  const page = await readEventPage(
    { database: { query } as unknown as Database, vault, clock: machineClock },
    partnerId,
    null,
    500,
  );
  const { user, system } = process.cpuUsage(start);
  assert.deepEqual(
    page?.events.map(({ applicationId, idNumber }) => [applicationId, idNumber !== null]),
    ids.map((id) => [id, true]),
  );
  // The page, the rows, the sizes of the envelopes, and 128 envelopes at a time.
  assert.equal(statements, 7);
  assert.ok(user + system < 1_000_000, `${user + system} µs`);
});

const PARTNER = toPartnerId(7);
const OTHER_PARTNER = toPartnerId(8);

describe('The id of an event', () => {
  it('D41: it is evt_ and 27 characters, and names the number to its own partner alone', () => {
    for (const number of [0, 1, 255, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
      const id = eventIdOf(vault, PARTNER, number);
      assert.match(id, /^evt_[A-Za-z0-9_-]{27}$/);
      assert.equal(eventNumberOf(vault, PARTNER, id), number);
      assert.equal(eventNumberOf(vault, OTHER_PARTNER, id), null);
    }
    const otherKey = new Vault({ ...TEST_SECRETS, indexKey: Buffer.alloc(32, 1) });
    assert.equal(eventNumberOf(otherKey, PARTNER, eventIdOf(vault, PARTNER, 1)), null);
  });

  it('D41: no text with another character, a character less or a character more is an id', () => {
    const id = eventIdOf(vault, PARTNER, 41);
    for (let at = 0; at < id.length; at += 1) {
      for (const character of ['A', 'B', '_', '9', '=']) {
        const changed = id.slice(0, at) + character + id.slice(at + 1);
        if (changed !== id) assert.equal(eventNumberOf(vault, PARTNER, changed), null, changed);
      }
      assert.equal(eventNumberOf(vault, PARTNER, id.slice(0, at)), null);
    }
    for (const text of [
      '',
      'evt_',
      `${id}A`,
      `${id}=`,
      ` ${id}`,
      `evt_${'_'.repeat(27)}`,
      `EVT_${id.slice(4)}`,
      '0',
    ])
      assert.equal(eventNumberOf(vault, PARTNER, text), null, text);
  });
});

describe('forgetPartnerEvents', () => {
  const DAY_MS = 86_400_000;

  /** A partner whose events have these ages in days by the clock and by the elapsed time. */
  async function partnerWith(
    ...ages: readonly (readonly [clock: number, elapsed: number])[]
  ): Promise<PartnerId> {
    const { partnerId } = await service.addPartner();
    await database.query(
      `SELECT add_partner_events('application.interested', array_fill($1::integer, ARRAY[$2::integer]),
        array_fill(128::bigint, ARRAY[$2::integer]), NULL, NULL, NULL, NULL)`,
      [partnerId, ages.length],
    );
    await database.query('UPDATE elapsed SET ms = $1', [100 * DAY_MS]);
    await database.query(
      `UPDATE partner_events e SET at = a.at, stored_ms = a.stored_ms
      FROM unnest($1::timestamptz[], $2::bigint[]) WITH ORDINALITY AS a(at, stored_ms, number)
      WHERE e.partner_id = $3 AND e.number = a.number`,
      [
        ages.map(([clock]) => new Date(Date.now() - clock * DAY_MS)),
        ages.map(([, elapsed]) => Math.round((100 - elapsed) * DAY_MS)),
        partnerId,
      ],
    );
    return partnerId;
  }

  /** The numbers that are kept, and the count of the deleted ones. */
  async function keptOf(partnerId: PartnerId): Promise<[numbers: number[], forgotten: number]> {
    const { rows } = await database.query(
      `SELECT t.forgotten, ARRAY(SELECT e.number FROM partner_events e WHERE e.partner_id = $1 ORDER BY 1)::text[] AS kept
      FROM partner_event_totals t WHERE t.partner_id = $1`,
      [partnerId],
    );
    return [rows[0].kept.map(Number), Number(rows[0].forgotten)];
  }

  it('D39, D41: an event goes when it is 30 days old by both clocks, and never before an older one', async () => {
    const partners = {
      old: await partnerWith([31, 31], [31, 31], [29, 31], [31, 31]),
      // The clock leapt forward: little time has passed.
      leapt: await partnerWith([400, 2], [400, 2]),
      // The clock was a year ahead when the event was written.
      ahead: await partnerWith([-365, 31], [31, 31], [0, 0]),
      all: await partnerWith([40, 40]),
      fresh: await partnerWith([-365, 3], [29.9, 29.9]),
    };
    await forgetPartnerEvents(database);
    await forgetPartnerEvents(database);
    assert.deepEqual(await keptOf(partners.old), [[3, 4], 2]);
    assert.deepEqual(await keptOf(partners.leapt), [[1, 2], 0]);
    assert.deepEqual(await keptOf(partners.ahead), [[3], 2]);
    assert.deepEqual(await keptOf(partners.all), [[], 1]);
    assert.deepEqual(await keptOf(partners.fresh), [[1, 2], 0]);
    // A cursor before the deleted events is refused; the feed begins after them.
    assert.equal(await readEventPage({ database, vault, clock: machineClock }, partners.old, 1, 10), null);
    assert.equal(
      (await readEventPage({ database, vault, clock: machineClock }, partners.old, 2, 10))?.events.length,
      2,
    );
    assert.equal(
      (await readEventPage({ database, vault, clock: machineClock }, partners.all, null, 10))?.next,
      1,
    );
  });

  it('D41: the row of a partner without old events is not locked, for its new events would wait', async () => {
    const partnerId = await partnerWith([3, 3], [1, 1]);
    // A lock of a row leaves its transaction in the row.
    const lockerOf = async () =>
      (await database.query('SELECT xmax FROM partner_event_totals WHERE partner_id = $1', [partnerId]))
        .rows[0].xmax;
    const before = await lockerOf();
    await forgetPartnerEvents(database);
    assert.equal(await lockerOf(), before);
  });

  it('D41: thousands of old events go in several steps, and the newest number stays', async () => {
    const partnerId = await partnerWith(
      ...Array.from({ length: 2_500 }, (_, n) => [n < 2_300 ? 31 : 1, 31] as const),
    );
    await forgetPartnerEvents(database);
    const [kept, forgotten] = await keptOf(partnerId);
    assert.deepEqual([kept.length, kept[0], forgotten], [200, 2_301, 2_300]);
    await database.query(
      "SELECT add_partner_events('application.interested', ARRAY[$1::integer], '{128}', NULL, NULL, NULL, NULL)",
      [partnerId],
    );
    assert.equal((await keptOf(partnerId))[0].at(-1), 2_501);
  });
});
