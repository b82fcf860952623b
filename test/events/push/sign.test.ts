/** The signatures of pushes (D41), against the reference library of the Standard Webhooks specification. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { makeSigningSecret, signatureHeaders } from '../../../src/subjects/events/push/http/sign.ts';

/** The example of the reference library's own tests. */
const EXAMPLE = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

test('D41: the signature is the one of the public example', () => {
  const { secret, signature, ...text } = EXAMPLE;
  assert.deepEqual(signatureHeaders(text, [secret]), {
    'webhook-id': text.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': signature,
  });
  assert.equal(new Webhook(secret).sign(text.id, new Date(text.timestamp * 1000), text.body), signature);
});

const UNSIGNED = { message: 'No matching signature found' };

test('D41: the reference library verifies pushes under their own secrets, and no changed one', () => {
  const [present, previous, other] = [makeSigningSecret(), makeSigningSecret(), makeSigningSecret()];
  const text = { id: 'evt_1', timestamp: Math.floor(Date.now() / 1000), body: '{"name":"Peña","a":[1]}' };
  const headers = signatureHeaders(text, [present, previous]);
  for (const secret of [present, previous]) {
    assert.deepEqual(new Webhook(secret).verify(text.body, headers), JSON.parse(text.body));
  }
  assert.throws(() => new Webhook(other).verify(text.body, headers), UNSIGNED);
  assert.throws(() => new Webhook(present).verify(`${text.body} `, headers), UNSIGNED);
  assert.throws(
    () => new Webhook(present).verify(text.body, { ...headers, 'webhook-id': 'evt_2' }),
    UNSIGNED,
  );
  const later = { ...headers, 'webhook-timestamp': `${text.timestamp + 1}` };
  assert.throws(() => new Webhook(present).verify(text.body, later), UNSIGNED);
});

test('D41: a secret is whsec_ with 32 random bytes in base64', () => {
  const secret = makeSigningSecret();
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(makeSigningSecret(), secret);
});
