/**
 * What each route of the desk needs (D48): a role, a new sign-in, the claim. What the operator API makes of a role and
 * of a session that is none is tested with its own routes (test/operator-api/routes.test.ts).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ROLES } from '../../src/domain/operator/authority.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { deskRoutes } from '../../src/subjects/desk/routes/desk-routes.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { remac } from '../support/remac.ts';

const store = await testDatabase();
const { database, runtime, vault } = store;
const { json } = commandLine(store);
const partner = await json('partner', 'add', '--name', 'Uno', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner.id}`);
const register = await registrarOf(store);
const ROUTES = deskRoutes(
  {
    database: runtime,
    vault,
    clock: machineClock,
    undoSeconds: 10,
    lookShare: 0,
    dueHours: 24,
    terms: async () => null,
  },
  () => Promise.reject(new Error('no documents')),
);
const desk = await startTestConsole(store, ROUTES);
const people = Object.fromEntries(
  await Promise.all(ROLES.map(async (role) => [role, await desk.enrolled(`${role}.one`, role)] as const)),
);
/** What the routes take whose need depends on the act. */
const BODIES: Readonly<Record<string, object>> = {
  '/applications/{id}/proposals': { act: 'disburse', reason: 'x' },
  '/proposals/{id}/confirm': { seen: 'x' },
  '/applications/{id}/corrections': { field: 'city', value: 'Cali', reason: 'x' },
};
/** An id that nobody has. */
const NOBODY = '999999';

/** What a reviewer does with one application that another one holds. */
const WITH_CLAIM: Readonly<
  Record<string, { readonly body: object; readonly headers?: Record<string, string> }>
> = {
  '/applications/{id}/claim': { body: {} },
  '/applications/{id}/proposals': {
    body: { act: 'approve', reason: 'fine' },
    headers: { 'If-Match': '"0"' },
  },
  '/applications/{id}/pend': {
    body: { missing: ['explanation'], message: null, hours: 1 },
    headers: { 'If-Match': '"0"' },
  },
};
/** What a reviewer may do with an application beside the one who holds it. */
const BESIDE_CLAIM = [
  '/applications/{id}/payment-plan',
  '/applications/{id}/reveal',
  '/applications/{id}/release',
  '/applications/{id}/notes',
  '/applications/{id}/corrections',
  // Where it is pended; then nobody holds it.
  '/applications/{id}/resume',
  '/applications/{id}/documents/{document}/reveal',
];

describe('each route of the desk', () => {
  it('needs a role', () => {
    assert.ok(ROUTES.length >= 7, `${ROUTES.length} routes`);
    for (const { path, access } of ROUTES) assert.ok((ROLES as readonly string[]).includes(access), path);
  });

  it('needs a new sign-in where the document says so, and nowhere else (D48)', async () => {
    await database.query(
      `INSERT INTO proposals (id, application_id, act, reason_code, reason, is_override, maker_id, decided_on,
         created_at, apply_at, needs_second)
       VALUES ($1, 7, 'disburse', 'funds_transferred', 'x', false, $2, 0, now(), now(), 'disburse')`,
      [NOBODY, people.reviewer!.id],
    );
    await database.query(
      "INSERT INTO open_proposals VALUES (7, $1, now(), now() + interval '1 day', false)",
      [NOBODY],
    );
    const stale = await people.admin!.signIn();
    await database.query("UPDATE operator_sessions SET proved_at = now() - interval '6 minutes'");
    await remac(store);
    const { paths } = (await stale.ask('GET', '/api/openapi.json')).body;
    const marked: string[] = [];
    for (const { method, path } of ROUTES) {
      const operation = paths[`/api${path}`][method.toLowerCase()];
      const isMarked = operation['x-needs-fresh-sign-in'] === true;
      assert.equal(/sign-in of the last five minutes/.test(operation.description ?? ''), isMarked, path);
      const body = BODIES[path] ?? {};
      const answer = await stale.ask(
        method,
        `/api${path.replaceAll(/\{\w+\}/g, NOBODY)}`,
        method === 'GET' ? undefined : body,
        { 'If-Match': '"0"' },
      );
      assert.equal(answer.status === 403 && answer.body.needs === 'sign-in', isMarked, `${method} ${path}`);
      if (isMarked) marked.push(path);
    }
    assert.deepEqual(marked, [
      '/applications/{id}/corrections',
      '/applications/{id}/proposals',
      '/proposals/{id}/confirm',
    ]);
  });

  it('about an application says whether it needs the claim, and gives 409 where somebody else has it', async () => {
    const about = ROUTES.filter(
      ({ method, path }) => method !== 'GET' && path.startsWith('/applications/{id}/'),
    );
    const paths = about.map(({ path }) => path);
    assert.deepEqual(paths.toSorted(), [...Object.keys(WITH_CLAIM), ...BESIDE_CLAIM].toSorted());
    const [id] = await register(key, [applicant({ ...IN_REVIEW, phone: toPhone('+573005551999') })]);
    await runtime.query('SELECT expand_reviews(0, 100, 24)');
    const [holder, other] = [await people.admin!.signIn(), await people.reviewer!.signIn()];
    assert.equal((await holder.ask('POST', `/api/applications/${id}/claim`, {})).status, 200);
    for (const [path, { body, headers = {} }] of Object.entries(WITH_CLAIM)) {
      const answer = await other.ask('POST', `/api${path.replace('{id}', `${id}`)}`, body, headers);
      assert.deepEqual([answer.status, answer.body.by?.login], [409, 'admin.one'], path);
    }
  });
});
