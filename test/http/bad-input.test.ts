import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PARTNER_LIMITS } from '../../src/listeners/partner/partner-api.ts';
import { type Exchange, exchange, head, type RawAnswer } from '../gate/raw.ts';
import { anApplication, post, testService } from '../support/service.ts';

const service = await testService();
/** Ends slow requests as a real service does, only sooner. */
const strict = await testService(
  {},
  { limits: { connections: { ...PARTNER_LIMITS.connections, closedAfterMs: 1_000 }, answerWithinMs: 900 } },
);
const { apiKey } = await service.addPartner();
const ENVIRONMENTS = ['PRO', 'DEV'] as const;
const MIB = 1024 * 1024;

/** Every id in an answer of PRO. At the end exactly these applications are stored. */
const registered = new Set<number>();

const KEYED = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
const length = (body: string | Uint8Array) => ({ 'Content-Length': Buffer.byteLength(body) });
const post11 = (path: string, headers: Record<string, string | number>, body: string) =>
  head('POST', path, { ...KEYED, ...headers }) + body;

/** Checks a batch's answer against the contract and remembers the registered ids. */
function checkBatch(text: string, elements: number | null = null): void {
  const answer = JSON.parse(text);
  const [processed, errors, results, details, id] =
    'procesados' in answer
      ? ['procesados', 'errores', 'resultados', 'errores_detalle', 'cedula']
      : ['processed', 'errors', 'results', 'errors_detail', 'id_number'];
  assert.equal(answer[processed as string], answer[results as string].length);
  assert.equal(answer[errors as string], (answer[details as string] ?? []).length);
  if (elements !== null) assert.equal(answer[processed as string] + answer[errors as string], elements);
  for (const entry of answer[details as string] ?? []) {
    assert.deepEqual(Object.keys(entry).slice(0, 2), [id, 'error']);
    assert.ok(entry[id as string] === null || typeof entry[id as string] === 'string');
    assert.ok(typeof entry.error === 'string' && entry.error !== '');
  }
  for (const result of answer[results as string]) {
    assert.equal(typeof result[id as string], 'string');
    assert.ok(Number.isInteger(result.score) && result.score >= 0 && result.score <= 100);
    if (answer.mode === 'dev') assert.equal(result.id, null);
    else {
      assert.ok(Number.isInteger(result.id) && !registered.has(result.id));
      registered.add(result.id);
    }
  }
}

function checkFailure(answer: RawAnswer | undefined, statuses: readonly number[], what = ''): void {
  assert.ok(
    answer !== undefined && statuses.includes(answer.status),
    `${what}: ${answer?.status} ${answer?.body}`,
  );
  assert.equal(answer.headers['content-type'], 'application/json', what);
  const body = JSON.parse(answer.body);
  assert.deepEqual(Object.keys(body), ['error'], what);
  assert.ok(typeof body.error === 'string' && !/\n\s+at |node_modules|Error:/.test(body.error), what);
}

/** Sends a whole body and expects 200 with the form of the contract, or 400 with an error. */
async function send(
  body: unknown,
  environment: (typeof ENVIRONMENTS)[number],
  elements: number | null = null,
) {
  const answer = await post(`${service.url}/${environment}`, apiKey, body);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  if (answer.status === 200) checkBatch(answer.text, elements);
  else {
    assert.equal(answer.status, 400, answer.text);
    assert.deepEqual(Object.keys(answer.body), ['error']);
  }
  return answer;
}

async function errorOf(
  element: string,
  environment: (typeof ENVIRONMENTS)[number],
): Promise<Record<string, unknown>> {
  const answer = await send(`{"applications": [${element}]}`, environment, 1);
  assert.equal(answer.status, 200);
  const { errors_detail } = answer.body as { errors_detail?: Record<string, unknown>[] };
  return errors_detail?.[0] ?? {};
}

