/**
 * `POST /api/batches` of the portal (D54): the same as `POST /PRO` and `POST /DEV` with a key of the account's partner,
 * and with no other key.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { MAX_BODY_BYTES } from '../../src/wire/contract/texts.ts';
import { commandLine } from '../cli/harness.ts';
import type { Visitor } from '../support/console.ts';
import { eventually } from '../support/eventually.ts';
import { startTestPortal } from '../support/portal.ts';
import { anApplication, post, testService } from '../support/service.ts';

const service = await testService({}, { upkeep: false });
const { database } = service;
const { json } = commandLine(service);
const portal = await startTestPortal(service);
const CODES = { Accept: 'application/json; profile=codes' };
const NAME = 'Zoraida Quintanilla';

let partners = 0;

async function aPartner(...options: string[]) {
  partners += 1;
  const id = toPartnerId((await json('partner', 'add', '--name', `P${partners}`, '--country', 'CO')).id);
  const key = await json('key', 'issue', '--partner', `${id}`, ...options);
  const owner = await portal.enrolled(id, `owner.${partners}`, 'owner');
  return { id, key, owner, visitor: await owner.signIn() };
}

interface Choice {
  readonly key: { readonly id: number };
  readonly environment?: 'PRO' | 'DEV';
}

function send(
  visitor: Visitor,
  { key, environment = 'PRO' }: Choice,
  body: unknown,
  headers: Record<string, string> = {},
) {
  return visitor.ask('POST', `/api/batches?key=${key.id}&environment=${environment}`, body, headers);
}

const usedOf = async (visitor: Visitor) => (await visitor.ask('GET', '/api/quota')).body.used_24h;

describe('a batch at the portal', () => {
  it('gets the answer of POST /DEV and of POST /PRO, in both languages, with the codes', async () => {
    const { key, visitor } = await aPartner('--daily-cap', '2');
    const other = await aPartner('--daily-cap', '2');
    const list = (first: string) => [
      anApplication({ name: NAME, phone: `+57300777000${first}` }),
      { ...anApplication(), income: 0, city: null },
      anApplication({ phone: `+57300777000${first}` }),
      7,
      anApplication(),
      anApplication(),
    ];
    for (const root of ['applications', 'aplicaciones']) {
      const body = { [root]: list(root === 'applications' ? '1' : '2') };
      for (const headers of [{}, CODES] as Record<string, string>[]) {
        const at = await send(visitor, { key, environment: 'DEV' }, body, headers);
        const there = await post(`${service.url}/DEV`, key.api_key, body, headers);
        assert.deepEqual([at.status, at.body], [200, there.body]);
      }
    }
    const withoutIds = (text: unknown) => JSON.stringify(text).replaceAll(/"id":\d+/g, '"id":1');
    const at = await send(visitor, { key }, { applications: list('3') }, CODES);
    const there = await post(`${service.url}/PRO`, other.key.api_key, { applications: list('4') }, CODES);
    const idNumbers = (text: string) => text.replaceAll(/10\d{8}/g, '10');
    assert.equal(idNumbers(withoutIds(at.body)), idNumbers(withoutIds(there.body)));
    assert.deepEqual([at.body.processed, at.body.errors], [2, 4]);
    assert.deepEqual(
      at.body.errors_detail.map(({ code }: { code: string }) => code),
      ['invalid', 'duplicate', 'not_an_object', 'quota_exceeded'],
    );
    assert.equal(at.headers.get('X-Quota-Remaining'), '0');
    assert.equal(await usedOf(visitor), 2);
  });

  it('counts once under an Idempotency-Key, also where the second one comes to POST /PRO', async () => {
    const { key, visitor } = await aPartner();
    const body = { applications: [anApplication({ phone: undefined }), anApplication()] };
    const keyed = { 'Idempotency-Key': 'file-1' };
    const [one, two] = await Promise.all([
      send(visitor, { key }, body, keyed),
      send(visitor, { key }, body, keyed),
    ]);
    assert.deepEqual(one.body, two.body);
    const replays = [one, two].map(({ headers }) => headers.get('Idempotency-Replayed'));
    assert.deepEqual(replays.sort(), [null, 'true'].sort());
    const third = await post(`${service.url}/PRO`, key.api_key, body, keyed);
    assert.deepEqual(third.body, one.body);
    assert.equal(await usedOf(visitor), 2);
    const reused = await send(visitor, { key }, { applications: [anApplication()] }, { ...keyed, ...CODES });
    assert.deepEqual(
      [reused.status, reused.body],
      [400, { error: 'Idempotency-Key was already used with another body', code: 'idempotency_reuse' }],
    );
    assert.equal(await usedOf(visitor), 2);
  });

  it('takes a live key of the partner for its environment, and no other one', async () => {
    const { id, key, visitor } = await aPartner();
    const rival = await aPartner();
    const sandbox = await json('key', 'issue', '--partner', `${id}`, '--environment', 'DEV');
    const dead = await json('key', 'issue', '--partner', `${id}`);
    await json('key', 'revoke', `${dead.id}`);
    const forged = await json('key', 'issue', '--partner', `${id}`, '--daily-cap', '1');
    await database.query('UPDATE api_keys SET daily_cap = 1000 WHERE id = $1', [forged.id]);
    const body = { applications: [anApplication()] };
    const answers = [
      [rival.key, 404, undefined],
      [{ id: 2_000_000_000 }, 404, undefined],
      [dead, 409, 'key_ended'],
      [sandbox, 409, 'other_environment'],
      [forged, 404, undefined],
    ] as const;
    for (const [chosen, status, code] of answers) {
      const answer = await send(visitor, { key: chosen }, body);
      assert.deepEqual([answer.status, answer.body.code], [status, code], answer.body.error);
      assert.match(answer.body.error, /key \d+/);
    }
    assert.equal((await send(visitor, { key: sandbox, environment: 'DEV' }, body)).status, 200);
    assert.equal((await send(visitor, { key }, body)).body.processed, 1);
    assert.deepEqual([await usedOf(visitor), await usedOf(rival.visitor)], [1, 0]);
    for (const query of ['', '?key=1', `?key=${key.id}&environment=XXX`, `?key=0&environment=PRO`])
      assert.equal((await visitor.ask('POST', `/api/batches${query}`, body)).status, 400);
  });

  it('is recorded with the account, and noted as a request, without personal data', async () => {
    const { id, key, owner, visitor } = await aPartner();
    const applications = [anApplication({ name: NAME }), anApplication({ income: 'x' })];
    const { headers } = await send(visitor, { key }, { applications });
    await send(visitor, { key, environment: 'DEV' }, { applications });
    await send(visitor, { key }, { applications: [] });
    const { rows } = await database.query(
      "SELECT actor, target, reason FROM operator_events WHERE act = 'batch send' AND actor = $1",
      [`account ${owner.id}`],
    );
    assert.deepEqual(rows, [
      { actor: `account ${owner.id}`, target: `key ${key.id}, applications: 2`, reason: null },
    ]);
    const noted = await eventually('the notes', async () => {
      const { requests } = (await visitor.ask('GET', '/api/requests')).body;
      return requests.length === 3 ? requests : undefined;
    });
    const sent = noted.find(
      ({ request_id }: { request_id: string }) => request_id === headers.get('X-Request-Id'),
    );
    assert.deepEqual(
      [sent.method, sent.route, sent.status, sent.outcomes.registered, sent.errors],
      ['POST', '/api/batches', 200, 1, [{ field: 'income', code: 'amount', elements: 1 }]],
    );
    assert.deepEqual(noted.map(({ problem }: { problem: string | null }) => problem).sort(), [
      'empty_batch',
      null,
      null,
    ]);
    assert.doesNotMatch(JSON.stringify(noted), /Zoraida/);
    assert.ok(id > 0);
  });

  it('is refused as a whole with the text of the contract, and nothing of it is stored', async () => {
    const { key, owner, visitor } = await aPartner();
    const url = `${portal.url()}/api/batches?key=${key.id}&environment=PRO`;
    const raw = (body: string | Buffer, headers: Record<string, string> = {}, cookie = visitor.cookie) =>
      fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...(cookie && { Cookie: cookie }), ...headers },
        body: body as string,
      });
    const large = JSON.stringify({ applications: [{ name: 'x'.repeat(MAX_BODY_BYTES) }] });
    const cases: readonly [Promise<Response>, number, RegExp][] = [
      [raw('{"applications": '), 400, /the body is not valid JSON/],
      [raw('{}'), 400, /applications is required and must be an array/],
      [raw('{"aplicaciones": []}'), 400, /aplicaciones debe tener al menos 1 solicitud/],
      [raw('{"applications": [1]}', { 'Content-Type': 'text/plain' }), 400, /Content-Type must be/],
      [raw(`{"applications": [${'1,'.repeat(100)}1]}`), 400, /at most 100 applications/],
      [raw('{"applications": [1]}', { 'Idempotency-Key': 'é' }), 400, /Idempotency-Key must be/],
      [raw(large), 413, /over 4194304 bytes/],
    ];
    for (const [answer, status, text] of cases) {
      const response = await answer;
      assert.deepEqual([response.status], [status], `${text}`);
      assert.match(((await response.json()) as { error: string }).error, text);
    }
    const whole = JSON.stringify({ applications: [{ ...anApplication(), note: 'x'.repeat(3_000_000) }] });
    assert.equal((await raw(whole)).status, 200, 'a body of 3 MB');
    const anonymous = await raw(whole, {}, null).then(
      ({ status }) => status,
      () => 'closed',
    );
    assert.ok(anonymous === 401 || anonymous === 'closed', `${anonymous}`);
    const wide = await visitor.ask('POST', '/api/accounts', { login: 'x'.repeat(70_000) });
    assert.equal(wide.status, 413, 'the other routes keep their limit');
    assert.equal(await usedOf(visitor), 1);
    assert.ok(owner.id > 0);
  });

  it('ends with the key: a batch after the revocation registers nothing', async () => {
    const { key, visitor } = await aPartner();
    const body = () => ({ applications: [anApplication({ phone: undefined })] });
    assert.equal((await send(visitor, { key }, body())).status, 200);
    await json('key', 'revoke', `${key.id}`);
    const after = await send(visitor, { key }, body());
    assert.deepEqual([after.status, after.body.code], [409, 'key_ended']);
    assert.equal(await usedOf(visitor), 1);
  });
});
