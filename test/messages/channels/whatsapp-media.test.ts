/** Files through WhatsApp's API: limits, hostile answers, and where the token may go. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import type { WhatsAppConfig } from '../../../src/app/config/config.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { machineClock } from '../../../src/ground/base/clock.ts';
import { isMediaAddress, whatsappMedia } from '../../../src/subjects/messages/channels/whatsapp-media.ts';
import { eventually } from '../../support/eventually.ts';
import { startHostileServer, TOO_LONG, TOO_MUCH_BEFORE, TOO_SLOW } from '../../support/hostile-answers.ts';
import { TestClock } from '../../support/test-clock.ts';
import { errorAnswer, startWhatsAppApi } from '../../support/whatsapp-api.ts';

const api = await startWhatsAppApi();
after(() => api.close());

const settings = readConfig(api.environment).whatsapp as WhatsAppConfig;
const LIMITS = { timeoutMs: 20_000, maxAnswerBytes: 10_000, idleMs: 4_000 };
const FILE_MS = 60_000;
const never = new AbortController().signal;
const media = whatsappMedia(settings, machineClock, LIMITS, 20_000);
const MOST = { maxBytes: 1_000_000 };
const fetchMedia = (id: string, via = media) => via.fetchMedia(id, MOST, never);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A server of somebody else: nothing may reach it. */
const strangers: IncomingMessage[] = [];
const stranger = createServer((request, response) => {
  strangers.push(request);
  response.end('ok');
});
await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
after(() => stranger.close());
const strangerUrl = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/file`;

beforeEach(() => {
  for (const faults of Object.values(api.media.faults)) faults.length = 0;
  api.media.requests.length = 0;
  strangers.length = 0;
});

const bytes = randomBytes(50_000);
const keep = () => api.media.keep({ bytes, contentType: 'application/pdf' });
const answer = (facts: object) => ({
  status: 200,
  body: JSON.stringify({ messaging_product: 'whatsapp', ...facts }),
});

describe('a file of a person', () => {
  it('comes in two requests, with its type and the SHA-256 that the channel claims', async () => {
    assert.deepEqual(await fetchMedia(keep()), {
      ...{ kind: 'media', bytes, contentType: 'application/pdf', sha256: sha256(bytes) },
    });
    assert.equal(api.media.requests.length, 2);
  });

  it('a SHA-256 in base64 is one too, and anything else is none', async () => {
    const forms: [claimed: unknown, read: string | null][] = [
      [createHash('sha256').update(bytes).digest('base64'), sha256(bytes)],
      [sha256(bytes).toUpperCase(), sha256(bytes)],
      ['abc', null],
      [7, null],
    ];
    for (const [claimed, read] of forms) {
      api.media.faults.lookUp.push((url) => answer({ url, sha256: claimed }));
      api.media.faults.download.push({ status: 200, body: 'x' });
      const got = await fetchMedia(keep());
      assert.equal(got.kind === 'media' && got.sha256, read);
    }
  });

  it('an address that has ended is asked for once more, and a file that is not there is gone', async () => {
    api.media.faults.download.push({ status: 404 });
    assert.equal((await fetchMedia(keep())).kind, 'media');
    api.media.faults.download.push({ status: 404 }, { status: 404 });
    api.media.requests.length = 0;
    assert.deepEqual(await fetchMedia(keep()), { kind: 'gone' });
    assert.equal(api.media.requests.length, 4);
    for (const id of ['999999', '..', 'a/b', '', '../me', 'x'.repeat(300), '?x=1']) {
      assert.deepEqual(await fetchMedia(id), { kind: 'gone' }, id);
    }
  });

  it('a file that is too large is not read, whether its size is claimed, sent as a header, or neither', async () => {
    const small = (id: string) => media.fetchMedia(id, { maxBytes: 100 }, never);
    assert.deepEqual(await small(keep()), { kind: 'too_large' });
    assert.equal(api.media.requests.length, 1, 'the claimed size is enough');
    api.media.faults.lookUp.push((url) => answer({ url }));
    api.media.faults.download.push({
      status: 200,
      headers: { 'Content-Length': '5000' },
      body: 'x'.repeat(5_000),
    });
    assert.deepEqual(await small(keep()), { kind: 'too_large' });
    api.media.faults.lookUp.push((url) => answer({ url, file_size: 5 }));
    api.media.faults.download.push({
      status: 200,
      headers: { 'Transfer-Encoding': 'chunked' },
      body: 'x'.repeat(5_000),
    });
    assert.deepEqual(await small(keep()), { kind: 'too_large' });
  });

  it('an answer that is no answer is a retry with a code', async () => {
    const { lookUp, download } = api.media.faults;
    const CASES: [make: () => void, reason: string][] = [
      [() => lookUp.push(() => ({ status: 200, body: 'no JSON' })), 'unknown'],
      [() => lookUp.push(() => ({ status: 200, body: '{"url": 7}' })), 'unknown'],
      [() => lookUp.push(() => ({ status: 200, body: '[]' })), 'unknown'],
      [() => lookUp.push(() => ({ status: 200, body: 'null' })), 'unknown'],
      [() => lookUp.push(() => ({ status: 200, body: 'x'.repeat(20_000) })), 'unknown'],
      [() => lookUp.push(() => errorAnswer(190, 401)), '190'],
      [() => lookUp.push(() => ({ status: 502 })), 'http_502'],
      [() => lookUp.push('close'), 'connection_lost'],
      [() => download.push({ status: 500 }), 'http_500'],
      [() => download.push({ status: 403 }), 'http_403'],
      [() => download.push('close'), 'connection_lost'],
      [
        () => download.push({ status: 200, headers: { 'Content-Length': '900' }, body: 'short' }),
        'connection_lost',
      ],
      [() => download.push({ status: 200, headers: { 'Content-Encoding': 'gzip' }, body: 'x' }), 'unknown'],
    ];
    const brief = whatsappMedia(settings, machineClock, { ...LIMITS, timeoutMs: 3_000 }, 3_000);
    for (const [make, reason] of CASES) {
      make();
      // The one answer that ends by the limit of time alone is among these; the others may be late.
      const got = await fetchMedia(keep(), reason === 'connection_lost' ? brief : media);
      const found =
        got.kind === 'retry' && got.reason === 'timeout'
          ? 'connection_lost'
          : got.kind === 'retry' && got.reason;
      assert.equal(found, reason, JSON.stringify(got.kind));
    }
    assert.deepEqual(await media.fetchMedia(keep(), MOST, AbortSignal.abort()), {
      kind: 'retry',
      reason: 'aborted',
    });
  });

  it('a body without end, a drip and a silent server end within the limits of size and time', async () => {
    for (const [name, endless] of Object.entries({ ...TOO_LONG, ...TOO_SLOW, ...TOO_MUCH_BEFORE })) {
      const server = await startHostileServer(endless);
      // The address of the file.
      const clock = new TestClock();
      const at = whatsappMedia({ ...settings, apiUrl: server.url }, clock, LIMITS, FILE_MS);
      const fetching = fetchMedia('123', at);
      // The others pass a limit of size.
      if (name in TOO_SLOW) {
        await eventually(name, () => server.sent > 0);
        for (let ms = 1_000; ms <= LIMITS.timeoutMs; ms += 1_000) {
          server.more();
          await clock.advance(1_000);
        }
      }
      assert.equal((await fetching).kind, 'retry', name);
      assert.equal(clock.timers, 0, name);
      assert.ok(server.sent < 16 * 1024 * 1024, `${name}: ${server.sent} bytes`);
    }
    const { faults, requests } = api.media;
    for (const [silent, limitMs, before] of [
      ['lookUp', LIMITS.timeoutMs, 0],
      ['download', FILE_MS, 1],
    ] as const) {
      requests.length = 0;
      faults[silent].push('never');
      const clock = new TestClock();
      const fetching = fetchMedia(keep(), whatsappMedia(settings, clock, LIMITS, FILE_MS));
      await eventually('the request', () => requests.length > before);
      await clock.advance(limitMs - 1);
      assert.equal(clock.timers, 1, silent);
      await clock.advance(1);
      assert.deepEqual(await fetching, { kind: 'retry', reason: 'timeout' });
    }
  });
});

describe('where the token goes', () => {
  it('a redirect is not followed', async () => {
    api.media.faults.lookUp.push(() => ({ status: 302, headers: { Location: strangerUrl } }));
    assert.deepEqual(await fetchMedia(keep()), { kind: 'retry', reason: 'http_302' });
    api.media.faults.download.push({ status: 307, headers: { Location: strangerUrl } });
    assert.deepEqual(await fetchMedia(keep()), { kind: 'retry', reason: 'http_307' });
    assert.equal(strangers.length, 0);
  });

  it('an address on another host gets no request at all', async () => {
    const others = [
      strangerUrl,
      strangerUrl.replace('http:', 'https:'),
      strangerUrl.replace('127.0.0.1', 'lookaside.fbsbx.com'),
      strangerUrl.replace('127.0.0.1', 'localhost'),
      'file:///etc/passwd',
      'ftp://lookaside.fbsbx.com/x',
    ];
    for (const url of others) {
      api.media.faults.lookUp.push(() => answer({ url }));
      assert.deepEqual(await fetchMedia(keep()), { kind: 'retry', reason: 'foreign_host' }, url);
    }
    assert.equal(strangers.length, 0);
  });

  it('only the API itself and its hosts of files over TLS are addresses', () => {
    const apiUrl = 'https://graph.facebook.com/v25.0';
    const fine = [
      'https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1',
      'https://graph.facebook.com/v25.0/1',
      'https://LOOKASIDE.fbsbx.com:443/x',
    ];
    for (const url of fine) assert.equal(isMediaAddress(new URL(url), apiUrl), true, url);
    const label = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    const foreign = fc.oneof(
      fc.webUrl(),
      label.map((name) => `https://${name}.lookaside.fbsbx.com/x`),
      label.map((name) => `https://lookaside.fbsbx.com.${name}.example/x`),
      label.map((name) => `https://${name}@lookaside.fbsbx.com/x`),
      label.map((name) => `https://lookaside.fbsbx.com@${name}.example/x`),
      fc
        .integer({ min: 1, max: 65_535 })
        .filter((port) => port !== 443)
        .map((port) => `https://lookaside.fbsbx.com:${port}/x`),
      fc.constant('http://lookaside.fbsbx.com/x'),
      fc.constant('http://graph.facebook.com/v25.0/1'),
    );
    fc.assert(fc.property(foreign, (url) => !isMediaAddress(new URL(url), apiUrl)));
  });
});

