/** D3, D37: each body and all bodies together have a limit, and a slow body does not keep others out. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { UnavailableError } from '../../src/ground/base/registration-failure.ts';
import { hasMoreValues } from '../../src/wire/contract/request.ts';
import { MAX_BODY_BYTES, MAX_VALUES } from '../../src/wire/contract/texts.ts';
import { ByteBudget, type Grant, WAIT_MS } from '../../src/wire/gate/byte-budget.ts';
import { CLOSED_AFTER_MS } from '../../src/wire/gate/connections.ts';
import { writeAndRead } from '../support/attackers.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { eventually } from '../support/eventually.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { TestClock } from '../support/test-clock.ts';
import { signature } from '../support/whatsapp-webhooks.ts';
import { exchange, head } from './raw.ts';

/** How long a connection lingers. */
const LINGER_MS = 1_000;
/** The service has its real limits of time, and no time passes but what a test lets pass. */
const clock = new TestClock();
const service = await testService(
  {
    CHANNEL: 'whatsapp',
    WHATSAPP_PHONE_NUMBER_ID: '1',
    WHATSAPP_ACCESS_TOKEN: 'not-used-here',
    WHATSAPP_APP_SECRET: 'the-secret-of-the-app',
    WHATSAPP_VERIFY_TOKEN: 'a-word-of-our-own',
  },
  { clock },
);
// A connection that still sends when it gets its last answer lingers by the clock, and the stop waits for it.
service.stopFirst(() => clock.advance(LINGER_MS));
const { apiKey } = await service.addPartner();
const KEYED = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
const MIB = 1024 * 1024;

describe('the budget of large bodies', () => {
  const reservation = (owner: string, bytes: number, share = 0.5) => {
    const given: UnavailableError[] = [];
    return { owner, share, bytes, given, giveUp: (error: UnavailableError) => void given.push(error) };
  };

  it('neither the budget nor an owner’s share is exceeded, and returned bytes go to a waiting body', async () => {
    const budget = new ByteBudget(100, new TestClock());
    const first = await budget.reserve(reservation('a', 50));
    await budget.reserve(reservation('b', 40));
    const granted: string[] = [];
    const waiting = [
      ['a', 1],
      ['c', 20],
      ['c', 10],
    ].map(([owner, bytes]) =>
      budget.reserve(reservation(owner as string, bytes as number)).then((grant) => {
        granted.push(`${owner} ${bytes}`);
        return grant;
      }),
    );
    await (waiting[2] as Promise<Grant>);
    assert.deepEqual(granted, ['c 10']);
    first.giveBack();
    first.giveBack();
    await Promise.all(waiting);
    assert.deepEqual(granted, ['c 10', 'a 1', 'c 20']);
  });

  it('a body that waited in vain is refused, or replaces the slowest body that is still arriving', async () => {
    const clock = new TestClock();
    const budget = new ByteBudget(100, clock);
    const whole = reservation('a', 50);
    (await budget.reserve(whole)).whole();
    let isRefused = false;
    const refusal = assert.rejects(budget.reserve(reservation('a', 10)), UnavailableError).then(() => {
      isRefused = true;
    });
    await clock.advance(WAIT_MS - 1);
    assert.equal(isRefused, false);
    await clock.advance(1);
    await refusal;
    assert.deepEqual(whole.given, []);
    const slow = reservation('b', 50);
    const grant = await budget.reserve({
      ...slow,
      giveUp(error) {
        slow.giveUp(error);
        grant.giveBack();
      },
    });
    const next = budget.reserve(reservation('c', 50));
    await clock.advance(WAIT_MS - 1);
    assert.equal(slow.given.length, 0);
    await clock.advance(1);
    await next;
    assert.equal(slow.given.length, 1);
  });

  it('a body that came right before the one that waits is replaced too, and one that came after it is not', async () => {
    const clock = new TestClock();
    const budget = new ByteBudget(100, clock);
    const first = reservation('b', 50);
    const grant = await budget.reserve({ ...first, giveUp: () => grant.giveBack() });
    const second = budget.reserve({ ...reservation('b', 50), giveUp: () => assert.fail('it came later') });
    const third = assert.rejects(budget.reserve(reservation('b', 50)), UnavailableError);
    await clock.advance(WAIT_MS);
    await Promise.all([second, third]);
  });
});

