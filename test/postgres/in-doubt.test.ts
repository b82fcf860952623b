/** A database that dies during a registration: the answers are what is stored (D15, D37). */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import pino from 'pino';
import { readConfig } from '../../src/app/config/config.ts';
import type { KeyId, PartnerId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { againAfterConflict } from '../../src/ground/postgres/database.ts';
import { openDatabase } from '../../src/ground/postgres/open-database.ts';
import { PARTNER_LIMITS } from '../../src/listeners/partner/partner-api.ts';
import { phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { setKeyCap } from '../../src/subjects/partners/sql/key-changes.ts';
import { REJECTED } from '../support/applicant.ts';
import { eventually, SLACK_MS } from '../support/eventually.ts';
import { type Fault, Middleman } from '../support/middleman.ts';
import { patient } from '../support/patient.ts';
import { anApplication, post, postUntilServed, testService } from '../support/service.ts';
import { startPatiently } from '../support/start-patiently.ts';
import { setStatus } from '../support/stored-applications.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const service = await testService();
/** On a database of its own, for the tests that look for the one waiting session. */
const locked = await testService();
/** With the limits of a real service, which give a statement up that waits for a lock. */
const limited = await testService({}, { isPatient: false });
/** Below the limits of every service, so that an answer that keeps another limit is found. */
const SHORT = {
  connections: { ...PARTNER_LIMITS.connections, closedAfterMs: 6_600 },
  answerWithinMs: 6_000,
};
/** So long that an answer which waits for its end does not come quickly. */
const LONG = patient(PARTNER_LIMITS);
const DUPLICATE_TEXT = 'a request already exists for this messaging-channel number';

/** A service of its own on the same database, which it reaches through a proxy of its own. */
async function proxied(t: TestContext, limits = PARTNER_LIMITS) {
  const address = new URL(service.databaseUrl);
  const proxy = new Middleman({ host: address.hostname, port: Number(address.port) });
  await proxy.start();
  address.hostname = '127.0.0.1';
  address.port = String(proxy.port);
  const database = openDatabase(
    { connectionString: address.href },
    { max: 10, onError: () => {}, clock: machineClock },
  );
  // Open sessions: on a busy machine a new one may take longer than the service waits for one.
  const sessions = await Promise.all(
    [1, 2].map(() => eventually('a session', () => database.connect().catch(() => undefined))),
  );
  for (const session of sessions) session.release();
  const config = { ...readConfig({}), port: 0, opsPort: 0 };
  const store = { database, vault: service.vault, clock: machineClock };
  const running = await startPatiently(config, store, pino({ level: 'silent' }), limits);
  t.after(async () => {
    proxy.heal();
    await running.stop();
    await database.end();
    await proxy.stop();
  });
  return { proxy, database, url: `${running.url}/PRO` };
}

interface Answer {
  readonly results: { id: number; id_number: string }[];
  readonly errors_detail?: { id_number: string; error: string }[];
}

/** Everything of the partner in the store. */
async function storedOf(partnerId: PartnerId, { database } = service) {
  const { rows } = await database.query(
    `SELECT (SELECT coalesce(array_agg(id::integer ORDER BY id), '{}') FROM applications WHERE partner_id = $1) AS ids,
      (SELECT coalesce(array_agg(m.application_id::integer ORDER BY m.application_id), '{}') FROM messages m
        JOIN applications a ON a.id = m.application_id WHERE a.partner_id = $1) AS messages,
      usage_at($1, now())::integer AS used`,
    [partnerId],
  );
  return rows[0] as { ids: number[]; messages: number[]; used: number };
}

/** The service closed the connection at the end of its time, as it rightly does on a very busy machine. */
class ClosedInTime extends Error {}

/** Posts once; throws `ClosedInTime` where that is what happened. */
async function send(...request: Parameters<typeof post>): ReturnType<typeof post> {
  const startMs = performance.now();
  try {
    return await post(...request);
  } catch (error) {
    if (performance.now() - startMs < PARTNER_LIMITS.answerWithinMs) throw error;
    throw new ClosedInTime('no answer in the time of a request', { cause: error });
  }
}

/**
 * A 500 says that nothing is stored, so the request is repeated (D37). It has no key, because a replay would hide what
 * is stored.
 */
function untilServed<T extends { status: unknown }>(request: () => Promise<T>): Promise<T> {
  return eventually('an answer', async () => {
    const answer = await request();
    return answer.status === 500 ? undefined : answer;
  });
}

/**
 * Sends through a proxy that has faults to do. On a busy machine the service may have no session in time: the request
 * did not come as far then, so it is repeated (D37).
 */
function toFault<T extends { status: unknown }>(proxy: Middleman, request: () => Promise<T>): Promise<T> {
  const left = proxy.faults.length;
  return eventually('a session for the request', async () => {
    const answer = await request();
    const isTrouble = answer.status === 500 || answer.status === 'closed';
    return isTrouble && proxy.faults.length === left ? undefined : answer;
  });
}

/** Waits for what happens before a request is answered, and fails as the request does. */
function beforeAnswer<T>(
  answer: Promise<unknown>,
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  let failed: { readonly error: unknown } | null = null;
  answer.catch((error) => {
    failed = { error };
  });
  return eventually(what, () => {
    if (failed !== null) throw failed.error;
    return look();
  });
}

/** A test whose batches must be answered. It begins again where the service closed a connection in its time. */
function itAnswers(rule: string, story: (t: TestContext) => Promise<void>): void {
  it(rule, async (t) => {
    await eventually('an answer', () =>
      story(t).then(
        () => true,
        (error) => {
          if (!(error instanceof ClosedInTime)) throw error;
          return false;
        },
      ),
    );
  });
}

const idsOf = ({ results }: Answer) => results.map(({ id }) => id).sort((a, b) => a - b);

/** Waits until no session of the database registers any more: a server's session may outlive its client. */
async function settled({ database } = service): Promise<void> {
  await eventually('the registering statements to end', async () => {
    const { rows } = await database.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND state <> 'idle' AND query LIKE '%register_batches%'`,
    );
    return rows.length === 0;
  });
}

const { apiKey: otherKey } = await service.addPartner();
const open = (changes: object = {}) => anApplication({ ...changes });
const rejected = (changes: object = {}) => anApplication({ ...REJECTED, ...changes });

/** Batches with their required outcomes by letter: Registered, Duplicate, Quota. */
const BATCHES: [name: string, cap: number | null, make: () => Promise<unknown[]>, expected: string][] = [
  ['open ones alone', null, async () => [open(), open(), open()], 'RRR'],
  ['one open one', null, async () => [open()], 'R'],
  ['rejected ones alone', null, async () => [rejected(), rejected()], 'RR'],
  ['none with a phone', null, async () => [open({ phone: null }), open({ phone: null })], 'RR'],
  [
    'a mixture with duplicates',
    null,
    async () => {
      const [taken, phone] = [open(), open()];
      await postUntilServed(`${service.url}/PRO`, otherKey, { applications: [taken] });
      return [open(), open({ phone: taken.phone }), phone, rejected(), { ...phone }, open({ phone: null })];
    },
    'RDRRDR',
  ],
  [
    'duplicates alone',
    null,
    async () => {
      const taken = open();
      await postUntilServed(`${service.url}/PRO`, otherKey, { applications: [taken] });
      return [open({ phone: taken.phone }), rejected({ phone: taken.phone })];
    },
    'DD',
  ],
  ['one that fills the cap', 2, async () => [open(), open()], 'RR'],
  ['one that passes the cap', 2, async () => [open(), rejected({ phone: null }), open(), open()], 'RRQQ'],
  ['one without a phone that fills the cap', 1, async () => [rejected({ phone: null })], 'R'],
];

function lettersOf(batch: readonly unknown[], answer: Answer): string {
  const results = [...answer.results];
  const errors = [...(answer.errors_detail ?? [])];
  const letters = batch.map((application) => {
    const { id_number } = application as { id_number: string };
    if (results[0]?.id_number === id_number) return results.shift() && 'R';
    const error = errors.shift();
    if (error?.id_number !== id_number) return '?';
    if (error.error === DUPLICATE_TEXT) return 'D';
    return error.error === 'quota_partner_exceeded' ? 'Q' : '?';
  });
  assert.deepEqual([results, errors], [[], []]);
  return letters.join('');
}

/** Checks that the partner's rows are exactly what the answers say. */
async function assertStored(partnerId: PartnerId, answers: readonly Answer[], on = service): Promise<void> {
  await settled(on);
  const ids = answers.flatMap(idsOf).sort((a, b) => a - b);
  const stored = await storedOf(partnerId, on);
  assert.deepEqual(stored.ids, ids);
  assert.equal(stored.used, ids.length);
  assert.ok(stored.messages.every((id) => ids.includes(id)));
}

/** The answer, or 'closed' if the connection ended without one; and how many milliseconds it took. */
async function attempt(
  url: string,
  apiKey: string,
  applications: unknown[] | null,
): Promise<{ status: number | 'closed'; retryAfter: string | null; body: Answer; ms: number }> {
  const start = performance.now();
  try {
    const response = await fetch(url, {
      headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
      ...(applications === null ? {} : { method: 'POST', body: JSON.stringify({ applications }) }),
    });
    const body = (await response.json()) as Answer;
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, retryAfter, body, ms: performance.now() - start };
  } catch {
    return { status: 'closed', retryAfter: null, body: null as never, ms: performance.now() - start };
  }
}

/** On a cluster each session works for several machines. */
const atOnce = (most: number) => ({ concurrency: service.isSpread ? 1 : most });

// At the same time, because two of them last as long as a request may.
describe('in doubt', atOnce(2), () => {
  describe('D37: the database does not answer', atOnce(2), () => {
    it('D37: if connections are refused, POST and GET answer 500 with Retry-After quickly', async (t) => {
      const { proxy, url } = await proxied(t, LONG);
      const { apiKey, partnerId } = await service.addPartner();
      const batch = [open(), open()];
      assert.equal((await untilServed(() => attempt(url, apiKey, null))).status, 200);
      await proxy.stop();
      const requests = Array.from({ length: 20 }, (_, index) =>
        attempt(url, apiKey, index % 4 ? batch : null),
      );
      for (const { status, retryAfter, ms } of await Promise.all(requests)) {
        assert.deepEqual([status, retryAfter], [500, '1']);
        assert.ok(ms < SLACK_MS, `${ms} ms`);
      }
      await assertStored(partnerId, []);
      await proxy.start();
      const { status, body } = await untilServed(() => attempt(url, apiKey, batch));
      assert.equal(status, 200);
      assert.equal(lettersOf(batch, body), 'RR');
      await assertStored(partnerId, [body]);
    });

    it('D37: if nothing passes any more, the answer is 500 with Retry-After within 10 s, and nothing is stored', async (t) => {
      const { proxy, url } = await proxied(t);
      const { apiKey, partnerId } = await service.addPartner();
      // Connections that are open at that time, and new ones.
      await Promise.all([attempt(url, apiKey, null), attempt(url, apiKey, null)]);
      proxy.blackHole = true;
      const batch = [open(), open()];
      const requests = Array.from({ length: 12 }, async (_, index) => {
        await sleep(index * 100);
        return attempt(url, apiKey, index % 4 ? batch : null);
      });
      // After the time of a request its connection is closed without an answer.
      for (const { status, retryAfter } of await Promise.all(requests)) {
        assert.deepEqual([status, retryAfter], [500, '1']);
      }
      await assertStored(partnerId, []);
      proxy.heal();
      const { status, body } = await untilServed(() => attempt(url, apiKey, batch));
      assert.equal(status, 200);
      assert.equal(lettersOf(batch, body), 'RR');
      await assertStored(partnerId, [body]);
    });

    for (const [fault, stored] of [
      ['swallow', false],
      ['hole', true],
    ] as const) {
      const what = stored ? 'it committed, and the service cannot find out' : 'the statement never comes';
      it(`D15, D37: ${what}: closed or 500 in its time, whole or not at all`, async (t) => {
        const { proxy, url } = await proxied(t, SHORT);
        const { apiKey, partnerId } = await service.addPartner();
        const batch = [open(), rejected(), open({ phone: null })];
        proxy.faults.push(fault);
        const request = toFault(proxy, () => attempt(url, apiKey, batch));
        await beforeAnswer(request, 'the fault', () => proxy.faults.length === 0);
        if (stored) await eventually('the commit', async () => (await storedOf(partnerId)).ids.length > 0);
        proxy.blackHole = true;
        const { status, retryAfter, ms } = await request;
        assert.ok(ms < PARTNER_LIMITS.answerWithinMs, `${ms} ms`);
        await settled();
        const { ids, messages, used } = await storedOf(partnerId);
        assert.deepEqual(
          [ids.length, messages.length, used],
          stored ? [3, 2, 3] : [0, 0, 0],
          'a batch is one atomic write',
        );
        // A 500 says that nothing is stored.
        if (stored) assert.equal(status, 'closed');
        else assert.ok(status === 'closed' || (status === 500 && retryAfter === '1'), `${status}`);
        proxy.heal();
        const again = await untilServed(() => attempt(url, apiKey, batch));
        assert.equal(again.status, 200);
        assert.equal(lettersOf(batch, again.body), stored ? 'DRR' : 'RRR');
      });
    }
  });

  describe('D15: the connection dies under the registering statement', atOnce(2), () => {
    const places: [fault: Fault, where: string][] = [
      ['after', 'after the commit, before the answer'],
      ['at_once', 'while the statement runs'],
      ['before', 'before the statement reaches the server'],
    ];
    for (const [fault, where] of places) {
      for (const [name, cap, make, expected] of BATCHES) {
        itAnswers(`D15: ${where}: ${name}: right answer, stored once`, async (t) => {
          const { proxy, url } = await proxied(t);
          const { apiKey, partnerId } = await service.addPartner({ dailyCap: cap });
          const batch = await make();
          proxy.faults.push(fault);
          const { status, body, text } = await toFault(proxy, () =>
            send(url, apiKey, { applications: batch }),
          );
          assert.deepEqual([status, proxy.faults], [200, []], text);
          assert.equal(lettersOf(batch, body), expected, text);
          await assertStored(partnerId, [body]);
          const again = await postUntilServed(url, apiKey, {
            applications: [anApplication({ phone: null })],
          });
          assert.equal(again.status, 200);
        });
      }
    }

    itAnswers('D15: the connection dies several times in a row: right answer, stored once', async (t) => {
      const { proxy, url } = await proxied(t);
      const { apiKey, partnerId } = await service.addPartner({ dailyCap: 3 });
      const batch = [open(), open(), rejected({ phone: null }), open()];
      proxy.faults.push('before', 'at_once', 'after', 'after', 'before');
      const { status, body, text } = await toFault(proxy, () => send(url, apiKey, { applications: batch }));
      assert.deepEqual([status, proxy.faults], [200, []], text);
      assert.equal(lettersOf(batch, body), 'RRRQ');
      await assertStored(partnerId, [body]);
    });

    itAnswers(
      'D15, D36: with an Idempotency-Key the answer is the first one, and is remembered',
      async (t) => {
        for (const fault of ['after', 'at_once', 'before'] as const) {
          const { proxy, url } = await proxied(t);
          const { apiKey, partnerId } = await service.addPartner();
          const body = JSON.stringify({ applications: [open(), rejected(), anApplication({ income: 0 })] });
          proxy.faults.push(fault);
          const first = await toFault(proxy, () => send(url, apiKey, body, { 'Idempotency-Key': 'one' }));
          assert.deepEqual([first.status, proxy.faults], [200, []], first.text);
          assert.equal((first.body as Answer).results.length, 2);
          assert.equal(first.headers.get('idempotency-replayed'), null, 'the client sent it once');
          const second = await postUntilServed(url, apiKey, body, { 'Idempotency-Key': 'one' });
          assert.deepEqual([second.text, second.headers.get('idempotency-replayed')], [first.text, 'true']);
          await assertStored(partnerId, [first.body]);
        }
      },
    );

    itAnswers('D15: each batch that shares the statement gets the right answer', async (t) => {
      for (const fault of ['after', 'at_once', 'before'] as const) {
        const { proxy, url } = await proxied(t);
        const { apiKey, partnerId } = await service.addPartner();
        const batches = Array.from({ length: 24 }, () => [open(), rejected(), open({ phone: null })]);
        proxy.faults.push(fault, fault, fault);
        // On a busy machine one may find no session in time: nothing of that batch is stored, and it is repeated (D37).
        const answers = await Promise.all(
          batches.map((applications) => untilServed(() => send(url, apiKey, { applications }))),
        );
        assert.deepEqual(proxy.faults, []);
        for (const [index, { status, body, text }] of answers.entries()) {
          assert.equal(status, 200, text);
          assert.equal(lettersOf(batches[index] as unknown[], body), 'RRR', text);
        }
        await assertStored(
          partnerId,
          answers.map(({ body }) => body),
        );
      }
    });
  });

  describe('D15, D37: the statement comes after the batch was answered', atOnce(2), () => {
    const taken = async (phone: unknown) => {
      const { body } = await postUntilServed(`${service.url}/PRO`, otherKey, {
        applications: [open({ phone })],
      });
      return idsOf(body);
    };
    const close = (ids: readonly number[]) => setStatus(service.database, ids, 'rejected');
    const takeTwo = async (batch: readonly Record<string, unknown>[]) => {
      const ids = [...(await taken(batch[0]?.phone)), ...(await taken(batch[1]?.phone))];
      return () => close(ids);
    };
    const CASES: [
      name: string,
      cap: number | null,
      /** What happens between the two tries, before the first one arrives. */
      meanwhile: (batch: readonly Record<string, unknown>[], keyId: KeyId) => Promise<() => Promise<unknown>>,
      expected: string,
    ][] = [
      ['registered', null, async () => async () => {}, 'RRR'],
      ['duplicates in part, whose phones are free again', null, takeTwo, 'DDR'],
      ['duplicates alone, whose phones are free again', null, takeTwo, 'DD'],
      [
        'over quota, and the cap is raised',
        3,
        async (_, keyId) => {
          const setCap = (cap: number) => setKeyCap(service.database, service.vault, keyId, cap);
          await setCap(0);
          return () => setCap(3);
        },
        'QQQ',
      ],
    ];
    for (const [name, dailyCap, meanwhile, expected] of CASES) {
      itAnswers(`D15: answered as ${name}: it is refused`, async (t) => {
        const { proxy, url } = await proxied(t);
        const { apiKey, keyId, partnerId } = await service.addPartner({ dailyCap });
        const batch = [open(), open(), open({ phone: null })].slice(0, expected.length);
        proxy.faults.push('late');
        const answer = toFault(proxy, () => send(url, apiKey, { applications: batch }));
        await beforeAnswer(answer, 'the fault', () => proxy.faults.length === 0);
        const after = await meanwhile(batch, keyId);
        const { status, body, text } = await answer;
        assert.equal(status, 200, text);
        assert.equal(lettersOf(batch, body), expected);
        await after();
        await proxy.deliver();
        await assertStored(partnerId, [body]);
      });
    }

    itAnswers('D21: answered as a dead key that is live again: it is refused', async (t) => {
      const { proxy, url } = await proxied(t);
      const { apiKey, keyId, partnerId } = await service.addPartner();
      const setExpiry = (at: string | null) =>
        againAfterConflict(() =>
          service.database.query('UPDATE api_keys SET expires_at = $2 WHERE id = $1', [keyId, at]),
        );
      proxy.faults.push('late');
      const answer = toFault(proxy, () => send(url, apiKey, { applications: [open()] }));
      await beforeAnswer(answer, 'the fault', () => proxy.faults.length === 0);
      await setExpiry('2020-01-01');
      assert.equal((await answer).status, 401);
      await setExpiry(null);
      await proxy.deliver();
      await assertStored(partnerId, []);
    });
  });

  describe('D15: the server ends the session while the statement waits', { concurrency: 1 }, () => {
    /** A transaction that holds the phone of an application that is not registered yet. */
    async function hold(phone: string, { databaseUrl, vault } = locked): Promise<pg.Client> {
      const holder = new pg.Client({ connectionString: databaseUrl });
      await holder.connect();
      await holder.query('BEGIN');
      await holder.query('INSERT INTO open_phones (phone_index, application_id) VALUES ($1, 1)', [
        toBigint(phoneIndexOf(vault, toPhone(phone))),
      ]);
      return holder;
    }

    /** The session in which the registering statement of a request waits for a lock. */
    function waiting(answer: Promise<unknown>, except: readonly number[] = []): Promise<number> {
      return beforeAnswer(answer, 'a registering statement to wait', async () => {
        const sessions = await waitingSessions(locked.database);
        return sessions.find(({ pid, query }) => query.includes('register_batches') && !except.includes(pid))
          ?.pid;
      });
    }

    for (const [end, expected] of [
      ['ROLLBACK', 'RRR'],
      ['COMMIT', 'RDR'],
    ] as const) {
      itAnswers(`D15: pg_terminate_backend, then ${end} of the one waited for`, async () => {
        const { apiKey, partnerId } = await locked.addPartner();
        const batch = [open(), open(), open({ phone: null })];
        const holder = await hold((batch[1] as { phone: string }).phone);
        const sendBatch = () => send(`${locked.url}/PRO`, apiKey, { applications: batch });
        try {
          const answer = sendBatch();
          const first = await waiting(answer);
          await locked.database.query('SELECT pg_terminate_backend($1::integer, 0)', [first]);
          // The service tries again, and waits again. On a cluster it may be a lost machine, and the batch is refused
          // at once.
          if (locked.isSpread) assert.equal((await answer).status, 500);
          else await waiting(answer, [first]);
          await holder.query(end);
          const { status, body, text } = locked.isSpread ? await sendBatch() : await answer;
          assert.equal(status, 200, text);
          assert.equal(lettersOf(batch, body), expected);
          await assertStored(partnerId, [body], locked);
        } finally {
          await holder.end();
        }
      });
    }

    itAnswers('D37: a lock that is never released: 500 with Retry-After, and nothing is stored', async () => {
      const { apiKey, partnerId } = await limited.addPartner();
      const batch = [open(), open()];
      const holder = await hold((batch[0] as { phone: string }).phone, limited);
      const refused = send(`${limited.url}/PRO`, apiKey, { applications: batch });
      const { status, headers } = await refused.finally(() => holder.end());
      assert.deepEqual([status, headers.get('retry-after')], [500, '1']);
      await assertStored(partnerId, [], limited);
      const again = await postUntilServed(`${limited.url}/PRO`, apiKey, { applications: batch });
      assert.equal(lettersOf(batch, again.body), 'RR');
    });
  });
});
