/** Many batches at the same moment, from several instances on one database (D15-D18, D31, D33, D36). */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import type { Outcome } from '../../src/domain/application/read-application.ts';
import type { KeyId, PartnerId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { Registrar } from '../../src/subjects/applications/sql/registration.ts';
import { insertKey } from '../../src/subjects/partners/sql/api-keys.ts';
import { advanceUsage, usedNow } from '../../src/subjects/partners/sql/usage.ts';
import { IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { eventually } from '../support/eventually.ts';
import { intakeOf } from '../support/intake.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { remac } from '../support/remac.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { startPatiently } from '../support/start-patiently.ts';
import { setStatus } from '../support/stored-applications.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const service = await testService();
const { database, vault } = service;

/** An instance that the store cannot tell from a process of its own. */
async function newInstance() {
  const pool = openPatiently(service.databaseUrl, 6);
  return { intake: await intakeOf({ ...service, runtime: pool }), end: () => pool.end() };
}
const newInstances = () => Promise.all([newInstance(), newInstance(), newInstance()]);

let instances = await newInstances();
after(() => Promise.all(instances.map(({ end }) => end())));

interface Partner {
  readonly partnerId: PartnerId;
  readonly keyId: KeyId;
}

const ingest = (
  instance: number,
  { keyId }: Partner,
  elements: readonly unknown[],
  idempotencyKey: string | null = null,
) => instances[instance % instances.length]!.intake(keyId, elements, idempotencyKey);

/** The numbers from 0 to n - 1, in the same order in every run. */
function generator(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const idsOf = (outcomes: readonly Outcome[]) =>
  outcomes.flatMap((outcome) => (outcome.kind === 'registered' ? [outcome.id as number] : []));
const sorted = (ids: readonly number[]) => [...ids].sort((a, b) => a - b);
const count = (outcomes: readonly Outcome[], kind: Outcome['kind']) =>
  outcomes.filter((outcome) => outcome.kind === kind).length;

async function storedOf(partnerIds: readonly number[]): Promise<number[]> {
  const { rows } = await database.query(
    'SELECT id::integer AS id FROM applications WHERE partner_id = ANY ($1) ORDER BY id',
    [partnerIds],
  );
  return rows.map(({ id }) => id);
}

/** Sessions report a deadlock when they end, or after a while. */
async function deadlocks(): Promise<number> {
  const { rows } = await database.query(
    `SELECT deadlocks::integer AS deadlocks FROM pg_stat_database WHERE datname = current_database()`,
  );
  return rows[0].deadlocks;
}

/** Ends the instances' sessions, so that their statistics are complete, and starts new ones. */
async function renewInstances(): Promise<void> {
  await Promise.all(instances.map(({ end }) => end()));
  await eventually('the sessions to end', async () => {
    const { rows } = await database.query(
      `SELECT count(*)::integer AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'ventanilla'`,
    );
    return rows[0].count <= database.totalCount + service.runtime.totalCount;
  });
  instances = await newInstances();
}

let phones = 0;
const newPhone = () => `+57312${String(++phones).padStart(7, '0')}`;

describe('D37: batches that wait for a statement', () => {
  it('a batch of one key goes before the backlog of another', async (t) => {
    const registered = t.mock.method(Registrar.prototype, 'register');
    const [flood, quiet] = [await service.addPartner(), await service.addPartner()];
    const batch = (size: number) => Array.from({ length: size }, () => anApplication({ phone: newPhone() }));
    const blocker = await database.connect();
    await blocker.query('BEGIN; LOCK TABLE open_phones IN EXCLUSIVE MODE');
    const floods = Array.from({ length: 30 }, () => ingest(0, flood, batch(100)));
    const single = ingest(0, quiet, batch(100));
    await eventually(
      'two statements to wait, and all other batches behind them',
      async () => registered.mock.callCount() === 31 && (await waitingSessions(database)).length >= 2,
    );
    await blocker.query('COMMIT');
    blocker.release();
    const [last] = idsOf((await single).outcomes).slice(-1);
    const behind = (await Promise.all(floods)).filter(
      ({ outcomes }) => (idsOf(outcomes)[0] as number) > (last as number),
    );
    // Two statements of one batch each were running, and up to three batches go with the single one; 15 on a cluster.
    assert.ok(behind.length >= (service.isSpread ? 10 : 20), `only ${behind.length} of 30 after it`);
  });
});

describe('D17: phones that many batches want at once', () => {
  it('D17: a phone has at most one open application, and all answers and rows are right', async () => {
    const before = await deadlocks();
    const random = generator(17);
    const partners = await Promise.all(Array.from({ length: 4 }, () => service.addPartner()));
    const wanted = Array.from({ length: 40 }, newPhone);
    const openSent = new Set<string>();
    const batches = Array.from({ length: 150 }, (_, index) => {
      const elements = Array.from({ length: 1 + random(15) }, () => {
        const phone = random(8) === 0 ? null : (wanted[random(wanted.length)] as string);
        const kind = [{}, IN_REVIEW, REJECTED][random(3)];
        if (phone !== null && kind !== REJECTED) openSent.add(phone);
        return anApplication({ ...kind, phone, messaging_optin: random(4) > 0 });
      });
      return { partner: partners[index % 4] as Partner, elements };
    });
    const answers = await Promise.all(
      batches.map(({ partner, elements }, index) => ingest(index, partner, elements)),
    );
    const sent = batches.flatMap(({ elements }) => elements);
    const outcomes = answers.flatMap((answer) => answer.outcomes);
    assert.equal(outcomes.length, sent.length);
    assert.equal(count(outcomes, 'registered') + count(outcomes, 'duplicate'), sent.length);

    // Each id of an answer exists, and each stored application is in one answer.
    const ids = idsOf(outcomes);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(await storedOf(partners.map(({ partnerId }) => partnerId)), sorted(ids));

    const openByPhone = new Map<string, number>();
    const messages: number[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      const { phone, messaging_optin: consent } = sent[index] as {
        phone: string | null;
        messaging_optin: boolean;
      };
      if (phone === null) assert.equal(outcome.kind, 'registered', 'without a phone nothing is a duplicate');
      if (outcome.kind !== 'registered') continue;
      if (phone !== null && consent) messages.push(outcome.id as number);
      if (phone !== null && outcome.decision !== 'rejected') {
        openByPhone.set(phone, (openByPhone.get(phone) ?? 0) + 1);
      }
    }
    assert.deepEqual([...openByPhone.keys()].sort(), [...openSent].sort());
    assert.ok([...openByPhone.values()].every((open) => open === 1));
    const { rows: open } = await database.query(
      `SELECT phone_index, count(*)::integer AS count FROM applications
      WHERE phone_index = ANY ($1) AND status IN ('pending_signature', 'in_review') GROUP BY phone_index`,
      [wanted.map((phone) => toBigint(phoneIndexOf(vault, toPhone(phone))))],
    );
    assert.deepEqual([open.length, open.every((row) => row.count === 1)], [openSent.size, true]);
    const { rows: outbox } = await database.query(
      'SELECT application_id::integer AS id FROM messages WHERE application_id = ANY ($1) ORDER BY 1',
      [ids],
    );
    assert.deepEqual(
      outbox.map(({ id }) => id),
      sorted(messages),
    );
    await renewInstances();
    assert.equal(await deadlocks(), before, 'sessions waited for each other in a circle');
  });

  it('D15-D17: partners with caps in opposite orders of phones do not deadlock', async () => {
    const before = await deadlocks();
    const partners = await Promise.all(Array.from({ length: 3 }, () => service.addPartner({ dailyCap: 30 })));
    const wanted = Array.from({ length: 60 }, newPhone);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const start = (index * 7) % wanted.length;
        const turned = [...wanted.slice(start), ...wanted.slice(0, start)].slice(0, 20);
        const order = index % 2 === 0 ? turned : turned.reverse();
        const elements = order.map((phone) => anApplication({ phone }));
        return ingest(index, partners[index % 3] as Partner, elements);
      }),
    );
    const outcomes = answers.flatMap((answer) => answer.outcomes);
    // Sixty phones and three caps of thirty: each phone is taken once.
    assert.equal(count(outcomes, 'registered'), 60);
    for (const { partnerId } of partners) {
      const stored = await storedOf([partnerId]);
      assert.ok(stored.length <= 30);
      assert.equal((await usedNow(database, partnerId)).used, stored.length);
    }
    await renewInstances();
    assert.equal(await deadlocks(), before, 'sessions waited for each other in a circle');
  });
});

