/** Accounts of people at partners (D54): the commands, the sign-in, and what an account can never be. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { PARTNER_ROLES, ROLES } from '../../src/domain/operator/authority.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { form } from '../../src/wire/operator/form.ts';
import { route } from '../../src/wire/operator/route.ts';
import { commandLine } from '../cli/harness.ts';
import { PASSWORD, startTestConsole, tokenOf, type Visitor } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { startTestPortal } from '../support/portal.ts';

const store = await testDatabase();
const { database } = store;
const { run, json } = commandLine(store);
/** A route of each role of both lists, at both listeners. */
const SAMPLES = [...ROLES, ...PARTNER_ROLES].map((access) =>
  route({
    ...{ method: 'GET', path: `/samples/${access}`, access, summary: 'A sample.' },
    reply: form({}),
    run: async () => ({ body: {} }),
  }),
);
const portal = await startTestPortal(store, SAMPLES);
const desk = await startTestConsole(store, SAMPLES);

async function addPartner(name: string) {
  return toPartnerId((await json('partner', 'add', '--name', name, '--country', 'CO')).id);
}
const addAccount = (partner: number, login: string, ...more: string[]) =>
  json('partner', 'account', 'add', '--partner', `${partner}`, '--login', login, ...more);

describe('partner account', () => {
  it('add prints a link, by which the person sets both factors and signs in at the portal', async () => {
    const partner = await addPartner('Acme');
    const added = await addAccount(partner, ' Ana@Acme.example ');
    const { id, link, created_at, ...rest } = added;
    assert.deepEqual(rest, {
      ...{ partner_id: partner, login: 'ana@acme.example', role: 'owner', signs_in_with: null },
      ...{ enrolled_at: null, disabled_at: null, forged: false },
    });
    assert.match(link, /^http:\/\/localhost:8083\/#token=/);
    const token = tokenOf(link);
    const elsewhere = await desk.visitor().ask('POST', '/api/enrolment/look', { token });
    assert.equal(elsewhere.status, 404, 'the console knows no link of a partner');
    const visitor = portal.visitor();
    assert.equal((await visitor.ask('POST', '/api/enrolment/look', { token })).body.login, rest.login);
    const begun = await visitor.ask('POST', '/api/enrolment', { token, password: PASSWORD });
    const secret = Secret.fromBase32(new URL(begun.body.totp).searchParams.get('secret')!);
    const code = (ahead: number) => new TOTP({ secret }).generate({ timestamp: Date.now() + ahead });
    const ended = await visitor.ask('POST', '/api/enrolment/totp', { token, code: code(0) });
    assert.equal(ended.body.recovery_codes.length, 10);
    assert.equal(
      (await visitor.ask('POST', '/api/session', { login: rest.login, password: PASSWORD })).status,
      200,
    );
    assert.equal((await visitor.ask('POST', '/api/session/totp', { code: code(30_000) })).status, 200);
    const { body } = await visitor.ask('GET', '/api/session');
    assert.deepEqual(
      [body.id, body.role, body.partner],
      [id, 'owner', { id: partner, name: 'Acme', country: 'CO' }],
    );
    const { rows } = await database.query('SELECT act FROM operator_events WHERE actor = $1 ORDER BY id', [
      `account ${id}`,
    ]);
    assert.deepEqual(
      rows.map(({ act }) => act),
      ['enrol', 'sign in'],
    );
  });

  it('the first one is the owner, others are members, and each login is of one account over all partners', async () => {
    const [one, other] = [await addPartner('One'), await addPartner('Other')];
    assert.equal((await addAccount(one, 'first')).role, 'owner');
    assert.equal((await addAccount(one, 'second')).role, 'member');
    assert.equal((await addAccount(one, 'third', '--role', 'owner')).role, 'owner');
    for (const partner of [one, other])
      assert.match(
        (await run('partner', 'account', 'add', '--partner', `${partner}`, '--login', 'FIRST')).err,
        /taken/,
      );
    assert.match(
      (await run('partner', 'account', 'add', '--partner', '999', '--login', 'x.y')).err,
      /no open partner 999/,
    );
    const listed = await json('partner', 'account', 'list', '--partner', `${one}`);
    assert.deepEqual(
      listed.map(({ login }: { login: string }) => login),
      ['first', 'second', 'third'],
    );
    assert.ok((await json('operator', 'list')).every(({ login }: { login: string }) => login !== 'first'));
  });

  it('an operator may have the same login, and neither password opens the account of the other', async () => {
    const partner = await addPartner('Twins');
    await portal.enrolled(partner, 'twin', 'owner');
    const operator = await desk.enrolled('twin', 'admin');
    await database.query('UPDATE operators SET disabled_at = now() WHERE id = $1', [operator.id]);
    const tried = { login: 'twin', password: PASSWORD };
    assert.equal((await portal.visitor().ask('POST', '/api/session', tried)).status, 200);
    assert.equal((await desk.visitor().ask('POST', '/api/session', tried)).status, 401);
    const named = { login: 'partner/twin', password: PASSWORD };
    for (const page of [portal, desk])
      assert.equal((await page.visitor().ask('POST', '/api/session', named)).status, 401);
  });

  it('reset-factors, sign-out and disable end the sessions; each is recorded', async () => {
    const partner = await addPartner('Ends');
    const isIn = async (visitor: Visitor) => (await visitor.ask('GET', '/api/session')).status === 200;
    for (const act of ['sign-out', 'reset-factors', 'disable']) {
      const account = await portal.enrolled(partner, `ends.${act}`, 'member');
      const visitor = await account.signIn();
      assert.equal(await isIn(visitor), true);
      const done = await json('partner', 'account', act, account.login);
      assert.equal('link' in done, act === 'reset-factors');
      assert.equal(await isIn(visitor), false, act);
      const { rows } = await database.query('SELECT FROM operator_events WHERE act = $1 AND target LIKE $2', [
        `partner account ${act}`,
        `account ${account.id} of partner ${partner}%`,
      ]);
      assert.equal(rows.length, 1, act);
    }
    assert.match((await run('partner', 'account', 'sign-out', 'ends.disable')).err, /is disabled/);
    assert.match((await run('operator', 'disable', 'ends.sign-out')).err, /no operator with this login/);
    await desk.enrolled('an.operator', 'viewer');
    assert.match((await run('partner', 'account', 'disable', 'an.operator')).err, /no such account/);
  });

  it('partner close ends sessions, links and factors; after reopen an operator gives a new link', async () => {
    const partner = await addPartner('Closes');
    const account = await portal.enrolled(partner, 'closes', 'owner');
    const invited = tokenOf((await addAccount(partner, 'invited')).link);
    const visitor = await account.signIn();
    await json('partner', 'close', `${partner}`);
    assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
    const password = { login: 'closes', password: PASSWORD };
    assert.equal((await visitor.ask('POST', '/api/session', password)).status, 401);
    assert.equal((await visitor.ask('POST', '/api/enrolment/look', { token: invited })).status, 404);
    assert.match((await run('partner', 'account', 'reset-factors', 'closes')).err, /no open partner/);
    await json('partner', 'reopen', `${partner}`);
    assert.equal((await visitor.ask('POST', '/api/session', password)).status, 401);
    const { link } = await json('partner', 'account', 'reset-factors', 'closes');
    assert.equal((await visitor.ask('POST', '/api/enrolment/look', { token: tokenOf(link) })).status, 200);
  });
});

describe('no account passes for one of the other kind', () => {
  it('each session at each listener, under each cookie name, opens the routes of its own list alone', async () => {
    const partner = await addPartner('Cookies');
    const people = {
      ...Object.fromEntries(
        await Promise.all(
          ROLES.map(async (role) => [role, await desk.enrolled(`cookie.${role}`, role)] as const),
        ),
      ),
      ...Object.fromEntries(
        await Promise.all(
          PARTNER_ROLES.map(
            async (role) => [role, await portal.enrolled(partner, `cookie.${role}`, role)] as const,
          ),
        ),
      ),
    };
    for (const [role, person] of Object.entries(people)) {
      const own = (PARTNER_ROLES as readonly string[]).includes(role) ? portal : desk;
      const list = own === portal ? PARTNER_ROLES : ROLES;
      const value = (await person.signIn()).cookie!.split('=')[1]!;
      for (const page of [portal, desk]) {
        for (const name of ['ventanilla', 'ventanilla-portal']) {
          const isOwn = page === own && name === (own === portal ? 'ventanilla-portal' : 'ventanilla');
          for (const needed of [...ROLES, ...PARTNER_ROLES]) {
            const visitor = page.visitor();
            visitor.cookie = `${name}=${value}`;
            const { status } = await visitor.ask('GET', `/api/samples/${needed}`);
            const isListed = (list as readonly string[]).includes(needed);
            const may = isListed && list.indexOf(role as never) >= list.indexOf(needed as never);
            assert.equal(
              status,
              isOwn ? (may ? 200 : 403) : 401,
              `${role} at ${needed}, ${name}, ${page === own}`,
            );
          }
        }
      }
    }
  });

  it('a row that somebody turns into the other kind by SQL is forged', async () => {
    const partner = await addPartner('Forged');
    const account = await portal.enrolled(partner, 'forged', 'owner');
    const other = await addPartner('Victim');
    const visitor = await account.signIn();
    await database.query('UPDATE operators SET partner_id = $2 WHERE id = $1', [account.id, other]);
    assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
    await database.query(
      "UPDATE operators SET partner_id = NULL, role = 'admin', login = 'forged' WHERE id = $1",
      [account.id],
    );
    const value = visitor.cookie!.split('=')[1]!;
    const atDesk = desk.visitor();
    atDesk.cookie = `ventanilla=${value}`;
    assert.equal((await atDesk.ask('GET', '/api/session')).status, 401);
    await assert.rejects(
      database.query("UPDATE operators SET role = 'owner' WHERE id = $1", [account.id]),
      /operators_role_check/,
    );
    await database.query('DELETE FROM operators WHERE id = $1', [account.id]);
  });
});
