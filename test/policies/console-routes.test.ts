/** The routes about policies: who may use each, what they refuse, and what they take (D48, D51; docs/policy.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayActAs, ROLES } from '../../src/domain/operator/authority.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { BUILT_IN, banded, policyConsole, routesOf, WARNINGS } from '../support/policy-console.ts';
import { remac } from '../support/remac.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { console, save, shown } = await policyConsole(store);
const ROUTES = routesOf(store);
const people = Object.fromEntries(
  await Promise.all(ROLES.map(async (role) => [role, await console.enrolled(`${role}.one`, role)] as const)),
);
const visitors = Object.fromEntries(
  await Promise.all(ROLES.map(async (role) => [role, await people[role]!.signIn()] as const)),
);
const admin = visitors.admin!;
const partner = await json('partner', 'add', '--name', 'Uno', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner.id}`);
const register = await registrarOf(store);
await register(key, [
  ...['lt6', '6a12', '1a2', 'gt2'].map((debt_age) => applicant({ phone: null, debt_age } as never)),
  applicant({ phone: null, debt_amount: 1e12 }),
]);

/** The answer of a count when it is over: a busy machine may take longer than a request waits. */
const counted = (path: string) =>
  eventually('the count is over', async () => {
    const { body } = await admin.ask('GET', path);
    return body.counting ? undefined : body;
  });

const at = (path: string) =>
  `/api${path.replaceAll(/\{\w+\}/g, '7')}${
    path.endsWith('/difference') ? '?before=default-2&after=default-2' : '?version=default-2'
  }`;