describe('bad text in JSON', () => {
  it('D7, D14: NUL, control characters and lone surrogates in a text field are a fault of that application alone', async () => {
    const fields = { name: 200, id_number: 64, city: 120, phone: 32, platform: 64 };
    // As JSON escapes, because UTF-8 cannot hold a lone surrogate.
    for (const bad of ['\\u0000', '\\u0007', '\\u009f', '\\ud800', '\\udc00', '\\ude00\\ud83d']) {
      for (const [field, max] of Object.entries(fields)) {
        for (const environment of ENVIRONMENTS) {
          const element = JSON.stringify(anApplication({ [field]: 'a_b' })).replace('a_b', `a${bad}b`);
          const { error } = await errorOf(element, environment);
          assert.equal(error, `${field} must be text of at most ${max} characters`);
        }
      }
    }
  });

  it('D13: the answer repeats a bad ID number as sent, with U+FFFD for a lone surrogate', async () => {
    for (const [sent, echoed] of [
      ['a\\u0000b', 'a\u0000b'],
      ['a\\ud800b', 'a\ufffdb'],
      ['\\udc00', '\ufffd'],
      ['\\ud83d\\ude00\\u0001', '\u{1F600}\u0001'],
      [' \\u0000 ', '\u0000'],
    ] as const) {
      for (const environment of ENVIRONMENTS) {
        const element = JSON.stringify(anApplication({ id_number: 'a_b' })).replace('a_b', sent);
        assert.equal((await errorOf(element, environment)).id_number, echoed);
      }
    }
  });

  it('D13: of a longer ID number the answer repeats the first 64 code points', async () => {
    for (const [sent, echoed] of [
      ['x'.repeat(64), 'x'.repeat(64)],
      ['x'.repeat(65), 'x'.repeat(64)],
      [` ${'x'.repeat(1_000_000)}`, 'x'.repeat(64)],
      ['\u{1F600}'.repeat(65), '\u{1F600}'.repeat(64)],
      [`x${'\u{1F600}'.repeat(64)}`, `x${'\u{1F600}'.repeat(63)}`],
    ] as const) {
      for (const environment of ENVIRONMENTS) {
        const element = JSON.stringify(anApplication({ id_number: sent, city: null }));
        assert.equal((await errorOf(element, environment)).id_number, echoed);
      }
    }
  });

  it('D13: an ID number that is a number comes back as its string, or as null where JSON has rounded it', async () => {
    for (const [sent, echoed] of [
      ['1020304050', '1020304050'],
      ['9007199254740991', '9007199254740991'],
      ['9007199254740992', null],
      ['9007199254740993', null],
      ['-9007199254740993', null],
      ['12345678901234567890', null],
      ['1e400', null],
      ['1.5', '1.5'],
    ] as const) {
      for (const environment of ENVIRONMENTS) {
        const element = JSON.stringify(anApplication({ id_number: 'a_b' })).replace('"a_b"', sent);
        const { id_number, error } = await errorOf(element, environment);
        assert.deepEqual(
          [id_number, error],
          [echoed, 'id_number must be text of at most 64 characters'],
          sent,
        );
      }
    }
  });

  it('D12: a bad text as the currency is no fault', async () => {
    for (const environment of ENVIRONMENTS) {
      for (const bad of ['\\u0000', '\\ud800', 'CO\\u0000']) {
        const element = JSON.stringify(anApplication({ currency: 'a_b' })).replace('a_b', bad);
        assert.deepEqual(await errorOf(element, environment), {});
      }
    }
  });

  it('contract: unusual but valid text is registered and comes back unchanged', async () => {
    for (const name of [
      '\u{1F600}',
      "'; DROP TABLE applications; --",
      '\\',
      '"',
      '{}',
      '\uffff',
      '\u202e',
      '%s$1',
      'a\u2028b',
    ]) {
      for (const environment of ENVIRONMENTS) {
        const { body } = await send({ applications: [anApplication({ name })] }, environment, 1);
        assert.equal((body as { results: { name: string }[] }).results[0]?.name, name);
      }
    }
  });

  it('D5: __proto__ and similar names are unknown fields in any place', async () => {
    const application = JSON.stringify(anApplication({ phone: null }));
    const evil =
      '"__proto__": {"messaging_optin": true, "toJSON": 1}, "constructor": {"prototype": {"x": 1}}';
    for (const environment of ENVIRONMENTS) {
      const inside = await send(
        `{"applications": [{${evil}, ${application.slice(1)}], ${evil}}`,
        environment,
        1,
      );
      assert.equal((inside.body as { processed: number }).processed, 1);
      const alone = await send(`{"applications": [{"__proto__": ${application}}]}`, environment, 1);
      assert.equal((alone.body as { processed: number }).processed, 0);
      assert.equal(
        (await send(`{"__proto__": {"applications": [${application}]}}`, environment)).status,
        400,
      );
    }
    assert.equal(({} as Record<string, unknown>).x, undefined);
  });

  it('contract, D7: any wrong value in any field gets 200 with an error entry', async () => {
    const values = [
      null,
      true,
      0,
      -1,
      1e308,
      1.5,
      '',
      'x',
      'x'.repeat(10_000),
      [],
      [[]],
      {},
      { a: { b: [] } },
    ];
    for (const environment of ENVIRONMENTS) {
      for (const field of Object.keys(anApplication())) {
        const applications = values.map((value) => anApplication({ [field]: value }));
        assert.equal((await send({ applications }, environment, values.length)).status, 200);
      }
    }
  });
});