describe('D16, D18: caps under a flood', () => {
  it('D16: several instances register exactly the cap, never more', async () => {
    const dailyCap = 137;
    const partner = await service.addPartner({ dailyCap });
    const shared = Array.from({ length: 10 }, newPhone);
    const random = generator(16);
    let watching = true;
    const watch = (async () => {
      while (watching) {
        assert.ok((await storedOf([partner.partnerId])).length <= dailyCap);
        await advanceUsage(database);
      }
    })();
    const answers = await Promise.all(
      Array.from({ length: 120 }, async (_, index) => {
        for (let turns = random(100); turns > 0; turns -= 1) await nextTurn();
        const elements = Array.from({ length: 7 }, () =>
          random(5) === 0 ? anApplication({ phone: shared[random(10)] }) : anApplication(),
        );
        return ingest(index, partner, elements);
      }),
    );
    watching = false;
    await watch;
    const outcomes = answers.flatMap((answer) => answer.outcomes);
    assert.equal(count(outcomes, 'registered'), dailyCap);
    assert.deepEqual(await storedOf([partner.partnerId]), sorted(idsOf(outcomes)));
    assert.equal((await usedNow(database, partner.partnerId)).used, dailyCap);
    for (const outcome of outcomes) {
      if (outcome.kind === 'over_quota')
        assert.deepEqual([outcome.remaining, outcome.dailyCap], [0, dailyCap]);
    }
    // D16: in each batch the first applications that fit.
    for (const answer of answers) {
      const kinds = answer.outcomes.map(({ kind }) => kind).filter((kind) => kind !== 'duplicate');
      const fit = kinds.indexOf('over_quota') === -1 ? kinds.length : kinds.indexOf('over_quota');
      assert.deepEqual(
        kinds,
        kinds.map((_, index) => (index < fit ? 'registered' : 'over_quota')),
      );
    }
  });

  it('D18: two keys of one partner under a flood stop at the greater cap', async () => {
    const small = await service.addPartner({ dailyCap: 20 });
    const text = { digest: Buffer.alloc(32, 'x'), pepper: '0'.repeat(32), hint: 'hint' };
    const settings = { environment: null, language: 'auto', dailyCap: 50, brand: {} } as const;
    const key = await insertKey(database, vault, small.partnerId, text, settings);
    const great = { partnerId: small.partnerId, keyId: key?.id as KeyId };
    const outcomes = (
      await Promise.all(
        Array.from({ length: 60 }, (_, index) => {
          const elements = Array.from({ length: 3 }, () => anApplication());
          return index % 2 === 0 ? ingest(index, small, elements) : ingest(index, great, elements);
        }),
      )
    ).flatMap((answer) => answer.outcomes);
    assert.equal(count(outcomes, 'registered'), 50);
    assert.equal((await usedNow(database, small.partnerId)).used, 50);
    const { rows: byKey } = await database.query(
      'SELECT count(*)::integer AS count FROM applications WHERE api_key_id = $1',
      [small.keyId],
    );
    assert.ok(byKey[0].count <= 20);
  });

  it('D18: different partners at once, with and without a cap, each have a quota of their own', async () => {
    const caps = [0, 5, null, 33, null, 1];
    const partners = await Promise.all(caps.map((dailyCap) => service.addPartner({ dailyCap })));
    const registered = await Promise.all(
      partners.map(async (partner, number) => {
        const answers = await Promise.all(
          Array.from({ length: 15 }, (_, index) =>
            ingest(
              index + number,
              partner,
              Array.from({ length: 4 }, () => anApplication()),
            ),
          ),
        );
        return count(
          answers.flatMap((answer) => answer.outcomes),
          'registered',
        );
      }),
    );
    assert.deepEqual(
      registered,
      caps.map((cap) => cap ?? 60),
    );
    for (const [index, { partnerId }] of partners.entries()) {
      assert.equal((await usedNow(database, partnerId)).used, registered[index]);
      assert.equal((await storedOf([partnerId])).length, registered[index]);
    }
  });
});