describe('each route about policies', () => {
  it('D48: is for the roles that it names: everybody reads, admins alone change', async () => {
    const changing = ROUTES.filter(({ method }) => method !== 'GET');
    assert.equal(changing.length, 10);
    for (const { path, access, method } of ROUTES) {
      assert.equal(access, method === 'GET' ? 'viewer' : 'admin', path);
      for (const role of ROLES) {
        const visitor = visitors[role]!;
        const query = path === '/policies' || path.endsWith('/watch') ? '' : at(path).replace(/^[^?]*/, '');
        const url = at(path).replace(/\?.*$/, '') + (method === 'GET' ? query : '');
        const { status } = await visitor.ask(method, url, method === 'GET' ? undefined : {});
        const may = mayActAs(role, access as never);
        assert.equal(status === 403, !may, `${role} at ${method} ${path}: ${status}`);
      }
    }
  });

  it('D48: an activation needs a sign-in of the last five minutes, from both', async () => {
    const stale = await people.admin!.signIn();
    await database.query("UPDATE operator_sessions SET proved_at = now() - interval '6 minutes'");
    await remac(store);
    const marked: string[] = [];
    for (const { method, path, needsFresh } of ROUTES.filter(({ method }) => method === 'POST')) {
      const { status, body } = await stale.ask(method, `/api${path.replace('{id}', '7')}`, {});
      const isAsked = status === 403 && body.needs === 'sign-in';
      assert.equal(isAsked, needsFresh === true, path);
      if (isAsked) marked.push(path);
    }
    assert.deepEqual(marked, ['/policies/proposals', '/policies/proposals/{id}/confirm']);
    await database.query('UPDATE operator_sessions SET proved_at = now()');
    await remac(store);
  });

  it('D51: a hostile document is refused with its place, and nothing is stored', async () => {
    const deep = JSON.parse(`${'['.repeat(1_000)}${']'.repeat(1_000)}`);
    const hostile: readonly (readonly [unknown, RegExp])[] = [
      [{ ...BUILT_IN, version: '<img src=x>' }, /version must match/],
      [{ ...BUILT_IN, version: '../etc' }, /version must match/],
      [{ ...BUILT_IN, version: 'a', title: '\u202ebad' }, /title must be one line/],
      [{ ...BUILT_IN, version: 'a', title: deep }, /title must be string/],
      [{ ...BUILT_IN, version: 'a', limits: deep }, /limits/],
      [{ ...BUILT_IN, version: 'a', reasons: { x: { en: 'a\nb', es: 'a', pt: 'a' } } }, /reasons.x.en/],
      [{ version: 'a' }, /must have required properties/],
      [{}, /must have required properties/],
      [[], /must have required properties|must be object/],
      [{ ...BUILT_IN, version: 'a', __proto__: null, extra: 1 }, /document/],
    ];
    for (const [document, text] of hostile) {
      const { status, body } = await save(admin, document as object);
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(body.error, text);
      assert.equal((await admin.ask('POST', '/api/policies/check', { document })).status, 400);
    }
    const gap = { ...BUILT_IN, version: 'gap-1', decision: { approved: 20, in_review: 30 } };
    const refused = await save(admin, gap);
    assert.deepEqual(
      [refused.status, refused.body.code, refused.body.findings[0].place],
      [409, 'refused', 'decision'],
    );
    const { body } = await admin.ask('POST', '/api/policies/check', { document: gap });
    assert.equal(body.findings[0].code, 'bands_out_of_order');
    for (const wrong of [
      'null',
      '1',
      '"x"',
      '{"document":null,"replaces":null}',
      '{"document":{},"replaces":1}',
    ])
      assert.equal((await admin.ask('POST', '/api/policies/drafts', JSON.parse(wrong))).status, 400, wrong);
    assert.deepEqual(
      (await shown(admin)).versions.map(({ version }: { version: string }) => version),
      ['default-2'],
    );
  });

  it('D51: a hostile reason, version or id is refused', async () => {
    for (const reason of ['', 'a\nb', 'fi\u202ene', 'x'.repeat(501)]) {
      const { status } = await admin.ask('POST', '/api/policies/proposals', {
        ...{ version: 'default-2', accept: [] },
        reason,
      });
      assert.equal(status, 400, reason);
    }
    for (const id of ['0', '-1', '1e3', '%00', '9'.repeat(40), 'x'])
      for (const act of ['confirm', 'undo', 'decline']) {
        const body = { confirm: { accept: [] }, undo: {}, decline: { reason: 'x' } }[act];
        const { status } = await admin.ask('POST', `/api/policies/proposals/${id}/${act}`, body);
        assert.ok([400, 404].includes(status), `${id} ${act} ${status}`);
      }
    for (const version of ['nobody', "'; DROP TABLE policies", '\u0000', '__proto__', '%'])
      for (const path of ['version', 'history']) {
        const { status } = await admin.ask(
          'GET',
          `/api/policies/${path}?version=${encodeURIComponent(version)}`,
        );
        assert.ok([400, 404].includes(status), `${path} ${version} ${status}`);
      }
    assert.deepEqual(console.failures, []);
  });

  it('D51: shows a version with its findings, and who is touched by a difference', async () => {
    assert.equal((await save(admin, banded('strict-1', 80))).status, 200);
    const { body: card } = await admin.ask('GET', '/api/policies/version?version=strict-1');
    assert.deepEqual([card.state, card.to_accept], ['draft', WARNINGS]);
    assert.ok(card.reasons.some(({ code }: { code: string }) => code === 'debt_2_years'));
    const other = { ...BUILT_IN, version: 'points-1' };
    const { attributes } = other.characteristics.debt_age;
    await save(admin, {
      ...other,
      characteristics: {
        ...other.characteristics,
        debt_age: {
          attributes: attributes.map((one) => (one.is[0] === 'gt2' ? { ...one, points: 0 } : one)),
        },
      },
      limits: [{ ...other.limits[0]!, usd: '1' }, ...other.limits.slice(1)],
    });
    const body = await counted('/api/policies/difference?before=default-2&after=points-1');
    const touched = new Map(
      body.differences.map((one: { place: string; applications: number }) => [one.place, one.applications]),
    );
    assert.deepEqual(
      [body.counting, body.applications, touched.get('debt_age gt2'), touched.get('limit amount_cap')],
      [false, 5, 1, 4],
    );
    const history = await counted('/api/policies/history?version=default-2');
    assert.equal(history.cube.applications, 5);
    const watch = await counted('/api/policies/watch');
    assert.equal(watch.applications, 5);
    const [{ version, ...decided }, ...others] = watch.versions;
    assert.deepEqual(
      [version, decided.approved + decided.in_review + decided.rejected, others],
      ['default-2', 5, []],
    );
    assert.equal(watch.activations[0].version, 'default-2');
    assert.equal(watch.reasons[0].texts.en.length > 0, true);
    assert.equal(watch.drift.version, 'default-2');
  });
});