describe('bad JSON and encodings', () => {
  it('D3: JSON of depth 10,000 is read or refused', async () => {
    const deepArray = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const deepObject = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    const application = JSON.stringify(anApplication({ phone: null })).slice(0, -1);
    for (const environment of ENVIRONMENTS) {
      for (const deep of [deepArray, deepObject]) {
        const statuses = new Map<string, number>();
        for (const [place, body] of [
          ['root', deep],
          ['array', `{"applications": ${deep}}`],
          ['element', `{"applications": [${deep}]}`],
          ['field', `{"applications": [${application}, "name": ${deep}}]}`],
          ['unknown field', `{"applications": [${application}, "x": ${deep}}]}`],
        ] as const) {
          statuses.set(place, (await send(body, environment)).status);
        }
        assert.deepEqual([...statuses.values()], [400, deep === deepArray ? 200 : 400, 200, 200, 200]);
      }
      // Not closed, and as deep as the size limit allows.
      for (const body of ['['.repeat(10_000), '['.repeat(4 * MIB), '{"a":'.repeat(700_000)]) {
        assert.equal((await send(body, environment)).status, 400);
      }
    }
  });

  it('D3: the last value of a repeated name counts, as in JSON.parse', async () => {
    for (const environment of ENVIRONMENTS) {
      const application = JSON.stringify(anApplication({ phone: null })).slice(0, -1);
      const { body } = await send(
        `{"applications": [null], "applications": [${application}, "name": "First", "name": "Last"}]}`,
        environment,
        1,
      );
      assert.equal((body as { results: { name: string }[] }).results[0]?.name, 'Last');
      const { error } = await errorOf(`${application}, "name": 5}`, environment);
      assert.equal(error, 'name must be text of at most 200 characters');
    }
  });

  it('D8: a number outside the range of a double is a fault of its field', async () => {
    for (const environment of ENVIRONMENTS) {
      for (const [number, ok] of [
        ['1e400', false],
        ['-1e400', false],
        ['1e-400', false],
        ['5e-324', true],
        ['1.7976931348623157e308', true],
        [`1${'0'.repeat(300)}`, true],
        [`1${'0'.repeat(400)}`, false],
        [`0.${'0'.repeat(400)}1`, false],
      ] as const) {
        for (const field of ['income', 'debt_amount']) {
          for (const form of [number, `"${number}"`]) {
            const element = JSON.stringify(anApplication({ [field]: '#' })).replace('"#"', form);
            const { error } = await errorOf(element, environment);
            assert.equal(
              error,
              ok ? undefined : `${field} is required and must be > 0 (numeric)`,
              form.slice(0, 40),
            );
          }
        }
      }
    }
  });
});

