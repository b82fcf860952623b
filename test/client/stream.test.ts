/** Submissions: order, concurrency, backpressure, progress, and early ends. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  AbortedError,
  type Application,
  AuthenticationError,
  type IndexedOutcome,
  InputError,
  type Progress,
  RequestRefusedError,
  VentanillaClient,
} from '../../client/src/index.ts';
import { eventually, PATIENCE_MS } from '../support/eventually.ts';
import { testService } from '../support/service.ts';
import { TestClock } from '../support/test-clock.ts';
import { type Fate, startPeer } from './peer.ts';
import { anInput, brief, inputs, rejection } from './support.ts';

const service = await testService();
const { apiKey } = await service.addPartner();
const bounded = { timeout: PATIENCE_MS };
/** Long enough that only the tested event ends an attempt. */
const PATIENT = { timeoutMs: 600_000 };
const refused = { status: 400, body: '{"error":"refused"}' };

/** An endless source of applications, which counts how many were read. */
function endless() {
  const source = {
    read: 0,
    closed: false,
    async *[Symbol.asyncIterator](): AsyncGenerator<Application, void, undefined> {
      try {
        for (;;) {
          source.read += 1;
          yield anInput();
        }
      } finally {
        source.closed = true;
      }
    },
  };
  return source;
}

const until = (condition: () => boolean) => eventually('the event of the test', condition);

/** What would happen at once has happened: another client has asked and was answered meanwhile, several times. */
async function afterAWhile(): Promise<void> {
  const other = new VentanillaClient({ url: `${service.url}/DEV`, apiKey });
  for (let questions = 0; questions < 5; questions += 1) await other.quota();
}

it('outcomes come in input order, with any duration of each batch', bounded, async () => {
  const peer = await startPeer(service.url, async ({ number }): Promise<Fate> => {
    // Of two batches the second one is answered first.
    if (number % 2 === 1) await until(() => peer.seen.length > number);
    return 'forward';
  });
  const client = new VentanillaClient({ url: `${peer.url}/DEV`, apiKey, concurrency: 3 });
  const list = inputs(750);
  let index = 0;
  for await (const one of client.stream(list)) {
    assert.equal(one.index, index);
    assert.equal(one.input, list[index]);
    assert.equal(one.outcome.idNumber, list[index]?.id_number);
    index += 1;
  }
  assert.equal(index, list.length);
});

it('exactly `concurrency` batches are under way at once', bounded, async () => {
  for (const concurrency of [1, 3]) {
    const release = Promise.withResolvers<void>();
    const peer = await startPeer(service.url, async ({ number }): Promise<Fate> => {
      if (number === concurrency) release.resolve();
      await release.promise;
      return 'forward';
    });
    const client = new VentanillaClient({ url: `${peer.url}/DEV`, apiKey, concurrency });
    await client.submit(inputs(1_000));
    assert.equal(peer.most, concurrency);
    assert.equal(peer.seen.length, 10);
  }
});

it(
  'an endless source is read no further than needed, and closed when the consumer leaves',
  bounded,
  async () => {
    const client = new VentanillaClient({ url: `${service.url}/DEV`, apiKey, concurrency: 2 });
    const source = endless();
    const most = 2 * 2 * 100;
    let taken = 0;
    for await (const _ of client.stream(source)) {
      taken += 1;
      assert.ok(source.read <= taken + most + 100, `read ${source.read}, taken ${taken}`);
      if (taken === 10) {
        // A slow consumer.
        await afterAWhile();
        assert.ok(source.read <= most + 100, `read ${source.read}`);
      }
      if (taken === 950) break;
    }
    await until(() => source.closed);
    const { read } = source;
    await afterAWhile();
    assert.equal(source.read, read);
  },
);