describe('many large bodies at once', () => {
  it('each of four times as many webhooks of 3 MiB as fit is read in its turn, and a batch goes through', async () => {
    const body = Buffer.alloc(3 * MIB, ' ');
    const headers = { 'Content-Length': body.length, 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` };
    const bytes = Buffer.concat([Buffer.from(head('POST', '/webhooks/whatsapp', headers)), body]);
    const flood = writeAndRead(service.url, { connections: 20, bytes });
    const { status } = await post(`${service.url}/PRO`, apiKey, { applications: [anApplication()] });
    assert.equal(status, 200);
    assert.deepEqual(await flood, { 403: 20 });
  });

  /** Bodies of a partner that stop halfway, and the statuses of those that got an answer. */
  function stopHalfway(key: string, count: number) {
    const top = head('POST', '/DEV', { ...KEYED, 'X-API-Key': key, 'Content-Length': MAX_BODY_BYTES });
    const ended: { status: number | undefined; closed: boolean }[] = [];
    const all = Array.from({ length: count }, async () => {
      const { answers, closed } = await exchange(service.url, [top, ' '.repeat(100_000)], { answers: 2 });
      if (answers[0] !== undefined) assert.equal(answers[0].headers['retry-after'], '1');
      ended.push({ status: answers[0]?.status, closed });
    });
    return { ended, all: Promise.all(all) };
  }
  const answered = (status: number) => ({ status, closed: true });
  const UNANSWERED = { status: undefined, closed: true };
  /** The bodies that fit into a partner's share. */
  const FIT = (32 * MIB) / MAX_BODY_BYTES;
  const LARGE = `${' '.repeat(2 * MIB)}${JSON.stringify({ applications: [anApplication()] })}`;

  it('bodies of one partner that stop halfway do not keep out another partner’s, and each request ends', async () => {
    const { apiKey: key } = await service.addPartner();
    const { ended, all } = stopHalfway(key, 20);
    const [waiting, refused] = [20 - FIT, 20 - 2 * FIT];
    await clock.untilTimer(WAIT_MS, waiting);
    const other = await service.addPartner();
    assert.equal((await post(`${service.url}/PRO`, other.apiKey, LARGE)).status, 200);
    await clock.advance(WAIT_MS - 1);
    assert.deepEqual(ended, []);
    // The first that wait replace those that arrive, and what came with them is not older than the others that wait.
    await clock.advance(1);
    await eventually('the answers', () => ended.length >= FIT + refused);
    assert.deepEqual(ended, Array(FIT + refused).fill(answered(500)));
    await clock.advance(CLOSED_AFTER_MS - WAIT_MS - 1);
    assert.equal(ended.length, FIT + refused);
    await clock.advance(1);
    await all;
    assert.deepEqual(ended.slice(FIT + refused), Array(FIT).fill(UNANSWERED));
  });

  it('D37: the next body of a partner whose bodies stop halfway replaces the slowest of them', async () => {
    const { apiKey: key } = await service.addPartner();
    const { ended, all } = stopHalfway(key, FIT + 1);
    // One waits, so all others hold their bytes.
    await clock.untilTimer(WAIT_MS);
    let status = 0;
    const next = post(`${service.url}/PRO`, key, LARGE).then((answer) => {
      status = answer.status;
    });
    await clock.untilTimer(WAIT_MS, 2);
    await clock.advance(WAIT_MS - 1);
    assert.deepEqual([ended, status], [[], 0]);
    await clock.advance(1);
    await next;
    await eventually('the answers', () => ended.length >= 2);
    assert.deepEqual([ended, status], [[answered(500), answered(500)], 200]);
    await clock.advance(CLOSED_AFTER_MS);
    await all;
    assert.deepEqual(ended.slice(2), Array(FIT - 1).fill(UNANSWERED));
  });

  it('the channel’s largest webhook is read; a larger one gets 413 with its own limit', async () => {
    for (const [bytes, expected] of [
      [3_000_000, 200],
      [3 * MIB + 1, 413],
    ] as const) {
      const body = Buffer.alloc(bytes, ' ');
      const { status, text } = await post(`${service.url}/webhooks/whatsapp`, '', body, {
        'X-Hub-Signature-256': signature(body, 'the-secret-of-the-app'),
      });
      assert.equal(status, expected);
      if (status === 413) assert.equal(text, '{"error":"the body must be at most 3145728 bytes"}');
    }
  });
});

describe('bodies of refused requests', () => {
  const body = Buffer.alloc(2 * MIB, ' ');
  for (const [name, path, headers, status] of [
    ['a webhook without a signature', '/webhooks/whatsapp', {}, 403],
    ['a batch without a key', '/PRO', {}, 401],
    ['an unknown path', '/x', {}, 404],
  ] as const) {
    it(`${name}: the answer comes, then the connection ends, and the rest is not read`, async () => {
      const top = head('POST', path, { ...headers, 'Content-Length': body.length });
      const { answers, closed } = await exchange(service.url, [top, body], { answers: 2 });
      assert.equal(answers[0]?.status, status);
      assert.equal(answers[0]?.headers.connection, 'close');
      assert.ok(closed);
    });
  }

  it('a small body does not end the connection', async () => {
    const top = head('POST', '/PRO', { 'Content-Length': 100_000 });
    const { answers } = await exchange(service.url, [top, body.subarray(0, 100_000), head('GET', '/x')], {
      answers: 2,
    });
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401, 404],
    );
  });
});

describe('the cost of a body before it is read', () => {
  const wrapped = (extra: string) => `{"applications": [${JSON.stringify(anApplication())}], "x": ${extra}}`;

  it('D5: 100 applications with 400 unknown values each, of any form, are a valid batch', async () => {
    const odd = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`unknown ${n}`, ['{[,"\\']]));
    const applications = Array.from({ length: 100 }, () => anApplication(odd));
    const { body } = await post(`${service.url}/DEV`, apiKey, { applications });
    assert.equal((body as { processed: number }).processed, 100);
  });

  it('D3: too many values get 400 in any place and any form', async () => {
    const many = MAX_VALUES + 1;
    const bodies = [
      wrapped(`[${'0,'.repeat(many)}0]`),
      wrapped(`${'['.repeat(many)}${']'.repeat(many)}`),
      wrapped(`${'{"":'.repeat(many)}0${'}'.repeat(many)}`),
      wrapped(`[${'{},'.repeat(many)}0]`),
      `{"applications": [${'0,'.repeat(many)}0]}`,
      '['.repeat(4 * MIB),
    ];
    for (const body of bodies) {
      const answer = await post(`${service.url}/DEV`, apiKey, body);
      assert.deepEqual(
        [answer.status, answer.body],
        [400, { error: 'the body must hold at most 50000 values' }],
      );
    }
  });

  it('the count of values is exact', () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, member) => sum + count(member), 1)
        : 1;
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }),
      fc.array(fc.constantFrom('', ',', '[{', '\\', '"', '\\",', [], {}, [[]], 0), { maxLength: 9 }),
    );
    const indent = fc.constantFrom(undefined, 1, '\t');
    fc.assert(
      fc.property(value, indent, (json, space) => {
        const text = Buffer.from(JSON.stringify(json, null, space));
        const values = count(JSON.parse(text.toString()));
        assert.equal(hasMoreValues(text, values), false);
        assert.equal(hasMoreValues(text, values - 1), true);
      }),
      { numRuns: 500 },
    );
  });

  it('a body in hundreds of thousands of pieces of a byte is refused', async () => {
    const { answers } = await exchange(service.url, [
      head('POST', '/DEV', { ...KEYED, 'Transfer-Encoding': 'chunked' }),
      '1\r\n \r\n'.repeat(200_000),
    ]);
    assert.equal(answers[0]?.status, 400);
  });

  it('/healthz answers during hundreds of such bodies', async () => {
    const top = head('POST', '/DEV', { ...KEYED, 'Transfer-Encoding': 'chunked' });
    const bytes = Buffer.from(top + '1\r\n \r\n'.repeat(100_000));
    let over = false;
    const flood = writeAndRead(service.url, { connections: 100, bytes }).finally(() => {
      over = true;
    });
    // Of this process's CPU, which the service shares with the test: a busy machine makes no turn of it longer.
    let longest = 0;
    while (!over) {
      const took = await cpuMsOf(async () =>
        assert.equal((await fetch(`${service.opsUrl}/healthz`)).status, 200),
      );
      longest = Math.max(longest, took);
    }
    assert.deepEqual(await flood, { 400: 100 });
    assert.ok(longest < 2_000, `${longest} ms of CPU`);
  });

  it('a compressed body is not decompressed: 400', async () => {
    const { gzipSync } = await import('node:zlib');
    const packed = gzipSync(JSON.stringify({ applications: [anApplication()] }));
    const { status } = await post(`${service.url}/DEV`, apiKey, packed, { 'Content-Encoding': 'gzip' });
    assert.equal(status, 400);
  });
});
