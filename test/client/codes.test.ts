/** The client reads the codes of errors and what is left of the daily cap (D55). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  AuthenticationError,
  type QuotaLeft,
  RequestRefusedError,
  ServiceUnavailableError,
  VentanillaClient,
} from '../../client/src/index.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { testService } from '../support/service.ts';
import { json, startPeer } from './peer.ts';
import { anInput, inputs, rejection } from './support.ts';

const service = await testService();
const bounded = { timeout: PATIENCE_MS };
const NOWHERE = 'http://127.0.0.1:1';

it('D55: an invalid application has its fields, in both languages of a key', bounded, async () => {
  for (const language of ['en', 'es'] as const) {
    const { apiKey } = await service.addPartner({ language });
    const client = new VentanillaClient({ url: `${service.url}/PRO`, apiKey });
    const [outcome] = await client.submit([anInput({ city: undefined, income: -1 })]);
    assert.equal(outcome?.kind, 'invalid');
    assert.deepEqual(outcome.fields, [
      { name: 'city', sentAs: null, code: 'required' },
      { name: 'income', sentAs: 'income', code: 'amount' },
    ]);
  }
});

it(
  'D55: the code counts, and not the text; a code of a newer service is an invalid application',
  bounded,
  async () => {
    for (const [code, kind] of [
      ['duplicate', 'duplicate'],
      ['quota_exceeded', 'quota_exceeded'],
      ['of_next_year', 'invalid'],
    ]) {
      const entry = { id_number: '7', error: 'another text', code, remaining: 0, daily_cap: 1 };
      const answer = { processed: 0, errors: 1, results: [], errors_detail: [entry] };
      const peer = await startPeer(NOWHERE, () => json(200, answer));
      const client = new VentanillaClient({ url: `${peer.url}/PRO`, apiKey: 'key' });
      assert.equal((await client.submit([anInput({ id_number: '7' })]))[0]?.kind, kind);
    }
  },
);

it(
  'D55: a failed request has the code of the service, and none where another server or an older one answers',
  bounded,
  async () => {
    const wrong = new VentanillaClient({ url: `${service.url}/PRO`, apiKey: 'wrong' });
    assert.equal((await rejection(AuthenticationError, wrong.quota())).code, 'unauthorized');
    const key = 'abcdef';
    for (const [body, code] of [
      [{ error: 'x', code: 'empty_batch' }, 'empty_batch'],
      [{ error: 'x' }, null],
      [{ code: 'empty_batch' }, null],
      [{ error: 'x', code: `${key} 1` }, null],
      [{ error: 'x', code: { a: 1 } }, null],
    ] as const) {
      for (const [status, type] of [
        [400, RequestRefusedError],
        [500, ServiceUnavailableError],
      ] as const) {
        const peer = await startPeer(NOWHERE, () => json(status, body));
        const client = new VentanillaClient({ url: `${peer.url}/PRO`, apiKey: key, retries: 0 });
        assert.equal((await rejection<{ code: string | null }>(type, client.quota())).code, code);
      }
    }
  },
);

it('D55: onQuota tells what is left after each batch of a key with a cap', bounded, async () => {
  const { apiKey } = await service.addPartner({ dailyCap: 3 });
  const told: QuotaLeft[] = [];
  const onQuota = (left: QuotaLeft) => void told.push(left);
  const client = new VentanillaClient({ url: `${service.url}/PRO`, apiKey });
  await client.submit(inputs(2), { onQuota });
  await client.submitBatch(inputs(1), { idempotencyKey: 'second', onQuota });
  assert.deepEqual(
    told.map(({ remaining }) => remaining),
    [1, 0],
  );
  for (const { resetSeconds } of told) assert.ok(resetSeconds !== null && resetSeconds <= 86_401);
  const { apiKey: free } = await service.addPartner();
  const never = () => assert.fail('a key without a cap');
  await new VentanillaClient({ url: `${service.url}/PRO`, apiKey: free }).submit(inputs(1), {
    onQuota: never,
  });
});