describe('D16: a key at its cap learns nothing', () => {
  it('D16: an application after the cut does not wait for a phone that another session is just taking', async () => {
    const [holding, small, none] = await Promise.all([
      service.addPartner(),
      service.addPartner({ dailyCap: 1 }),
      service.addPartner({ dailyCap: 0 }),
    ]);
    const phone = newPhone();
    const { outcomes: taken } = await ingest(0, holding, [anApplication({ phone })]);
    const holder = await database.connect();
    await holder.query('BEGIN');
    // Until this is committed, a session that takes the phone waits.
    await holder.query('DELETE FROM open_phones WHERE application_id = $1', [idsOf(taken)[0]]);
    const kinds = async (partner: Partner, elements: unknown[]) =>
      (await ingest(0, partner, elements)).outcomes.map(({ kind }) => kind);
    const target = anApplication({ phone });
    assert.deepEqual(await kinds(small, [anApplication(), target]), ['registered', 'over_quota']);
    assert.deepEqual(await kinds(small, [target, anApplication()]), ['over_quota', 'over_quota']);
    assert.deepEqual(await kinds(none, [target]), ['over_quota']);
    await holder.query('ROLLBACK');
    holder.release();
  });

  interface Item {
    readonly line: number | null;
  }
  interface Batch {
    readonly who: number;
    readonly items: readonly Item[];
  }
  const CAPS = [2, 5, null];
  const item: fc.Arbitrary<Item> = fc.record({ line: fc.option(fc.nat({ max: 4 }), { freq: 5 }) });
  const batches: fc.Arbitrary<Batch[]> = fc.array(
    fc.record({
      who: fc.nat({ max: CAPS.length - 1 }),
      items: fc.array(item, { minLength: 1, maxLength: 6 }),
    }),
    { minLength: 2, maxLength: 4 },
  );

  /** D16 and D17 as they are written, one batch after the other in the given order; by the batch's index. */
  function inOrder(batches: readonly Batch[], order: readonly number[]): string[] {
    const open = new Set<number>();
    const used = CAPS.map(() => 0);
    const letters: string[] = [];
    for (const index of order) {
      const { who, items } = batches[index] as Batch;
      letters[index] = items
        .map(({ line }) => {
          if ((used[who] as number) >= (CAPS[who] ?? Number.POSITIVE_INFINITY)) return 'o';
          if (line !== null && open.has(line)) return 'd';
          if (line !== null) open.add(line);
          used[who] = (used[who] as number) + 1;
          return 'r';
        })
        .join('');
    }
    return letters;
  }

  function ordersOf(items: readonly number[]): number[][] {
    if (items.length === 0) return [[]];
    return items.flatMap((first) =>
      ordersOf(items.filter((item) => item !== first)).map((rest) => [first, ...rest]),
    );
  }

  it('D16, D17: batches at the same moment end as in some order one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(batches, async (plan) => {
        const partners = await Promise.all(CAPS.map((dailyCap) => service.addPartner({ dailyCap })));
        const lines = Array.from({ length: 5 }, newPhone);
        const answers = await Promise.all(
          plan.map(({ who, items }, index) => {
            const elements = items.map(({ line }) =>
              anApplication({ phone: line === null ? null : lines[line] }),
            );
            return ingest(index, partners[who] as Partner, elements);
          }),
        );
        const got = answers.map(({ outcomes }) => outcomes.map(({ kind }) => kind[0]).join(''));
        const possible = ordersOf(plan.map((_, index) => index)).map((order) => inOrder(plan, order));
        assert.ok(
          possible.some((letters) => letters.join() === got.join()),
          `${got.join()} in no order of ${possible.map((letters) => letters.join()).join(' | ')}`,
        );
      }),
      { numRuns: 150 },
    );
  });
});

