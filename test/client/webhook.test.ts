/** verifyWebhook: the signatures of pushed events, as Standard Webhooks specifies (D41). */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import {
  verifyWebhook,
  WebhookError,
  type WebhookFault,
  type WebhookHeaders,
} from '../../client/src/index.ts';
import { rejection } from './support.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const SENT_AT = new Date(1_614_265_330_000);
const seconds = (date: Date) => String(date.getTime() / 1_000);
const EVENT = {
  id: 'evt_AAAAAAAAAAE0123456789abcdef',
  type: 'application.status_changed',
  timestamp: '2026-11-22T10:00:00.000+00:00',
  data: {
    id: 346,
    id_number: 'Ñ-1020',
    from: 'in_review',
    to: 'rejected',
    reason_code: 'documents_missing',
    reason_codes: ['no_history'],
  },
};
const READ = {
  id: EVENT.id,
  type: EVENT.type,
  timestamp: EVENT.timestamp,
  data: {
    id: 346,
    idNumber: 'Ñ-1020',
    from: 'in_review',
    to: 'rejected',
    reasonCode: 'documents_missing',
    reasonCodes: ['no_history'],
  },
};
const BODY = JSON.stringify(EVENT);

function signed(body: string, secret = SECRET, at = SENT_AT): Record<string, string> {
  return {
    'webhook-id': EVENT.id,
    'webhook-timestamp': seconds(at),
    'webhook-signature': new Webhook(secret).sign(EVENT.id, at, body),
  };
}

async function faultOf(
  body: string,
  headers: WebhookHeaders,
  secret: string | string[] = SECRET,
  now = SENT_AT,
): Promise<WebhookFault> {
  const { fault, message } = await rejection(WebhookError, verifyWebhook(body, headers, secret, { now }));
  assert.doesNotMatch(message, /whsec|1020|v1,/);
  return fault;
}

describe('a signature', () => {
  it('of the published vector of Standard Webhooks fits, and only of that', async () => {
    const body = '{"test": 2432232314}';
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    // The vector's body is not one of the service's events. This is found out after the signature.
    assert.equal(await faultOf(body, headers), 'not_an_event');
    const changes: [string, Record<string, string>][] = [
      [`${body} `, headers],
      [body, { ...headers, 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJeK' }],
      [body, { ...headers, 'webhook-timestamp': '1614265331' }],
      [body, { ...headers, 'webhook-signature': 'v1,h0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' }],
      [body, { ...headers, 'webhook-signature': 'v1,g0hM9SsE+OTPJTGt' }],
      [body, { ...headers, 'webhook-signature': 'v1,' }],
      [body, { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v2,') }],
      [body, { ...headers, 'webhook-signature': headers['webhook-signature'].slice(3) }],
    ];
    for (const [changed, sent] of changes) assert.equal(await faultOf(changed, sent), 'signature_mismatch');
    assert.equal(await faultOf(body, headers, OTHER_SECRET), 'signature_mismatch');
  });

  it('of the reference library fits, for a text, bytes and a Buffer', async () => {
    const bytes = Buffer.from(BODY);
    const part = new Uint8Array([1, ...bytes, 2]).subarray(1, -1);
    const ofAnotherRealm: Uint8Array = runInNewContext('Uint8Array.from(bytes)', { bytes: [...bytes] });
    for (const body of [BODY, bytes, new Uint8Array(bytes), part, ofAnotherRealm]) {
      assert.deepEqual(await verifyWebhook(body, signed(BODY), SECRET, { now: SENT_AT }), READ);
    }
  });

  it('property: fits any body that the reference library signed, and no other body', async () => {
    const anything = fc.record({ body: fc.string({ unit: 'binary' }), other: fc.string({ unit: 'binary' }) });
    await fc.assert(
      fc.asyncProperty(anything, fc.uint8Array({ minLength: 24, maxLength: 64 }), async (texts, key) => {
        const [body, other] = [texts.body.toWellFormed(), texts.other.toWellFormed()];
        const secret = `whsec_${Buffer.from(key).toString('base64')}`;
        const event = JSON.stringify({ ...EVENT, type: body });
        const headers = signed(event, secret);
        const read = await verifyWebhook(event, headers, secret, { now: SENT_AT });
        assert.equal(read.type, 'unknown');
        fc.pre(other !== body);
        const changed = JSON.stringify({ ...EVENT, type: other });
        assert.equal(await faultOf(changed, headers, secret), 'signature_mismatch');
      }),
      { numRuns: 50 },
    );
  });

  it('may be one of several in the header, of unknown versions too', async () => {
    const [mine, others] = [signed(BODY), signed(BODY, OTHER_SECRET)];
    const signature = `v1a,abc ${others['webhook-signature']} rubbish  ${mine['webhook-signature']} v9,=`;
    const headers = { ...mine, 'webhook-signature': signature };
    assert.deepEqual(await verifyWebhook(BODY, headers, SECRET, { now: SENT_AT }), READ);
    assert.deepEqual(await verifyWebhook(BODY, headers, OTHER_SECRET, { now: SENT_AT }), READ);
  });

  it('may be of any of the secrets, as after a rotation', async () => {
    for (const secrets of [[OTHER_SECRET, SECRET], [SECRET, OTHER_SECRET], [SECRET]]) {
      assert.deepEqual(await verifyWebhook(BODY, signed(BODY), secrets, { now: SENT_AT }), READ);
    }
    assert.equal(await faultOf(BODY, signed(BODY), [OTHER_SECRET]), 'signature_mismatch');
  });
});

it('headers may be a Headers, or an object with names in any case and lists of values', async () => {
  const sent = signed(BODY);
  const upper = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name.toUpperCase(), value]));
  const lists = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, [value]]));
  for (const headers of [new Headers(sent), upper, lists, { ...sent, get: 'a header of this name' }]) {
    assert.deepEqual(await verifyWebhook(BODY, headers, SECRET, { now: SENT_AT }), READ);
  }
});