it('while the first batch takes long, at most twice `concurrency` batches are read', bounded, async () => {
  const release = Promise.withResolvers<void>();
  const peer = await startPeer(service.url, async ({ number }): Promise<Fate> => {
    if (number === 1) await release.promise;
    return 'forward';
  });
  const client = new VentanillaClient({ url: `${peer.url}/DEV`, apiKey, concurrency: 2 });
  const source = endless();
  const stream = client.stream(source);
  const first = stream.next();
  await until(() => peer.seen.length === 4);
  await afterAWhile();
  assert.equal(peer.seen.length, 4);
  assert.equal(source.read, 400);
  release.resolve();
  assert.equal((await first).value?.index, 0);
  await stream.return();
});

it('a consumer that leaves ends the requests under way', bounded, async () => {
  const peer = await startPeer(service.url, ({ number }) => (number === 1 ? 'forward' : 'hang'));
  const client = new VentanillaClient({ url: `${peer.url}/DEV`, apiKey, concurrency: 2, ...PATIENT });
  for await (const _ of client.stream(endless())) {
    await until(() => peer.underWay > 0);
    break;
  }
  await until(() => peer.underWay === 0);
});

it('a source that waits for the outcome of a full batch gets it', bounded, async () => {
  const client = new VentanillaClient({ url: `${service.url}/DEV`, apiKey });
  const answered = Promise.withResolvers<void>();
  const source = async function* () {
    yield* inputs(100);
    await answered.promise;
    yield anInput();
  };
  let count = 0;
  for await (const _ of client.stream(source())) {
    count += 1;
    answered.resolve();
  }
  assert.equal(count, 101);
});

it('the hooks get progress and retries', bounded, async () => {
  const peer = await startPeer(service.url, ({ number }) => (number === 1 ? 'close' : 'forward'));
  const client = new VentanillaClient({ url: `${peer.url}/DEV`, apiKey });
  const told: Progress[] = [];
  let retries = 0;
  await client.submit([...inputs(150), ...inputs(30, { city: '' })], {
    onProgress: (progress) => told.push(progress),
    onRetry: () => {
      retries += 1;
    },
  });
  assert.deepEqual(
    told.map(({ done }) => done),
    [100, 180],
  );
  assert.deepEqual(told.at(-1), { done: 180, registered: 150, duplicates: 0, invalid: 30, quotaExceeded: 0 });
  assert.equal(retries, 1);
});

it('a hook that throws ends the call with its error', bounded, async () => {
  const peer = await startPeer(service.url, ({ number }) => (number === 1 ? 'close' : 'forward'));
  const client = new VentanillaClient({ url: `${peer.url}/DEV`, apiKey });
  const fail = () => {
    throw new TypeError('of the hook');
  };
  for (const hook of ['onRetry', 'onProgress'] as const) {
    const { message } = await rejection(TypeError, client.submit([anInput()], { [hook]: fail }));
    assert.equal(message, 'of the hook', hook);
  }
});

it(
  'an abort in the middle ends the call at once; the error has the known outcomes and the unknown inputs',
  bounded,
  async () => {
    const peer = await startPeer(service.url, ({ number }) => (number <= 2 ? 'forward' : 'hang'));
    const client = new VentanillaClient({ url: `${peer.url}/PRO`, apiKey, concurrency: 2, ...PATIENT });
    const controller = new AbortController();
    const reason = new Error('enough');
    const list = inputs(1_000);
    const call = client.submit(list, { signal: controller.signal });
    // Two batches are answered, two are under way.
    await until(() => peer.seen.length === 4);
    controller.abort(reason);
    const error = await rejection(AbortedError, call);
    assert.equal(error.name, 'AbortError');
    assert.equal(error.cause, reason);
    assert.deepEqual(
      error.known.map(({ index, input, known }) => [index, input, known.kind]),
      list.slice(0, 400).map((input, index) => [index, input, index < 200 ? 'registered' : 'unknown']),
    );
    await afterAWhile();
    assert.equal(peer.seen.length, 4);
  },
);