describe('D36: Idempotency-Key', () => {
  const PRO = `${service.url}/PRO`;
  const keyed = (value: string) => ({ 'Idempotency-Key': value });
  const batchOf = (...applications: unknown[]) => JSON.stringify({ applications });
  const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotency-replayed');

  /** All answers are equal, byte for byte, and one of them is the first. */
  function assertOnce(answers: readonly { status: number; text: string; headers: Headers }[]): string {
    const [first] = answers;
    for (const { status, text } of answers) assert.deepEqual([status, text], [200, first?.text]);
    const marks = answers.map(replayed);
    assert.equal(marks.filter((mark) => mark === null).length, 1, 'exactly one registered');
    assert.ok(marks.every((mark) => mark === null || mark === 'true'));
    return first?.text as string;
  }

  const KINDS: [name: string, cap: number | null, make: () => Promise<string>, stored: number][] = [
    ['open ones', null, async () => batchOf(anApplication(), anApplication()), 2],
    ['none with a phone', null, async () => batchOf(anApplication({ phone: null })), 1],
    ['rejected ones', null, async () => batchOf(anApplication(REJECTED), anApplication(REJECTED)), 2],
    [
      'a mixture past its cap',
      2,
      async () => {
        const twice = anApplication();
        return batchOf(
          null,
          twice,
          twice,
          anApplication(REJECTED),
          anApplication(),
          anApplication({ income: 0 }),
        );
      },
      2,
    ],
    ['all invalid', null, async () => batchOf(null, anApplication({ income: 0 })), 0],
    [
      'all duplicates',
      null,
      async () => {
        const taken = anApplication();
        await post(PRO, (await service.addPartner()).apiKey, batchOf(taken));
        return batchOf({ ...taken, name: 'Otra' }, taken);
      },
      0,
    ],
    ['all over quota', 0, async () => batchOf(anApplication(), anApplication()), 0],
  ];
  for (const [name, dailyCap, make, stored] of KINDS) {
    it(`D36: 20 times at the same moment, ${name}: one registration, equal answers`, async () => {
      const { apiKey, partnerId } = await service.addPartner({ dailyCap });
      const body = await make();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => post(PRO, apiKey, body, keyed('same moment'))),
      );
      const text = assertOnce(answers);
      assert.equal((await storedOf([partnerId])).length, stored);
      assert.equal((await usedNow(database, partnerId)).used, stored);
      const later = await post(PRO, apiKey, body, keyed('same moment'));
      assert.deepEqual([later.text, replayed(later)], [text, 'true']);
      assert.equal((await storedOf([partnerId])).length, stored);
    });
  }

  it('D36: 20 times at the same moment through several services on one database', async (t) => {
    const services = await Promise.all(
      [1, 2, 3].map(async () => {
        const pool = openPatiently(service.databaseUrl, 6);
        const config = { ...readConfig({ DELIVERY: 'off' }), port: 0, opsPort: 0 };
        const store = { database: pool, vault, clock: machineClock };
        const running = await startPatiently(config, store, pino({ level: 'silent' }));
        t.after(async () => {
          await running.stop();
          await pool.end();
        });
        return running;
      }),
    );
    for (const [name, dailyCap, make, stored] of KINDS) {
      const { apiKey, partnerId } = await service.addPartner({ dailyCap });
      const body = await make();
      const answers = await Promise.all(
        Array.from({ length: 18 }, (_, index) =>
          post(`${services[index % 3]?.url}/PRO`, apiKey, body, keyed('everywhere')),
        ),
      );
      assertOnce(answers);
      assert.equal((await storedOf([partnerId])).length, stored, name);
      assert.equal((await usedNow(database, partnerId)).used, stored, name);
    }
  });

  it('D36: two bodies under one key at the same moment: one registers, the other is 400', async () => {
    const { apiKey, partnerId } = await service.addPartner();
    const bodies = [batchOf(anApplication()), batchOf(anApplication({ phone: null }))];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => post(PRO, apiKey, bodies[index % 2], keyed('contested'))),
    );
    const groups = [0, 1].map((rest) => answers.filter((_, index) => index % 2 === rest));
    const won = groups.findIndex((group) => group[0]?.status === 200);
    assert.ok(won >= 0);
    assertOnce(groups[won] as typeof answers);
    assert.ok(groups[1 - won]?.every(({ status }) => status === 400));
    assert.equal((await storedOf([partnerId])).length, 1);
  });

  it('D24, D36: a replay has the language of the first answer, even if the language of the key was changed since', async () => {
    const { apiKey, keyId } = await service.addPartner({ dailyCap: 1 });
    const body = batchOf(anApplication(), anApplication(), anApplication({ income: 0 }));
    const first = await post(PRO, apiKey, body, keyed('pinned'));
    assert.match(first.text, /"processed":1/);
    await database.query("UPDATE api_keys SET language = 'es', daily_cap = 77 WHERE id = $1", [keyId]);
    await remac(service);
    const second = await post(PRO, apiKey, body, keyed('pinned'));
    assert.deepEqual([second.text, replayed(second)], [first.text, 'true']);
    assert.match((await post(PRO, apiKey, batchOf(anApplication()))).text, /"procesados":1/);
  });

  it('D35, D36: a replay gives the first answer, whatever happened to the applications since', async () => {
    const { apiKey, partnerId } = await service.addPartner();
    const body = batchOf(anApplication(), anApplication());
    const first = await post(PRO, apiKey, body, keyed('later'));
    await setStatus(database, await storedOf([partnerId]), 'disbursed');
    assert.equal((await post(PRO, apiKey, body, keyed('later'))).text, first.text);
    assert.equal((await storedOf([partnerId])).length, 2);
  });

  it('D36: another body is 400 and changes nothing, even if its JSON is equal', async () => {
    const { apiKey, partnerId } = await service.addPartner();
    const body = batchOf(anApplication());
    const first = await post(PRO, apiKey, body, keyed('k'));
    for (const other of [`${body} `, batchOf(anApplication()), batchOf(null)]) {
      const { status, text } = await post(PRO, apiKey, other, keyed('k'));
      assert.deepEqual([status, Object.keys(JSON.parse(text))], [400, ['error']]);
    }
    assert.equal((await post(PRO, apiKey, body, keyed('k'))).text, first.text);
    assert.equal((await storedOf([partnerId])).length, 1);
  });

  it('D36: malformed values are 400 and register nothing; the longest and oddest valid ones are accepted', async () => {
    const { apiKey, partnerId } = await service.addPartner();
    for (const value of ['', 'x'.repeat(256), 'caf\u00e9', 'a\tb', '\u00a0', '\u0080']) {
      const { status } = await post(PRO, apiKey, batchOf(anApplication()), keyed(value));
      assert.equal(status, 400, JSON.stringify(value));
    }
    assert.deepEqual(await storedOf([partnerId]), []);
    for (const value of ['~', 'x'.repeat(255), '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}', 'a b']) {
      const body = batchOf(anApplication());
      const first = await post(PRO, apiKey, body, keyed(value));
      const second = await post(PRO, apiKey, body, keyed(value));
      assert.deepEqual([first.status, replayed(first)], [200, null], value);
      assert.deepEqual([second.text, replayed(second)], [first.text, 'true'], value);
    }
    assert.equal((await storedOf([partnerId])).length, 4);
  });

  it('D36: values that differ in case, a space or a suffix are different', async () => {
    const { apiKey, partnerId } = await service.addPartner();
    for (const value of ['abc', 'ABC', 'abc1', 'a bc', 'ab']) {
      assert.equal(replayed(await post(PRO, apiKey, batchOf(anApplication()), keyed(value))), null);
    }
    assert.equal((await storedOf([partnerId])).length, 5);
  });

  it('D36: only a 200 is remembered: a 400 or 401 leaves the value free', async () => {
    const { apiKey, partnerId } = await service.addPartner();
    for (const bad of ['{', '{}', '{"applications":[]}', batchOf(...Array(101).fill(null))]) {
      assert.equal((await post(PRO, apiKey, bad, keyed('free'))).status, 400);
    }
    assert.equal((await post(PRO, `${apiKey}x`, batchOf(null), keyed('free'))).status, 401);
    const { status, headers } = await post(PRO, apiKey, batchOf(anApplication()), keyed('free'));
    assert.deepEqual([status, replayed({ headers })], [200, null]);
    assert.equal((await storedOf([partnerId])).length, 1);
  });

  it('D36: an answer is remembered for 24 hours', async () => {
    const { apiKey, partnerId, keyId } = await service.addPartner();
    const body = batchOf(anApplication({ phone: null }));
    const first = await post(PRO, apiKey, body, keyed('day'));
    const age = (interval: string) =>
      database.query(
        `UPDATE batch_receipts SET created_at = now() - $2::interval,
          stored_ms = elapsed_ms() - extract(epoch FROM $2::interval) * 1000 WHERE api_key_id = $1`,
        [keyId, interval],
      );
    await age('23 hours 50 minutes');
    assert.equal((await post(PRO, apiKey, body, keyed('day'))).text, first.text);
    await age('24 hours');
    const other = batchOf(anApplication({ phone: null }), anApplication());
    const anew = await Promise.all(Array.from({ length: 6 }, () => post(PRO, apiKey, other, keyed('day'))));
    assert.notEqual(assertOnce(anew), first.text);
    assert.equal((await storedOf([partnerId])).length, 3);
  });
});