describe('bad HTTP', () => {
  it('D37: aborted uploads leave nothing behind and disturb no other request', async () => {
    const body = JSON.stringify({ applications: [anApplication(), anApplication()] });
    const aborted: Promise<Exchange>[] = [];
    for (const environment of ENVIRONMENTS) {
      const top = head('POST', `/${environment}`, { ...KEYED, ...length(body) });
      for (const sent of [0, 1, 20, body.length >> 1, Buffer.byteLength(body) - 1]) {
        const part = Buffer.from(body).subarray(0, sent);
        aborted.push(exchange(service.url, [top, part], { abort: true }));
        aborted.push(exchange(service.url, [top, part], { end: true, timeoutMs: 20_000 }));
      }
      aborted.push(exchange(service.url, [top.slice(0, 30)], { abort: true }));
      const chunked = head('POST', `/${environment}`, { ...KEYED, 'Transfer-Encoding': 'chunked' });
      aborted.push(
        exchange(service.url, [chunked, `${body.length.toString(16)}\r\n${body}\r\n`], { abort: true }),
      );
    }
    for (const { answers } of await Promise.all(aborted)) {
      for (const answer of answers) checkFailure(answer, [400]);
    }
  });

  it('D1: bytes that are not HTTP get 400 or a closed connection', async () => {
    const cases = [
      'nonsense\r\n\r\n',
      '\u0000\u0001\u0002\u0003\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
      'GET /PRO\r\n\r\n',
      'GET /PRO HTTP/9.9\r\n\r\n',
      'FOO /PRO HTTP/1.1\r\nHost: x\r\n\r\n',
      'get /PRO HTTP/1.1\r\nHost: x\r\n\r\n',
      'POST /PRO HTTP/1.1\r\n\r\n',
      'POST /PRO HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n',
      'POST /PRO HTTP/1.1\r\nHost: x\r\nX-API-Key: a\u0000b\r\n\r\n',
      'POST /PRO HTTP/1.1\r\nHost: x\r\n folded: x\r\n\r\n',
      'GET /P RO HTTP/1.1\r\nHost: x\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      post11('/PRO', { 'Content-Length': 'x' }, ''),
      post11('/PRO', { 'Content-Length': -1 }, ''),
      post11('/PRO', { 'Content-Length': '5, 6' }, '{}'),
      post11('/PRO', { 'Content-Length': '99999999999999999999999' }, ''),
      post11('/PRO', { 'Content-Length': 2, 'content-length': 3 }, '{} '),
      post11('/PRO', { 'Content-Length': 2, 'Transfer-Encoding': 'chunked' }, '2\r\n{}\r\n0\r\n\r\n'),
      post11('/PRO', { 'Transfer-Encoding': 'gzip' }, 'x'),
      post11('/PRO', { 'Transfer-Encoding': 'chunked' }, 'zz\r\n{}\r\n0\r\n\r\n'),
      post11('/PRO', { 'Transfer-Encoding': 'chunked' }, '-2\r\n{}\r\n0\r\n\r\n'),
      post11('/PRO', { 'Transfer-Encoding': 'chunked' }, 'ffffffffffffffffff\r\n{}\r\n'),
    ];
    const exchanges = cases.map((text) =>
      exchange(service.url, [Buffer.from(text, 'latin1')], { end: true, timeoutMs: 20_000 }),
    );
    for (const [index, { answers, closed }] of (await Promise.all(exchanges)).entries()) {
      const what = JSON.stringify(cases[index]);
      assert.ok(answers.length > 0 || closed, what);
      // Node itself answers a missing Host and similar faults, before the service.
      for (const answer of answers)
        assert.ok(answer.status >= 400 && answer.status < 500, `${what} ${answer.status}`);
    }
  });

  it('huge headers and very many headers get an answer or a closed connection', async () => {
    const cases = [
      { ...KEYED, 'X-Big': 'x'.repeat(20_000) },
      { ...KEYED, 'X-API-Key': 'x'.repeat(100_000) },
      Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`X-${n}`, 'x'])),
    ];
    for (const headers of cases) {
      const { answers, closed } = await exchange(service.url, [head('POST', '/PRO', headers)]);
      if (answers.length > 0) checkFailure(answers[0], [400, 401]);
      else assert.ok(closed);
    }
    const path = `/PRO?${'x'.repeat(20_000)}`;
    checkFailure((await exchange(service.url, [head('GET', path, KEYED)])).answers[0], [400]);
  });

  it('D3: a Content-Length that is too short cuts the body, and the rest is not a request', async () => {
    const body = JSON.stringify({ applications: [anApplication()] });
    for (const path of ['/PRO', '/DEV']) {
      const cut = await exchange(service.url, [post11(path, { 'Content-Length': 10 }, body)], { answers: 2 });
      assert.ok(cut.answers.length >= 1);
      for (const answer of cut.answers) checkFailure(answer, [400]);
      assert.ok(cut.closed || cut.answers.length === 2);
      const none = await exchange(service.url, [post11(path, { 'Content-Length': 0 }, '')]);
      checkFailure(none.answers[0], [400], 'empty');
    }
  });

  it('D3: a chunked body is read as any other body', async () => {
    for (const path of ['/PRO', '/DEV']) {
      const body = Buffer.from(JSON.stringify({ applications: [anApplication({ name: '\u{1F600}ñ' })] }));
      // One byte a chunk, so that characters are cut; with an extension and a trailer.
      const chunks = [...body].map((byte) =>
        Buffer.concat([Buffer.from('1;x=y\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]),
      );
      const { answers } = await exchange(service.url, [
        head('POST', path, { ...KEYED, 'Transfer-Encoding': 'chunked' }),
        Buffer.concat([...chunks, Buffer.from('0\r\nX-Trailer: x\r\n\r\n')]),
      ]);
      assert.equal(answers[0]?.status, 200);
      checkBatch(answers[0]?.body ?? '', 1);
    }
  });

  it('D1, D2: Expect: 100-continue gets 100 or the refusal of its key; an unknown expectation is ignored', async () => {
    const body = JSON.stringify({ applications: [null] });
    for (const path of ['/PRO', '/DEV']) {
      const headers = { ...KEYED, ...length(body), Expect: '100-continue' };
      const { answers } = await exchange(service.url, [head('POST', path, headers), 50, body]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [100, 200],
      );
      checkBatch(answers[1]?.body ?? '', 1);
      const refused = await exchange(service.url, [head('POST', path, { ...headers, 'X-API-Key': 'x' })]);
      checkFailure(refused.answers.at(-1), [401]);
      const odd = await exchange(service.url, [head('POST', path, { ...headers, Expect: 'wonders' }), body]);
      assert.equal(odd.answers[0]?.status, 200);
      checkBatch(odd.answers[0]?.body ?? '', 1);
      checkFailure(
        (await exchange(service.url, [head('GET', path, { Expect: 'wonders' })])).answers[0],
        [401],
      );
    }
  });

  it('contract: each of several pipelined requests gets its answer, in order', async () => {
    const ids = ['p1', 'p2', 'p3'];
    const bodies = ids.map((id) => JSON.stringify({ applications: [anApplication({ id_number: id })] }));
    for (const path of ['/PRO', '/DEV']) {
      const requests = bodies.map((body) =>
        post11(path, length(body), body.replaceAll('+57300', path === '/PRO' ? '+57300' : '+57301')),
      );
      const all = [
        ...requests,
        head('GET', path, KEYED),
        head('GET', '/nowhere'),
        post11(path, length('{'), '{'),
      ];
      const { answers } = await exchange(service.url, [all.join('')], { answers: 6 });
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200, 404, 400],
      );
      for (const [index, id] of ids.entries()) {
        const text = answers[index]?.body ?? '';
        checkBatch(text, 1);
        assert.equal(JSON.parse(text).results[0].id_number, id);
      }
    }
  });

  it('contract: an upgrade, an absolute URL and an unknown query change nothing', async () => {
    const { origin } = new URL(service.url);
    for (const request of [
      head('GET', '/PRO', { ...KEYED, Connection: 'Upgrade', Upgrade: 'websocket' }),
      head('GET', `${origin}/PRO`, KEYED),
      head('GET', '/PRO?applications=x&__proto__[x]=y&%=%', KEYED),
      head('GET', '/DEV', {
        ...KEYED,
        Range: 'bytes=0-1',
        'If-None-Match': '*',
        'Accept-Encoding': 'gzip',
        Accept: 'text/html',
      }),
    ]) {
      const { answers } = await exchange(service.url, [request]);
      assert.equal(answers[0]?.status, 200, request);
      assert.equal(JSON.parse(answers[0]?.body ?? '').window, 'rolling_24h');
    }
  });
});