describe('a file for a person', () => {
  const upload = (filename: string, via = media) =>
    via.uploadMedia({ bytes, contentType: 'application/pdf', filename }, never);

  it('reaches the channel byte by byte, also with a name that is no name', async () => {
    const names = [
      'contrato.pdf',
      'ñandú — “x”.pdf',
      'a"; name="type',
      'b\r\nContent-Type: text/html\r\n\r\n',
      '--ventanilla--',
    ];
    for (const name of names) {
      const result = await upload(name);
      assert.equal(result.kind, 'uploaded', name);
      const kept = api.media.files.get(result.kind === 'uploaded' ? result.mediaId : '');
      assert.deepEqual([kept?.bytes.equals(bytes), kept?.contentType], [true, 'application/pdf']);
    }
  });

  it('property: bytes of any kind arrive as they are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3_000 }), async (some) => {
        const file = { bytes: Buffer.from(some), contentType: 'image/png', filename: 'x.png' };
        const result = await media.uploadMedia(file, never);
        const kept = api.media.files.get(result.kind === 'uploaded' ? result.mediaId : '');
        assert.equal(kept?.bytes.equals(file.bytes), true);
      }),
      { numRuns: 30 },
    );
  });

  it('a refusal of the file is final, and everything else is a retry', async () => {
    const { upload: faults } = api.media.faults;
    const CASES: [fault: (typeof faults)[number], expected: object][] = [
      [errorAnswer(131053), { kind: 'refused', reason: '131053' }],
      [errorAnswer(131052), { kind: 'refused', reason: '131052' }],
      [errorAnswer(190, 401), { kind: 'retry', reason: '190' }],
      [errorAnswer(80007), { kind: 'retry', reason: '80007' }],
      [{ status: 500 }, { kind: 'retry', reason: 'http_500' }],
      [
        { status: 200, body: '{}' },
        { kind: 'retry', reason: 'http_200' },
      ],
      [
        { status: 200, body: '{"id": "../x"}' },
        { kind: 'retry', reason: 'http_200' },
      ],
      [
        { status: 302, headers: { Location: strangerUrl } },
        { kind: 'retry', reason: 'http_302' },
      ],
      ['close', { kind: 'retry', reason: 'connection_lost' }],
    ];
    for (const [fault, expected] of CASES) {
      faults.push(fault);
      assert.deepEqual(await upload('a.pdf'), expected);
    }
    assert.equal(strangers.length, 0);
    faults.push('never');
    const clock = new TestClock();
    const uploading = upload('a.pdf', whatsappMedia(settings, clock, LIMITS, FILE_MS));
    await eventually('the request', () => faults.length === 0);
    await clock.advance(FILE_MS - 1);
    assert.equal(clock.timers, 1);
    await clock.advance(1);
    assert.deepEqual(await uploading, { kind: 'retry', reason: 'timeout' });
  });
});