it('a missing header is named', async () => {
  for (const name of Object.keys(signed(BODY))) {
    for (const absent of [undefined, '', []]) {
      const verifying = verifyWebhook(BODY, { ...signed(BODY), [name]: absent }, SECRET, { now: SENT_AT });
      const { fault, message } = await rejection(WebhookError, verifying);
      assert.deepEqual([fault, message], ['header_missing', `the request has no header ${name}`]);
    }
  }
});

it('a push from more than five minutes ago or ahead is refused, although its signature fits', async () => {
  const cases: [ageSeconds: number, expected: WebhookFault | 'fits'][] = [
    [300, 'fits'],
    [301, 'too_old'],
    [-300, 'fits'],
    [-301, 'too_new'],
  ];
  for (const [ageSeconds, expected] of cases) {
    const now = new Date(SENT_AT.getTime() + ageSeconds * 1_000);
    if (expected === 'fits') assert.deepEqual(await verifyWebhook(BODY, signed(BODY), SECRET, { now }), READ);
    else assert.equal(await faultOf(BODY, signed(BODY), SECRET, now), expected);
  }
  const later = new Date(SENT_AT.getTime() + 3_600_000);
  const patient = { now: later, toleranceSeconds: 3_600 };
  assert.deepEqual(await verifyWebhook(BODY, signed(BODY), SECRET, patient), READ);
  const now = new Date(Math.floor(Date.now() / 1_000) * 1_000);
  assert.deepEqual(await verifyWebhook(BODY, signed(BODY, SECRET, now), SECRET), READ, 'by the clock');
  await rejection(WebhookError, verifyWebhook(BODY, signed(BODY), SECRET));
  for (const timestamp of ['x', '-1', '1.5', '1e9', ' 1614265330', '9'.repeat(40)]) {
    const headers = { ...signed(BODY), 'webhook-timestamp': timestamp };
    assert.equal(await faultOf(BODY, headers), 'header_malformed', timestamp);
  }
});

it('a body that is no event is told apart from a wrong signature', async () => {
  for (const body of ['', '{', '[]', 'null', '{}', '{"id":1,"type":"x","timestamp":"","data":{}}']) {
    assert.equal(await faultOf(body, signed(body)), 'not_an_event', body);
  }
  const latin1 = Buffer.from(BODY, 'latin1');
  // The reference library signs texts alone.
  const mac = createHmac('sha256', Buffer.from(SECRET.slice('whsec_'.length), 'base64'));
  const signature = mac
    .update(`${EVENT.id}.${seconds(SENT_AT)}.`)
    .update(latin1)
    .digest('base64');
  const headers = { ...signed(BODY), 'webhook-signature': `v1,${signature}` };
  const verifying = verifyWebhook(latin1, headers, SECRET, { now: SENT_AT });
  assert.equal((await rejection(WebhookError, verifying)).fault, 'not_an_event');
});

it('the test event of an operator has a type of its own', async () => {
  const test = JSON.stringify({ ...EVENT, type: 'endpoint.test', data: {} });
  const read = await verifyWebhook(test, signed(test), SECRET, { now: SENT_AT });
  assert.deepEqual(read, { ...READ, type: 'endpoint.test', data: {} });
});

it('a wrong argument is a TypeError or RangeError that does not quote the secret', async () => {
  const secrets = ['', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_', 'whsec_a', `${SECRET}\n`, 'whsec_%%%%'];
  for (const secret of [...secrets, [], [SECRET, ''], undefined, null]) {
    const verifying = verifyWebhook(BODY, signed(BODY), secret as string);
    assert.doesNotMatch((await rejection(TypeError, verifying)).message, /MfKQ/);
  }
  const parsed = verifyWebhook(EVENT as unknown as string, signed(BODY), SECRET);
  assert.match((await rejection(TypeError, parsed)).message, /before anything parses/);
  for (const options of [
    { toleranceSeconds: -1 },
    { toleranceSeconds: Number.NaN },
    { now: new Date('x') },
  ]) {
    await rejection(RangeError, verifyWebhook(BODY, signed(BODY), SECRET, options));
  }
});