describe('any JSON', () => {
  const odd = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 });
  const value = fc.oneof(
    odd,
    fc.double(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('+573001234567', 'si', '1e3'),
  );
  const fields = fc.constantFrom(
    ...Object.keys(anApplication()),
    'nombre',
    'cedula',
    'telefono',
    'ingreso_cop',
  );
  const element = fc.oneof(
    fc.dictionary(fields, value).map((changes) => anApplication(changes)),
    fc.dictionary(fc.oneof(fields, fc.string()), value),
    odd,
  );
  const root = fc.oneof(
    fc.record({ applications: fc.array(element, { maxLength: 5 }) }),
    fc.record({ aplicaciones: fc.array(element, { maxLength: 5 }), x: odd }),
    fc.record({ applications: odd }),
    odd,
  );

  // On DEV, openapi.test.ts compares any batch and any other JSON with the document.
  it('contract, D3: any JSON body on PRO gets 200 or 400 with the contract’s shape', async () => {
    await fc.assert(
      fc.asyncProperty(root, async (body) => {
        const text = JSON.stringify(body);
        const sent = JSON.parse(text);
        const elements = sent?.applications ?? sent?.aplicaciones;
        const isBatch = Array.isArray(elements) && elements.length > 0;
        const { status } = await send(text, 'PRO', isBatch ? elements.length : null);
        assert.equal(status, isBatch ? 200 : 400);
      }),
      { numRuns: 200 },
    );
  });

  it('D3: any text and any bytes get 400', async () => {
    const body = fc.oneof(
      fc.string().filter((text) => text !== ''),
      fc.uint8Array({ minLength: 1 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => assert.equal((await send(bytes, 'PRO')).status, 400)),
      { numRuns: 100 },
    );
  });
});

