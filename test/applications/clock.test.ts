/** The promises hold while the database's clock steps and leaps (D18, D36, D39). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Elapsed } from '../../src/ground/postgres/elapsed.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { RefusedReceipts } from '../../src/subjects/applications/sql/refused-receipts.ts';
import { BATCH_RECEIPTS } from '../../src/subjects/applications/sql/tables.ts';
import { advanceUsage, usedNow } from '../../src/subjects/partners/sql/usage.ts';
import { testDatabase } from '../support/database.ts';
import { fakeClock } from '../support/faked-clock.ts';
import { intakeOf } from '../support/intake.ts';
import { remac } from '../support/remac.ts';
import { addPartner, anApplication } from '../support/service.ts';

// No service, because its upkeep would interfere.
const store = await testDatabase();
const { database } = store;
const clock = await fakeClock(store);
const intake = await intakeOf(store);
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const START = Date.parse('2026-11-21T12:00:00.500Z');

type Partner = Awaited<ReturnType<typeof addPartner>>;

const ingest = ({ keyId }: Partner, elements: readonly unknown[], idempotencyKey: string | null = null) =>
  intake(keyId, elements, idempotencyKey);

const batch = (size: number) => Array.from({ length: size }, () => anApplication({ phone: null }));
async function register(partner: Partner, size: number): Promise<number> {
  const { outcomes } = await ingest(partner, batch(size));
  return outcomes.filter(({ kind }) => kind === 'registered').length;
}
const used = async ({ partnerId }: Partner) => (await usedNow(database, partnerId)).used;
const elapse = (ms: number) => database.query('UPDATE elapsed SET ms = ms + $1', [ms]);

describe('D39: the quota while the clock steps', () => {
  it('D39: after a step of 150 seconds back a cap of 10 lets 10 through, and usage is never negative', async () => {
    const partner = await addPartner(store, { dailyCap: 10 });
    let registered = 0;
    for (const at of [START, START + 70 * SECOND, START - 80 * SECOND, START - 230 * SECOND]) {
      await clock.set(at);
      registered += await register(partner, 4);
      await advanceUsage(database);
      assert.equal(await used(partner), registered);
    }
    assert.equal(registered, 10);
    await clock.set(START + DAY + 71 * SECOND);
    await advanceUsage(database);
    assert.equal(await used(partner), 0);
  });

  it('D39: 25 hours ahead, an upkeep there, and back: usage stays', async () => {
    const partner = await addPartner(store, { dailyCap: 10 });
    await clock.set(START);
    assert.equal(await register(partner, 7), 7);
    await advanceUsage(database);
    await clock.set(START + 25 * HOUR);
    await advanceUsage(database);
    assert.equal(await used(partner), 0);
    assert.equal(await register(partner, 2), 2);
    await clock.set(START + 60 * SECOND);
    for (const step of ['before the upkeep', 'after it']) {
      assert.equal(await used(partner), 9, step);
      await advanceUsage(database);
    }
    assert.equal(await register(partner, 7), 1);
    assert.equal(await register(partner, 1), 0);
  });

  it('D39: usage from far in the future ends when a day has certainly passed', async () => {
    const partner = await addPartner(store, { dailyCap: 5 });
    await clock.set(START + 3_650 * DAY);
    assert.equal(await register(partner, 5), 5);
    await clock.set(START);
    await advanceUsage(database);
    assert.equal(await register(partner, 1), 0);
    await elapse(24 * HOUR);
    await advanceUsage(database);
    assert.equal(await used(partner), 5);
    await elapse(HOUR - 1);
    await advanceUsage(database);
    assert.equal(await used(partner), 5);
    await elapse(1);
    await advanceUsage(database);
    assert.equal(await used(partner), 0);
    assert.equal(await register(partner, 6), 5);
  });

  type Step =
    | { readonly do: 'register'; readonly key: 'capped' | 'free'; readonly size: number }
    /** Moves the clock alone. */
    | { readonly do: 'leap'; readonly ms: number }
    /** Lets time pass, with the upkeep's turns. */
    | { readonly do: 'pass'; readonly ms: number }
    | { readonly do: 'upkeep' };
  const distance = fc.oneof(
    fc.integer({ min: -200, max: 200 }).map((seconds) => seconds * SECOND),
    fc.integer({ min: -50, max: 50 }).map((hours) => hours * HOUR),
    fc.constantFrom(DAY, -DAY, DAY - SECOND, DAY + SECOND, -DAY - SECOND, 400 * DAY, -400 * DAY),
  );
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('register' as const),
        key: fc.constantFrom('capped', 'capped', 'free'),
        size: fc.integer({ min: 1, max: 6 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('leap' as const), ms: distance }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('pass' as const),
        ms: fc.oneof(
          fc.integer({ min: 1, max: 300 }).map((seconds) => seconds * SECOND),
          fc.constantFrom(HOUR, DAY - SECOND, DAY, 25 * HOUR),
        ),
      }),
    },
    { weight: 3, arbitrary: fc.constant({ do: 'upkeep' as const }) },
  );

  /** Usage counts if it is in the last 24 hours of the clock, or after it, and younger than 25 elapsed hours. */
  class Model {
    nowMs = START;
    elapsedMs = 0;
    fresh = new Map<number, number>();
    counted = new Map<number, { count: number; storedMs: number }>();

    used(): number {
      const live = ([second]: [number, unknown]) => second > this.nowMs - DAY;
      let sum = 0;
      for (const [, count] of [...this.fresh].filter(live)) sum += count;
      for (const [, { count }] of [...this.counted].filter(live)) sum += count;
      return sum;
    }

    register(size: number, cap: number | null): number {
      const room = cap === null ? size : Math.max(Math.min(size, cap - this.used()), 0);
      const second = (Math.floor(this.nowMs / SECOND) + 1) * SECOND;
      if (room > 0) this.fresh.set(second, (this.fresh.get(second) ?? 0) + room);
      return room;
    }

    upkeep(): void {
      for (const [second, count] of this.fresh) {
        const before = this.counted.get(second)?.count ?? 0;
        this.counted.set(second, { count: before + count, storedMs: this.elapsedMs });
      }
      this.fresh.clear();
      for (const [second, { storedMs }] of this.counted) {
        if (storedMs <= this.elapsedMs - 25 * HOUR) this.counted.delete(second);
      }
    }
  }

  it('D18, D39: for any steps of the clock, usage and caps are those of the model', async () => {
    const CAP = 8;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
        const capped = await addPartner(store, { dailyCap: CAP });
        const { partnerId } = capped;
        const free = { ...(await addPartner(store)), partnerId };
        await database.query('UPDATE api_keys SET partner_id = $1 WHERE id = $2', [partnerId, free.keyId]);
        await remac(store);
        const model = new Model();
        await clock.set(START);
        let sinceLeap: { ms: number; count: number }[] = [];
        for (const action of steps) {
          switch (action.do) {
            case 'register': {
              const cap = action.key === 'capped' ? CAP : null;
              const registered = await register(cap === null ? free : capped, action.size);
              assert.equal(registered, model.register(action.size, cap));
              if (cap !== null) sinceLeap.push({ ms: model.nowMs, count: registered });
              break;
            }
            case 'leap':
              sinceLeap = [];
              model.nowMs += action.ms;
              break;
            case 'pass':
              model.upkeep();
              await database.query('SELECT advance_usage($1)', [partnerId]);
              model.nowMs += action.ms;
              model.elapsedMs += action.ms;
              await elapse(action.ms);
              break;
            case 'upkeep':
              model.upkeep();
              await database.query('SELECT advance_usage($1)', [partnerId]);
          }
          await clock.set(model.nowMs);
          const now = await used(capped);
          assert.equal(now, model.used());
          assert.ok(now >= 0);
          const window = sinceLeap.filter(({ ms }) => ms > model.nowMs - DAY);
          assert.ok(window.reduce((sum, { count }) => sum + count, 0) <= CAP, 'over its cap since the leap');
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('D36, D39: receipts while the clock leaps', () => {
  it('D39: 40 hours ahead, an upkeep there, and back: a retry is always a replay', async () => {
    const partner = await addPartner(store);
    await clock.set(START);
    const elements = batch(2);
    const first = await ingest(partner, elements, 'leap');
    assert.equal(first.replayed, false);
    for (const at of [START + 40 * HOUR, START, START - 40 * HOUR, START + 60 * SECOND]) {
      await clock.set(at);
      await forgetRows(database, BATCH_RECEIPTS);
      assert.deepEqual(await ingest(partner, elements, 'leap'), { ...first, replayed: true });
    }
    assert.equal(await used(partner), 2);
  });

  it('D36: after a day that has certainly passed, the Idempotency-Key is free', async () => {
    const partner = await addPartner(store);
    await clock.set(START);
    const elements = batch(1);
    await ingest(partner, elements, 'day');
    for (const [at, elapsedMs, replayed] of [
      [START + DAY - SECOND, DAY, true],
      [START + DAY, 0, false],
    ] as const) {
      await clock.set(at);
      await elapse(elapsedMs);
      assert.equal((await ingest(partner, elements, 'day')).replayed, replayed);
    }
  });

  it('D36, D39: after a step back of two hours the oldest refused batches are forgotten, not the newest', async () => {
    const KEPT = 1_000;
    const LATER = 300;
    const partner = await addPartner(store, { dailyCap: 0 });
    const receipts = new RefusedReceipts(database, { onForgotten: () => {}, onError: assert.ifError });
    const elements = batch(1);
    const refuse = async (count: number, name: string) => {
      for (let index = 0; index < count; index += 1) {
        await ingest(partner, elements, `${name}${index}`);
        receipts.added(partner.keyId);
        await receipts.settled();
      }
    };
    const isRemembered = async (key: string) => (await ingest(partner, elements, key)).replayed;
    await clock.set(START);
    await refuse(KEPT, 'before');
    await clock.set(START - 2 * HOUR);
    await refuse(LATER, 'after');
    for (const index of [0, LATER / 2, LATER - 1]) {
      assert.ok(await isRemembered(`after${index}`), `the ${index}th after the step`);
    }
    assert.ok(await isRemembered(`before${KEPT - 1}`));
    assert.equal(await isRemembered('before0'), false);
  });
});

describe('D39: Elapsed', () => {
  const storedMs = async () => Number((await database.query('SELECT ms FROM elapsed')).rows[0].ms);

  it('D39: a turn adds the lesser of the stopwatch and the clock, at most a minute', async () => {
    let stopwatchMs = 5_000;
    let nowMs = START;
    await clock.set(nowMs);
    const elapsed = new Elapsed({ monotonicMs: () => stopwatchMs });
    await elapsed.advance(database);
    await elapsed.advance(database);
    const from = await storedMs();
    const turns: [stopwatch: number, clock: number, counted: number][] = [
      [15_000, 15_000, 15_000],
      [15_000, 25 * HOUR, 15_000],
      [15_000, -25 * HOUR, 0],
      [15_000, 4_000, 4_000],
      [HOUR, HOUR, 60_000],
      [15_000, -150_000, 0],
      [15_000, 15_000, 15_000],
    ];
    let expected = from;
    for (const [stopwatch, step, counted] of turns) {
      stopwatchMs += stopwatch;
      nowMs += step;
      await clock.set(nowMs);
      await elapsed.advance(database);
      expected += counted;
      assert.equal(await storedMs(), expected, `${stopwatch} ${step}`);
    }
  });

  it('D39: where the process that moved the time ends, another one goes on', async () => {
    let passedMs = 0;
    const processes = [0, 1e9].map((skew) => new Elapsed({ monotonicMs: () => passedMs + skew }));
    const turns = async (some: readonly number[]) => {
      for (const who of some) {
        passedMs += 15_000;
        await clock.set(START + passedMs);
        await processes[who]!.advance(database);
      }
    };
    // Until the second turn the clock may be behind the time of another test.
    await turns([0, 0, 1, 0, 1, 0]);
    const from = await storedMs();
    // The first turn sees what the other one left.
    await turns([1, 1]);
    assert.equal((await storedMs()) - from, 15_000);
  });

  it('D39: any number of processes together never count more time than has passed', async () => {
    const turn = fc.record({ who: fc.nat({ max: 2 }), afterMs: fc.integer({ min: 0, max: 40_000 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 30 }), async (turns) => {
        let passedMs = 0;
        await clock.set(START);
        const processes = [0, 7_000, 1e9].map((skew) => new Elapsed({ monotonicMs: () => passedMs + skew }));
        const from = await storedMs();
        for (const { who, afterMs } of turns) {
          passedMs += afterMs;
          // The clock leaps ahead all the time, so only the stopwatches decide.
          await clock.set(START + passedMs * 1_000);
          await (processes[who] as Elapsed).advance(database);
          assert.ok((await storedMs()) - from <= passedMs);
        }
      }),
      { numRuns: 40 },
    );
  });
});
