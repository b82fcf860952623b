/** The counts of the business are those of a recount to the unit (docs/business.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Application } from '../../src/domain/application/fields.ts';
import { bucketOf, secondsOf } from '../../src/domain/application/waits.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { forgetPartitions } from '../../src/subjects/applications/sql/partitions.ts';
import { IN_REVIEW, MEXICAN, REJECTED } from '../support/applicant.ts';
import { Dying } from '../support/dying.ts';
import { closePartition, growOlder } from '../support/old-partitions.ts';
import { shifted } from '../support/shifted.ts';
import { businessStore } from './support.ts';

const { income, debt_amount, currency } = MEXICAN;
const IN_MEXICO = { income, debt_amount, currency };
const DECISIONS = [{}, IN_REVIEW, REJECTED, IN_MEXICO] as const;
const withDecisions = (...some: number[]): Partial<Application>[] => some.map((n) => DECISIONS[n]!);

describe('the counts', () => {
  it('D39: equal a recount after any registrations, reviews, events and steps of the clock, and two at once count nothing twice', async () => {
    const { store, json, send, happened, offered, count, turn, report, recounted } = await businessStore();
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('send' as const),
        partner: fc.nat(1),
        some: fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
        amount: fc.double({ min: 0.01, max: 1e9, noNaN: true }),
      }),
      fc.record({ kind: fc.constant('review' as const), pick: fc.nat(), approve: fc.boolean() }),
      fc.record({
        kind: fc.constantFrom(
          'conversation.started' as const,
          'contract.signed' as const,
          'contract.withdrawn' as const,
          'documents.received' as const,
        ),
        pick: fc.nat(),
      }),
      fc.record({ kind: fc.constant('offer' as const), pick: fc.nat() }),
      fc.record({ kind: fc.constant('clock' as const), hours: fc.integer({ min: -80, max: 80 }) }),
      fc.record({ kind: fc.constant('count' as const), processes: fc.integer({ min: 1, max: 3 }) }),
    );
    const known: { id: number; partner: number; decision: number; reviewed: boolean }[] = [];
    const expected = new Map<string, number>();
    const more = (name: string) => expected.set(name, (expected.get(name) ?? 0) + 1);
    const shown = new Set<number>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        for (const one of steps) {
          const of = 'pick' in one ? known[one.pick % Math.max(known.length, 1)] : undefined;
          if (one.kind === 'send') {
            const some = withDecisions(...one.some).map((changes, n) =>
              n === 0 && one.some[0] === 0 ? { ...changes, debt_amount: one.amount } : changes,
            );
            const ids = await send(one.partner, some);
            for (const [n, id] of ids.entries())
              known.push({ id, partner: one.partner, decision: one.some[n]!, reviewed: false });
            for (const _ of ids) more('registered');
          } else if (one.kind === 'review') {
            const waiting = known.filter(({ decision, reviewed }) => decision === 1 && !reviewed);
            const chosen = waiting[one.pick % Math.max(waiting.length, 1)];
            if (chosen === undefined) continue;
            chosen.reviewed = true;
            await json('application', one.approve ? 'approve' : 'reject', `${chosen.id}`, '--reason', 'x');
            more(one.approve ? 'review_approved' : 'review_rejected');
          } else if (one.kind === 'count')
            await Promise.all(Array.from({ length: one.processes }, () => turn()));
          else if (one.kind === 'clock') {
            // As if the clock had stood elsewhere when these came in: nothing of them is counted yet.
            const by = `interval '${one.hours} hours'`;
            await store.database.query(
              `UPDATE partner_events SET at = ${shifted('at', by)} WHERE number >= coalesce(
                (SELECT m.next_event FROM business_event_places m WHERE m.partner_id = partner_events.partner_id), 0)`,
            );
            await store.database.query(
              `UPDATE batches SET created_at = ${shifted('created_at', by)} WHERE id >= (SELECT next_batch FROM business_place)`,
            );
          } else if (of !== undefined && one.kind === 'offer') {
            await offered(of.id);
            if (!shown.has(of.id)) more('offered');
            shown.add(of.id);
          } else if (of !== undefined) {
            await happened(one.kind, of.partner, [of.id]);
            more(one.kind === 'documents.received' ? 'documents' : one.kind.split('.')[1]!);
          }
        }
        await count();
        const { code, ok, differences } = await recounted();
        assert.deepEqual([code, ok, differences], [0, true, []]);
        const rows = await report('--by', 'month', '--since', '2000-01-01');
        for (const [name, n] of expected)
          assert.equal(
            rows.reduce((sum, row) => sum + (row as unknown as Record<string, number>)[name]!, 0),
            n,
            name,
          );
      }),
      { numRuns: 6 },
    );
  });

  it('D45: amounts are exact, in the minor units of their currency', async () => {
    const { send, count, report } = await businessStore();
    const mxn = { ...IN_MEXICO, debt_amount: 0.1 };
    await send(1, [mxn, mxn, mxn, { ...IN_MEXICO, debt_amount: 9_007_199_254_740_992 }]);
    await send(1, [{ currency: 'COP', debt_amount: 6_000_000.4 }]);
    await count();
    assert.deepEqual(
      (await report()).map(({ country, currency, registered, amount_registered: amount }) => [
        ...[country, currency, registered, amount],
      ]),
      [
        ['MX', 'COP', 1, '6000000'],
        ['MX', 'MXN', 4, '9007199254740992.30'],
      ],
    );
  });

  it('D15: a turn that dies between its statements counts nothing, and the next one counts all once', async () => {
    const { context, send, happened, turn, count, report, recounted } = await businessStore();
    for (const dead of [
      'INSERT INTO business_days',
      'UPDATE business_place',
      'INSERT INTO business_totals',
      'COMMIT',
    ])
      for (const when of ['before', 'after'] as const) {
        const [id] = await send(0, withDecisions(0, 2));
        await happened('contract.signed', 0, [id!]);
        const dying = new Dying(({ text }) => (text.includes(dead) ? when : null));
        dying.arm();
        await turn(dying.over(context.database)).catch(() => {});
      }
    await Promise.all([turn(), turn(), turn()]);
    await count();
    const [row] = await report();
    assert.deepEqual([row!.registered, row!.approved, row!.rejected, row!.signed], [16, 8, 8, 8]);
    assert.deepEqual((await recounted()).differences, []);
  });

  it('D30: what retention deletes stays counted; a store of before is counted from what is there', async () => {
    const { store, json, send, happened, count, report, recounted } = await businessStore();
    const ids = await send(0, withDecisions(0, 2, 2));
    await happened('conversation.started', 0, [ids[0]!]);
    await closePartition(store.database);
    await growOlder(store.database, 31);
    await count();
    const before = await report('--since', '2020-01-01', '--by', 'month');
    await forgetPartitions(store.database, machineClock, 30);
    const left = await store.database.query('SELECT count(*)::integer AS n FROM applications');
    assert.equal(left.rows[0].n, 1, 'the case deletes something');
    await send(0, withDecisions(2));
    await count();
    const after = await report('--since', '2020-01-01', '--by', 'month');
    const total = (rows: typeof after) => rows.reduce((sum, { registered }) => sum + registered, 0);
    assert.deepEqual([total(before), total(after)], [3, 4]);
    assert.deepEqual((await recounted()).differences, []);
    // Without any counts, the upkeep counts what is left: as in a store that another version has filled.
    await store.database.query('DELETE FROM business_days');
    await store.database.query('UPDATE business_place SET next_batch = 0');
    await store.database.query('DELETE FROM business_event_places');
    await count();
    assert.equal(total(await report('--since', '2020-01-01', '--by', 'month')), 2);
    assert.deepEqual((await recounted()).differences, []);
    // An application that is gone has no currency any more.
    await json('application', 'reject', `${ids[0]}`, '--reason', 'x');
    await growOlder(store.database, 31);
    await store.database.query('UPDATE closed_segments SET kept_ms = 0, written_ms = 0');
    await happened('contract.withdrawn', 0, [ids[1]!]);
    await count();
    const gone = (await report()).filter(({ currency }) => currency === 'XXX');
    assert.deepEqual(
      gone.map(({ withdrawn }) => withdrawn),
      [1],
    );
  });

  it('D46: a payment counts the amount that is lent, or without a contract the one that was asked for', async () => {
    const { json, send, count, report, store } = await businessStore();
    const [plain, lent] = await send(0, withDecisions(0, 0));
    await store.database.query(
      `INSERT INTO loan_contracts (application_id, state, elapsed_ms, terms, expires_at)
      VALUES ($1, 'signed', 0, '{"offer": {"amount": "5500000"}}', now())`,
      [lent],
    );
    for (const id of [plain, lent]) await json('application', 'disburse', `${id}`, '--reason', 'paid');
    await count();
    const [row] = await report();
    assert.deepEqual([row!.disbursed, row!.amount_disbursed], [2, '11500000']);
  });
});

describe('the times between steps', () => {
  it('D39: are counted for each step whose step before is known, and an override is a review against the score', async () => {
    const { store, json, send, happened, offered, count, report, recounted } = await businessStore();
    const [plain, reviewed] = await send(0, withDecisions(0, 1));
    const sql = (text: string, ...values: unknown[]) => store.database.query(text, values);
    await json('application', 'reject', `${reviewed}`, '--reason', 'x');
    await happened('conversation.started', 0, [plain!]);
    await sql(
      `INSERT INTO application_states (batch_id, application_id, status, conversation_at, signed_at)
      VALUES (batch_of($1), $1, 'pending_signature', now() - interval '100 seconds', now() - interval '1000 seconds')`,
      plain,
    );
    await happened('documents.received', 0, [plain!]);
    await offered(plain!);
    await happened('contract.signed', 0, [plain!]);
    await sql("UPDATE batches SET created_at = created_at - interval '1 hour'");
    await json('application', 'disburse', `${plain}`, '--reason', 'paid');
    await count();
    const counted = async (per: string) =>
      (
        await sql(
          'SELECT step, bucket::integer, sum(times)::integer AS times FROM business_waits WHERE per = $1 GROUP BY 1, 2 ORDER BY 1, 2',
          per,
        )
      ).rows;
    const rows = await counted('day');
    assert.deepEqual(await counted('month'), rows, 'months have the sums of their days');
    const seconds = Object.fromEntries(rows.map(({ step, bucket }) => [step, secondsOf(bucket)]));
    assert.deepEqual(
      rows.map(({ step, times }) => [step, times]),
      ['documents', 'offer', 'pay', 'review', 'sign', 'start'].map((step) => [step, 1]),
    );
    for (const [step, exact] of [
      ['review', 3_600],
      ['start', 3_600],
      ['documents', 100],
      ['offer', 100],
      ['pay', 1_000],
    ] as const)
      assert.ok(Math.abs(seconds[step] / exact - 1) < 0.15, `${step}: ${seconds[step]}`);
    const [row] = await report('--by', 'month');
    const { score } = (await sql('SELECT score::integer FROM applications WHERE id = $1', reviewed)).rows[0];
    assert.equal(row!.overridden, score >= 50 ? 1 : 0);
    assert.equal(row!.approval_rate, 0.5);
    assert.equal((await recounted()).ok, true);
  });

  it('a bucket tells a time to a tenth, and no clock makes one below 0', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2_000, max: 10 ** 11 }), (ms) => {
        const told = secondsOf(bucketOf(ms));
        assert.ok(Math.abs(told / (ms / 1_000) - 1) <= 0.1 + 500 / ms, `${ms}: ${told}`);
      }),
    );
    for (const ms of [-1, 0, 1_000]) assert.equal(bucketOf(ms), 0);
    assert.equal(bucketOf(Number.MAX_SAFE_INTEGER), 120);
  });
});

describe('the recount', () => {
  it('D16: names a day on which other refusals are counted than the keys had', async () => {
    const { store, keys, turn, recounted } = await businessStore();
    await store.database.query(
      `INSERT INTO key_outcomes (hour, api_key_id, registered, duplicate, over_quota, invalid, unauthorized, remembered, forgotten)
      VALUES (date_trunc('hour', now(), 'UTC') - interval '50 hours', $1, 0, 1, 2, 3, 0, 0, 0)`,
      [keys[0]],
    );
    await turn();
    assert.deepEqual((await recounted()).differences, []);
    for (const by of [1, -1]) {
      await store.database.query(`UPDATE business_days SET invalid = 3 + ${by}`);
      const [one, ...others] = (await recounted()).differences;
      assert.deepEqual([one.count, one.counted, one.found, others], ['invalid', `${3 + by}`, '3', []]);
    }
  });

  it('D39: names the count that differs and ends with 1, whichever it is', async () => {
    const { store, run, json, send, happened, offered, count, recounted } = await businessStore();
    const [id] = await send(0, withDecisions(0));
    await happened('conversation.started', 0, [id!]);
    await offered(id!);
    await json('application', 'disburse', `${id}`, '--reason', 'paid');
    await count();
    assert.equal((await recounted()).code, 0);
    for (const [name, counts] of [
      ['registered', [-1, 1]],
      ['amount_registered', [-1, 1]],
      ['approved', [-1, 1]],
      ['started', [-1, 1]],
      ['overridden', [1]],
      ['amount_disbursed', [-1, 1]],
      // Evidence goes with its application, so more than is there proves nothing.
      ['offered', [-1]],
    ] as const)
      for (const by of counts) {
        await store.database.query(`UPDATE business_days SET ${name} = ${name} + ${by}`);
        const { code, ok, differences } = await recounted();
        assert.deepEqual(
          [code, ok, differences.map((one: { count: string }) => one.count)],
          [1, false, [name]],
        );
        assert.match(
          (await run('report', '--recount')).out,
          new RegExp(`: ${name}.* is \\d+, and \\d+ were found\n`),
        );
        await store.database.query(`UPDATE business_days SET ${name} = ${name} - ${by}`);
      }
    assert.match(
      (await run('report', '--recount')).out,
      /^The counts are those of 1 application and \d events?\.\n/,
    );
  });
});

it('D16: what was refused counts by reason, under the currency of the partner, and is never counted twice', async () => {
  const { store, keys, turn, send, report } = await businessStore();
  const add = (hours: number, ...counts: number[]) =>
    store.database.query(
      `INSERT INTO key_outcomes AS o (hour, api_key_id, registered, duplicate, over_quota, invalid, unauthorized, remembered,
        forgotten)
      VALUES (date_trunc('hour', now(), 'UTC') + $1 * interval '1 hour', $2, 0, $3, $4, $5, 9, 0, 0)
      ON CONFLICT (hour, api_key_id) DO UPDATE SET duplicate = o.duplicate + excluded.duplicate,
        over_quota = o.over_quota + excluded.over_quota, invalid = o.invalid + excluded.invalid`,
      [hours, keys[1], ...counts],
    );
  await send(1, [IN_MEXICO]);
  await add(-400, 1, 0, 0);
  await add(0, 1, 2, 3);
  await Promise.all([turn(), turn()]);
  await add(-1, 10, 0, 0);
  await add(0, 0, 0, 4);
  for (let turns = 0; turns < 3; turns += 1) await turn();
  await store.database.query('DELETE FROM key_outcomes');
  await turn();
  const [row, ...others] = await report('--by', 'month', '--since', '2020-01-01').then((rows) =>
    rows.length === 1
      ? rows
      : [
          rows.reduce((one, other) => ({
            ...other,
            ...Object.fromEntries(
              (['registered', 'refused', 'duplicate', 'over_quota', 'invalid'] as const).map((name) => [
                name,
                one[name] + other[name],
              ]),
            ),
          })),
        ],
  );
  assert.deepEqual(others, []);
  const { currency, registered, refused, duplicate, over_quota: over, invalid } = row!;
  assert.deepEqual([currency, registered, refused, duplicate, over, invalid], ['MXN', 1, 21, 12, 2, 7]);
});