it('D37: a slow or silent upload gets an answer or a closed connection', async () => {
  const { apiKey } = await strict.addPartner();
  const headers = { ...KEYED, 'X-API-Key': apiKey };
  const slowly = (start: string, part: (n: number) => string) => [
    start,
    ...Array.from({ length: 1_000 }, (_, n) => [part(n), 50]).flat(),
  ];
  const uploads = [
    slowly(head('POST', '/PRO', { ...headers, 'Content-Length': 100_000 }), () => ' '),
    slowly('POST /PRO HTTP/1.1\r\n', (n) => `X-${n}: x\r\n`),
    [head('POST', '/DEV', { ...headers, 'Content-Length': 10 })],
  ];
  for (const slow of await Promise.all(uploads.map((parts) => exchange(strict.url, parts)))) {
    assert.ok(slow.closed || slow.answers.length > 0, `left hanging after ${slow.ms} ms`);
    for (const answer of slow.answers) checkFailure(answer, [400]);
  }
});

describe('after all requests', () => {
  it('D15, D37: exactly the applications answered as registered are stored, no 500 happened, and the service still answers', async () => {
    const { rows } = await service.database.query('SELECT id::int FROM applications ORDER BY id');
    assert.deepEqual(
      rows.map(({ id }) => id),
      [...registered].sort((a, b) => a - b),
    );
    assert.ok(registered.size > 0);
    for (const line of service.log) {
      const { level, status = 0 } = JSON.parse(line);
      assert.ok(level < 50 && status < 500, line);
    }
    const { body } = await send({ applications: [anApplication()] }, 'PRO', 1);
    assert.equal((body as { processed: number }).processed, 1);
  });
});