it(
  'an abort ends the wait for a retry, the wait for the source, and a call that has not begun',
  bounded,
  async () => {
    const peer = await startPeer(service.url, () => ({ status: 500, headers: { 'Retry-After': '60' } }));
    const clock = new TestClock();
    const client = new VentanillaClient({ url: `${peer.url}/DEV`, apiKey, clock });
    const waiting = new AbortController();
    await rejection(
      AbortedError,
      client.submit([anInput()], {
        signal: waiting.signal,
        onRetry: () => setImmediate(() => waiting.abort()),
      }),
    );
    const hanging: AsyncIterable<Application> = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
    };
    const hung = new AbortController();
    const hangs = rejection(AbortedError, client.submit(hanging, { signal: hung.signal }));
    setImmediate(() => hung.abort());
    await hangs;
    assert.equal(clock.timers, 0);
    const { length } = peer.seen;
    const signal = AbortSignal.abort();
    await rejection(AbortedError, client.submit([anInput()], { signal }));
    await rejection(AbortedError, client.submitBatch([anInput()], { signal, idempotencyKey: 'k' }));
    await rejection(AbortedError, client.quota({ signal }));
    assert.equal(peer.seen.length, length);
  },
);

it(
  'after a failure nothing more is sent; the error has the outcomes of batches under way, and refused ones as not registered',
  bounded,
  async () => {
    const others = Promise.withResolvers<void>();
    const peer = await startPeer(service.url, async ({ number }): Promise<Fate> => {
      if (number === 1) {
        await others.promise;
        return refused;
      }
      if (number === 3) others.resolve();
      return 'forward';
    });
    const client = new VentanillaClient({ url: `${peer.url}/PRO`, apiKey, concurrency: 3 });
    const list = inputs(1_000);
    const error = await rejection(RequestRefusedError, client.submit(list));
    const kinds = error.known.map(({ known }) => known.kind);
    assert.deepEqual(new Set(kinds.slice(0, 100)), new Set(['not_registered']));
    assert.deepEqual(new Set(kinds.slice(100)), new Set(['registered']));
    assert.equal(kinds.length, 100 * peer.seen.length);
    assert.ok(peer.seen.length <= 6, String(peer.seen.length));
  },
);

it('after an attempt without an answer, a refusal leaves the inputs unknown', bounded, async () => {
  const peer = await startPeer(service.url, ({ number }) => (number === 1 ? 'lose' : { status: 401 }));
  const client = new VentanillaClient({ url: `${peer.url}/PRO`, apiKey });
  const error = await rejection(AuthenticationError, client.submit([anInput()]));
  assert.deepEqual(
    error.known.map(({ known }) => known.kind),
    ['unknown'],
  );
});

it('a stream yields its outcomes before it fails, and its error has the other inputs', bounded, async () => {
  const client = new VentanillaClient({ url: `${service.url}/DEV`, apiKey });
  const cause = new Error('of the source');
  const source = function* () {
    yield* inputs(250);
    throw cause;
  };
  const taken: IndexedOutcome[] = [];
  const take = async () => {
    for await (const one of client.stream(source())) taken.push(one);
  };
  const error = await rejection(InputError, take());
  assert.equal(error.cause, cause);
  assert.equal(taken.length, 200);
  assert.deepEqual(error.known, []);
  const whole = await rejection(InputError, client.submit(source()));
  assert.deepEqual(
    whole.known.map(({ known }) => known.kind),
    taken.map(({ outcome }) => outcome.kind),
  );
});

it('an empty list sends nothing and has no outcomes', bounded, async () => {
  const peer = await startPeer(service.url, () => 'forward');
  const client = new VentanillaClient({ url: `${peer.url}/DEV`, apiKey });
  assert.deepEqual(brief(await client.submit([])), []);
  for await (const _ of client.stream(new Set<Application>())) assert.fail();
  assert.equal(peer.seen.length, 0);
});
