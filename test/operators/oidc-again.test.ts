/** Proving both factors again at the identity provider (D48). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type TOTP, URI } from 'otpauth';
import { Type } from 'typebox';
import { route } from '../../src/wire/operator/route.ts';
import { CookieBrowser } from '../support/cookie-browser.ts';
import { testDatabase } from '../support/database.ts';
import { startOidcDesk } from '../support/oidc-desk.ts';
import { remac } from '../support/remac.ts';

const store = await testDatabase();
const { database } = store;
const ACT = route({
  ...{ method: 'POST', path: '/samples/act', access: 'admin', summary: 'Needs a new sign-in.' },
  ...{ needsFresh: true, reply: Type.Object({}), run: async () => ({ body: {} }) },
});
const { provider, desk, somebody, post, get, toCallback, through, comeBack, bound, actsOf, whoIs } =
  await startOidcDesk(store, [ACT]);
beforeEach(() => database.query('DELETE FROM operator_tries'));

const makeOld = async (id: number) => {
  await database.query(
    "UPDATE operator_sessions SET proved_at = now() - interval '6 minutes' WHERE operator_id = $1",
    [id],
  );
  await remac(store);
};
const act = async (browser: CookieBrowser) => (await post(browser, '/api/samples/act')).status;
const AGAIN = '/api/session/again/oidc';

/** An admin with an app, whose provider asks for no second factor. */
async function boundWithApp() {
  const { login } = somebody();
  provider.person.amr = ['pwd'];
  const { id, token } = await desk.invite(login, 'admin');
  const browser = new CookieBrowser();
  const next = (await through(browser, '/api/enrolment/oidc', { token })).slice('/#bound='.length);
  const { body } = await post(browser, '/api/enrolment/app', { token: next });
  const app = URI.parse(body.totp) as TOTP;
  const { body: ended } = await post(browser, '/api/enrolment/totp', { token: next, code: app.generate() });
  await through(browser);
  await post(browser, '/api/session/totp', { code: ended.recovery_codes[0] });
  assert.equal(await whoIs(browser), login);
  const nextCode = () => app.generate({ timestamp: Date.now() + 30_000 });
  return { id, login, browser, nextCode, recoveryCodes: ended.recovery_codes as string[] };
}

describe('a sign-in again at the identity provider', () => {
  it('asks the person to sign in there, makes the act possible, and gives another cookie', async () => {
    const { id, browser } = await bound('admin');
    await makeOld(id);
    assert.equal(await act(browser), 403);
    const { body } = await post(browser, AGAIN, {});
    const asked = new URL(body.url).searchParams;
    assert.deepEqual([asked.get('prompt'), asked.get('max_age')], ['login', '0']);
    const before = browser.jar(desk.url()).get('ventanilla');
    assert.equal(await through(browser, AGAIN, {}), '/?oidc=again');
    assert.equal(await act(browser), 200);
    const stale = new CookieBrowser();
    stale.jar(desk.url()).set('ventanilla', before!);
    assert.equal(await whoIs(stale), 401);
    assert.equal((await actsOf(id)).at(-1), 'sign in again: identity provider');
  });

  it('needs a code of the app first, where the provider asks for no second factor', async () => {
    const { id, browser, nextCode } = await boundWithApp();
    await makeOld(id);
    assert.equal((await get(browser, '/api/session')).body.has_app, true);
    assert.equal(await through(browser, AGAIN, {}), '/?oidc=no_second_factor');
    assert.equal(await act(browser), 403);
    const wrong = await post(browser, AGAIN, { code: '000000' });
    assert.deepEqual([wrong.status, wrong.body.needs], [403, 'sign-in']);
    assert.equal(await through(browser, AGAIN, { code: await nextCode() }), '/?oidc=again');
    assert.equal(await act(browser), 200);
  });

  it('is no newer than its code', async () => {
    const { browser, recoveryCodes } = await boundWithApp();
    const callback = await toCallback(browser, AGAIN, { code: recoveryCodes[1] });
    await database.query("UPDATE operator_pending_sign_ins SET started_at = now() - interval '6 minutes'");
    await remac(store);
    assert.equal(await comeBack(browser, callback), '/?oidc=again');
    assert.equal(await act(browser), 403);
  });

  it('of another person, in another session, or after the session ended proves nothing', async () => {
    const { id, subject, browser } = await bound('admin');
    await bound('admin');
    await makeOld(id);
    // The person at the provider is another one now.
    browser.jar(provider.issuer).clear();
    assert.equal(await through(browser, AGAIN, {}), '/?oidc=not_again');
    assert.equal(await act(browser), 403);
    assert.equal((await actsOf(id)).at(-1), 'sign in again refused: identity provider');
    provider.person.subject = subject;
    browser.jar(provider.issuer).clear();
    const callback = await toCallback(browser, AGAIN, {});
    const other = new CookieBrowser();
    assert.equal(await through(other), '/');
    const mine = browser.jar(desk.url()).get('ventanilla')!;
    browser.jar(desk.url()).set('ventanilla', other.jar(desk.url()).get('ventanilla')!);
    assert.equal(await comeBack(browser, callback), '/?oidc=not_again');
    browser.jar(desk.url()).set('ventanilla', mine);
    const late = await toCallback(browser, AGAIN, {});
    await database.query('DELETE FROM operator_sessions WHERE operator_id = $1', [id]);
    assert.equal(await comeBack(browser, late), '/?oidc=not_again');
    assert.equal(await whoIs(browser), 401);
  });

  it('that the provider did not ask for anew proves nothing', async () => {
    const { id, subject, browser } = await bound('admin');
    await makeOld(id);
    for (const [auth_time, end] of [
      [Math.floor(Date.now() / 1000) - 600, '/?oidc=not_again'],
      [undefined, '/?oidc=invalid'],
    ] as const) {
      const { body } = await post(browser, AGAIN, {});
      const callback = await browser.follow(body.url, `${desk.url()}/api/session/oidc/callback`);
      const now = Math.floor(Date.now() / 1000);
      const id_token = provider.sign({
        ...{ iss: provider.issuer, sub: subject, aud: provider.config.clientId, iat: now, exp: now + 60 },
        ...{ nonce: new URL(body.url).searchParams.get('nonce'), amr: ['mfa'], auth_time },
      });
      provider.meddling.before = ({ url }, response) => {
        if (url !== '/token') return false;
        const tokens = { access_token: 'x', token_type: 'Bearer', expires_in: 60, id_token };
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(tokens));
        return true;
      };
      assert.equal(await comeBack(browser, callback), end);
      provider.meddling.before = null;
      assert.equal(await act(browser), 403);
    }
  });

  it('needs a whole session to begin', async () => {
    assert.equal((await post(new CookieBrowser(), AGAIN, {})).status, 401);
  });

  it('by a password is refused for an account without one', async () => {
    const { browser } = await bound('admin');
    const body = { password: 'seven wet umbrellas', code: '000000' };
    assert.equal((await post(browser, '/api/session/again', body)).status, 403);
  });
});
