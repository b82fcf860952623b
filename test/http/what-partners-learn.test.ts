/** A key learns nothing of other partners beyond the contract (D2, D16, D18, D20, D36). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { formatApiKey, SECRET_BYTES } from '../../src/subjects/partners/rules/api-key.ts';
import { remac } from '../support/remac.ts';
import { anApplication, post, testService } from '../support/service.ts';

const service = await testService();
const { database, vault, url } = service;
const PRO = `${url}/PRO`;

/** Another key of the same partner. */
async function secondKey(partnerId: PartnerId, fill: number): Promise<string> {
  const apiKey = formatApiKey(null, Buffer.alloc(SECRET_BYTES, fill));
  await database.query(
    "INSERT INTO api_keys (partner_id, digest, hint, pepper) VALUES ($1, $2, 'second', $3)",
    [partnerId, vault.apiKeyDigest(apiKey), vault.pepperIds[0]],
  );
  await remac(service);
  return apiKey;
}

test('D20, D21: a 401 does not tell whether the key is unknown or has ended, also one for the other environment', async () => {
  const [revoked, expired, devOnly] = [
    await service.addPartner({ language: 'es' }),
    await service.addPartner({ language: 'es' }),
    await service.addPartner({ environment: 'DEV', language: 'es' }),
  ];
  await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = ANY ($1)', [
    [revoked.keyId, devOnly.keyId],
  ]);
  await database.query("UPDATE api_keys SET expires_at = now() - interval '1 day' WHERE id = $1", [
    expired.keyId,
  ]);
  await remac(service);
  const unknown = formatApiKey(null, Buffer.alloc(SECRET_BYTES, 0x11));
  const keys = [
    'rubbish',
    `${unknown.slice(0, -1)}x`,
    unknown,
    revoked.apiKey,
    expired.apiKey,
    devOnly.apiKey,
  ];
  for (const method of ['GET', 'POST']) {
    const answers = await Promise.all(
      keys.map(async (apiKey) => {
        const answer = await fetch(PRO, {
          method,
          headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
          ...(method === 'POST' ? { body: JSON.stringify({ aplicaciones: [anApplication()] }) } : {}),
        });
        const headers = [...answer.headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
        return { status: answer.status, headers, text: await answer.text() };
      }),
    );
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
    assert.equal(answers[0]?.status, 401);
  }
});

test('D21: of two keys of a partner only the revoked one is refused', async () => {
  const { apiKey, keyId, partnerId } = await service.addPartner();
  const other = await secondKey(partnerId, 0x33);
  await database.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [keyId]);
  await remac(service);
  const statusOf = async (key: string) => (await fetch(PRO, { headers: { 'X-API-Key': key } })).status;
  assert.deepEqual([await statusOf(apiKey), await statusOf(other)], [401, 200]);
});

test('contract, "Duplicate rule": the refusal tells nothing of the open application or its partner', async () => {
  const [mine, theirs] = [await service.addPartner(), await service.addPartner()];
  const [own, others] = [anApplication(), anApplication()];
  await post(PRO, mine.apiKey, { applications: [own] });
  await post(PRO, theirs.apiKey, { applications: [others] });
  const again = [own, others].map((application) => ({ ...application, id_number: 'same', name: 'Same' }));
  const answers = await Promise.all(again.map((one) => post(PRO, mine.apiKey, { applications: [one] })));
  assert.equal(answers[0]?.text, answers[1]?.text);
  assert.match(answers[0]?.text ?? '', /a request already exists/);
});

test('D18: a key reads and uses the quota of its partner alone', async () => {
  const [mine, theirs] = [
    await service.addPartner({ dailyCap: 9 }),
    await service.addPartner({ dailyCap: 9 }),
  ];
  await post(PRO, theirs.apiKey, { applications: [anApplication(), anApplication()] });
  // biome-ignore lint/suspicious/noExplicitAny: an answer of the wire
  const quota: any = await (await fetch(PRO, { headers: { 'X-API-Key': mine.apiKey } })).json();
  assert.deepEqual([quota.partner.used_24h, quota.partner.remaining], [0, 9]);
});

test('D36: an Idempotency-Key used under another API key, even of the same partner, counts as unused', async () => {
  const first = await service.addPartner();
  const keys = [await secondKey(first.partnerId, 0x22), (await service.addPartner()).apiKey];
  const headers = { 'Idempotency-Key': 'monday' };
  const batch = { applications: [anApplication({ phone: null })] };
  const original = await post(PRO, first.apiKey, batch, headers);
  for (const apiKey of keys) {
    const same = await post(PRO, apiKey, batch, headers);
    assert.deepEqual([same.status, same.headers.get('idempotency-replayed')], [200, null]);
    assert.notEqual(same.text, original.text);
  }
});
