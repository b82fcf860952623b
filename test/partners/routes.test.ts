/** What admins do with partners and keys at the console (D18, D21, D48; docs/operators.md, "Partners"). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { mayActAs, ROLES } from '../../src/domain/operator/authority.ts';
import type { KeyId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { partnerRoutes } from '../../src/subjects/partners/routes/partners.ts';
import { Credentials } from '../../src/subjects/partners/sql/credentials.ts';
import { addKeyOutcomes } from '../../src/subjects/partners/sql/key-outcomes.ts';
import { authenticator } from '../../src/subjects/partners/uses/authenticate.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { remac } from '../support/remac.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const closing: number[] = [];
const ROUTES = partnerRoutes({ ...store, database: runtime }, [async (_, id) => closing.push(id)]);
const site = await startTestConsole(store, ROUTES);
const ana = await site.enrolled('ana', 'admin');
const admin = await ana.signIn();
const { json } = commandLine(store);
const authenticate = authenticator(vault, new Credentials(runtime, vault), () => {});

const post = async (path: string, body: object = {}) => {
  const { status, body: answer } = await admin.ask('POST', `/api/partners${path}`, body);
  return status === 200 ? answer : { status, ...answer };
};
const get = async (path: string) => (await admin.ask('GET', `/api/partners${path}`)).body;
const acts = async (): Promise<string[]> =>
  (await database.query('SELECT actor, act, target FROM operator_events ORDER BY id')).rows.map(
    ({ actor, act, target }) => `${actor}: ${act} ${target}`,
  );
const newPartner = async (): Promise<number> =>
  (await post('', { name: `Partner ${randomUUID()}`, country: 'CO' })).id;

describe('partners at the console', () => {
  it('D48: each route is for admins, and what makes or ends keys needs a sign-in of the last five minutes', async () => {
    const others = await Promise.all(
      ROLES.filter((role) => !mayActAs(role, 'admin')).map(async (role) =>
        (await site.enrolled(`${role}.one`, role)).signIn(),
      ),
    );
    for (const { method, path, needsFresh } of ROUTES) {
      const url = `/api${path.replaceAll(/\{\w+\}/g, '1')}`;
      for (const visitor of others) {
        const { status } = await visitor.ask(method, url, method === 'GET' ? undefined : {});
        assert.equal(status, 403, `${method} ${path}`);
      }
      assert.equal(needsFresh === true, /keys|close$/.test(path), path);
    }
    const late = await (await site.enrolled('late', 'admin')).signIn();
    await database.query("UPDATE operator_sessions SET proved_at = now() - interval '6 minutes'");
    await remac(store);
    const { status, body } = await late.ask('POST', '/api/partners/1/close', {});
    assert.deepEqual([status, body.needs], [403, 'sign-in']);
    await database.query('UPDATE operator_sessions SET proved_at = now()');
    await remac(store);
  });

  it('adds, renames, closes and opens as the command does, each act is recorded once, and a repetition changes nothing', async () => {
    const before = (await acts()).length;
    const { id, ...added } = await post('', { name: ' Acme ', country: 'co' });
    assert.deepEqual([added.name, added.country, added.closed_at], ['Acme', 'CO', null]);
    assert.deepEqual(await post('', { name: 'Acme', country: 'CO' }), {
      status: 409,
      error: 'there is already a partner named Acme',
      code: 'name_taken',
    });
    const { error, status } = await post('', { name: 'fi\u202ene', country: 'CO' });
    assert.deepEqual([status, /^body: the name must be/.test(error)], [400, true]);
    assert.match((await post('', { name: 'Good', country: 'XX' })).error, /^body: the country must be/);
    assert.equal((await post(`/${id}/rename`, { name: 'Acme Uno' })).name, 'Acme Uno');
    await post(`/${id}/keys`);
    assert.equal((await post(`/${id}/close`)).keys_revoked, 1);
    const again = await post(`/${id}/close`);
    assert.deepEqual([again.keys_revoked, again.closed_at !== null, closing], [0, true, [id]]);
    assert.deepEqual((await post(`/${id}/keys`)).code, 'closed');
    assert.equal((await post(`/${id}/reopen`)).closed_at, null);
    assert.equal((await post(`/${id}/reopen`)).closed_at, null);
    const key = (await get(`/${id}`)).keys[0].id;
    assert.deepEqual((await acts()).slice(before), [
      `operator ${ana.id}: partner add partner ${id}`,
      `operator ${ana.id}: partner rename partner ${id}`,
      `operator ${ana.id}: key issue key ${key}`,
      `operator ${ana.id}: partner close partner ${id}`,
      `operator ${ana.id}: partner reopen partner ${id}`,
    ]);
    assert.deepEqual(
      (await json('partner', 'list')).find((one: { id: number }) => one.id === id),
      { ...(await post(`/${id}/reopen`)) },
    );
  });

  it('pages through all partners once, the newest first', async () => {
    for (let more = 0; more < 5; more += 1) await newPartner();
    const all = (await json('partner', 'list')).map(({ id }: { id: number }) => id);
    for (const limit of [1, 2, 3, all.length, 100]) {
      const seen: number[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await get(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
        assert.ok(page.partners.length <= limit);
        seen.push(...page.partners.map(({ id }: { id: number }) => id));
        cursor = page.next;
      }
      assert.deepEqual(seen, all, `${limit}`);
    }
  });

  it('tells live keys, usage, the largest cap and what was refused', async () => {
    const id = await newPartner();
    const listed = async () => (await get('')).partners.find((one: { id: number }) => one.id === id);
    const figures = async () => {
      const { live_keys, daily_cap, used_24h, refused_24h } = await listed();
      return [live_keys, daily_cap, used_24h, refused_24h];
    };
    assert.deepEqual(await figures(), [0, null, 0, 0]);
    const capped = await post(`/${id}/keys`, { environment: 'PRO', daily_cap: 10 });
    await post(`/${id}/keys`, { environment: 'DEV' });
    await (await registrarOf(store))(
      capped.id,
      ['1', '2', '3'].map((end) => applicant({ phone: toPhone(`+57300555010${end}`) })),
    );
    const outcomes = { registered: 3, duplicate: 1, over_quota: 2, invalid: 4, unauthorized: 8 };
    await addKeyOutcomes(
      database,
      new Map([[capped.id as KeyId, { ...outcomes, remembered: 0, forgotten: 0 }]]),
    );
    assert.deepEqual(await figures(), [2, 10, 3, 7]);
    const shown = await get(`/${id}`);
    assert.deepEqual(
      [shown.used_24h, shown.keys.map(({ remaining }: { remaining: number | null }) => remaining)],
      [3, [null, 7]],
    );
    const { refusals, more } = await get(`/${id}/refusals`);
    assert.deepEqual(
      [refusals.length, more, refusals[0].key_id, refusals[0].unauthorized],
      [1, false, capped.id, 8],
    );
    await database.query("UPDATE key_outcomes SET hour = hour - interval '25 hours'");
    assert.deepEqual(await figures(), [2, 10, 3, 0]);
    await database.query('UPDATE api_keys SET daily_cap = 99 WHERE id = $1', [capped.id]);
    assert.deepEqual(await figures(), [1, null, 3, 0], 'a forged key is not live');
    assert.equal((await post(`/${id}/keys/${capped.id}/cap`, { daily_cap: 5 })).code, 'key_forged');
  });
});

describe('keys at the console', () => {
  it('D21: a key is shown once, works, gets a cap, is rotated with an overlap and revoked, each recorded', async () => {
    const id = await newPartner();
    const before = (await acts()).length;
    const issued = await post(`/${id}/keys`, { environment: 'PRO', daily_cap: 5, language: 'es' });
    const credential = await authenticate(issued.api_key, 'PRO');
    assert.deepEqual([credential?.keyId, credential?.dailyCap, credential?.language], [issued.id, 5, 'es']);
    assert.equal((await post(`/${id}/keys/${issued.id}/cap`, { daily_cap: null })).daily_cap, null);
    const rotated = await post(`/${id}/keys/${issued.id}/rotate`, { overlap: '7d' });
    assert.equal(rotated.replaces.id, issued.id);
    for (const text of [issued.api_key, rotated.api_key]) assert.ok(await authenticate(text, 'PRO'));
    const revoked = await post(`/${id}/keys/${issued.id}/revoke`);
    assert.equal(revoked.status, 'revoked');
    assert.deepEqual(await post(`/${id}/keys/${issued.id}/revoke`), revoked, 'a repetition finds it revoked');
    assert.equal(await authenticate(issued.api_key, 'PRO'), null);
    assert.equal((await post(`/${id}/keys/${issued.id}/rotate`)).code, 'key_ended');
    assert.equal((await post(`/${id}/keys/${rotated.id}/rotate`, { overlap: '31d' })).status, 400);
    const mine = `operator ${ana.id}: key`;
    assert.deepEqual((await acts()).slice(before), [
      `${mine} issue key ${issued.id}`,
      `${mine} set key ${issued.id}`,
      `${mine} rotate key ${issued.id}`,
      `${mine} revoke key ${issued.id}`,
    ]);
    const shown = JSON.stringify([await get(`/${id}`), await get(''), await acts()]);
    for (const { api_key } of [issued, rotated]) assert.ok(!shown.includes(api_key));
  });

  it('a key of another partner, and one that is none, is not found and stays as it is', async () => {
    const [one, other] = [await newPartner(), await newPartner()];
    const { id, ...issued } = await post(`/${one}/keys`);
    const before = await acts();
    const paths = [
      `${other}/keys/${id}`,
      `${one}/keys/0`,
      `${one}/keys/2147483648`,
      `x/keys/${id}`,
      `${one}/keys/1e1`,
    ];
    for (const path of paths)
      for (const [act, body] of Object.entries({ revoke: {}, rotate: {}, cap: { daily_cap: 1 } }))
        assert.equal((await post(`/${path}/${act}`, body)).status, 404, `${path}/${act}`);
    assert.equal((await post('/99999/keys')).status, 404);
    assert.deepEqual(await acts(), before);
    assert.ok(await authenticate(issued.api_key, 'PRO'));
  });
});
