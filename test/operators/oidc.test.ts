/** Sign-in by OpenID Connect (D48), against a real provider. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type TOTP, URI } from 'otpauth';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { CALLBACK } from '../../src/subjects/operators/routes/oidc.ts';
import { OPERATOR_PENDING_SIGN_INS } from '../../src/subjects/operators/sql/tables.ts';
import { knownAccounts } from '../../src/subjects/operators/uses/device-cookie.ts';
import { commandLine } from '../cli/harness.ts';
import { tokenOf } from '../support/console.ts';
import { CookieBrowser, LINK } from '../support/cookie-browser.ts';
import { testDatabase } from '../support/database.ts';
import { startOidcDesk } from '../support/oidc-desk.ts';
import { remac } from '../support/remac.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const { provider, desk, somebody, post, get, toCallback, through, comeBack, bound, actsOf, whoIs } =
  await startOidcDesk(store);
beforeEach(() => database.query('DELETE FROM operator_tries'));

describe('an enrolment at the identity provider', () => {
  it('binds the account to issuer and subject, and signs in where the provider asked for a second factor', async () => {
    const { id, login, subject, browser } = await bound('admin');
    const { body } = await get(browser, '/api/session');
    assert.deepEqual(
      [body.login, body.role, body.signs_in_with, body.has_app, body.oidc],
      [login, 'admin', 'oidc', false, true],
    );
    assert.ok(body.proved_seconds_ago < 300);
    const { rows } = await database.query('SELECT issuer, subject FROM operators WHERE id = $1', [id]);
    assert.deepEqual(rows, [{ issuer: provider.issuer, subject }]);
    assert.deepEqual(await actsOf(id), ['enrol: identity provider', 'sign in: identity provider']);
    const device = browser.jar(desk.url()).get('ventanilla-device') ?? null;
    assert.deepEqual(
      (await knownAccounts(store, device)).map((known) => known.login),
      [login],
    );
  });

  it('uses the link up', async () => {
    const { token } = await bound();
    const again = await post(new CookieBrowser(), '/api/enrolment/oidc', { token });
    assert.equal(again.status, 404);
  });

  it('asks for an authenticator app where the provider asked for no second factor', async () => {
    const { login } = somebody();
    provider.person.amr = ['pwd'];
    const { id, token } = await desk.invite(login, 'viewer');
    const browser = new CookieBrowser();
    const end = await through(browser, '/api/enrolment/oidc', { token });
    const next = /^\/#bound=([\w-]{43})$/.exec(end)?.[1];
    assert.ok(next, end);
    assert.equal(await whoIs(browser), 401);
    // The token of the link is another one now.
    assert.equal((await post(browser, '/api/enrolment/app', { token })).status, 404);
    const { body } = await post(browser, '/api/enrolment/app', { token: next });
    const app = URI.parse(body.totp) as TOTP;
    const ended = await post(browser, '/api/enrolment/totp', { token: next, code: app.generate() });
    assert.equal(ended.body.recovery_codes.length, 10);
    assert.deepEqual(await actsOf(id), [
      'enrol: identity provider',
      'enrol: identity provider and one-time code',
    ]);
    // The session of the next sign-in may only give the code.
    assert.equal(await through(browser), '/');
    assert.equal(await whoIs(browser), 401);
    const { needs_code, login: whose } = (await get(browser, '/api/session/oidc')).body;
    assert.deepEqual([needs_code, whose], [true, login]);
    const code = app.generate({ timestamp: Date.now() + 30_000 });
    assert.equal((await post(browser, '/api/session/totp', { code })).status, 200);
    assert.equal(await whoIs(browser), login);
    // A provider that asks for the second factor makes the session whole.
    provider.person.amr = ['mfa'];
    const other = new CookieBrowser();
    assert.equal(await through(other), '/');
    assert.equal(await whoIs(other), login);
  });

  it('refuses an identity of another account, and the link still works', async () => {
    const { subject } = await bound();
    const { login } = somebody();
    const { token } = await desk.invite(login, 'viewer');
    provider.person.subject = subject;
    const browser = new CookieBrowser();
    assert.equal(await through(browser, '/api/enrolment/oidc', { token }), '/?oidc=taken');
    assert.equal(await whoIs(browser), 401);
    somebody();
    assert.equal(await through(new CookieBrowser(), '/api/enrolment/oidc', { token }), '/');
  });

  it('gives no account two first factors: a password takes the place of an identity', async () => {
    const { login, subject } = somebody();
    provider.person.amr = ['pwd'];
    const { id, token } = await desk.invite(login, 'viewer');
    const end = await through(new CookieBrowser(), '/api/enrolment/oidc', { token });
    const next = end.slice('/#bound='.length);
    const begun = await post(new CookieBrowser(), '/api/enrolment', {
      ...{ token: next, password: 'seven wet umbrellas' },
    });
    assert.equal(begun.status, 200);
    const bindings = () =>
      database.query('SELECT FROM operators WHERE id = $1 AND subject IS NOT NULL', [id]);
    assert.equal((await bindings()).rowCount, 0);
    // And the other way round.
    provider.person.subject = subject;
    await through(new CookieBrowser(), '/api/enrolment/oidc', { token: next });
    const { rows } = await database.query('SELECT password, totp FROM operators WHERE id = $1', [id]);
    assert.deepEqual([rows, (await bindings()).rowCount], [[{ password: null, totp: null }], 1]);
  });

  it('of a link that ended meanwhile binds nothing', async () => {
    const { login } = somebody();
    const { id, token } = await desk.invite(login, 'viewer');
    const browser = new CookieBrowser();
    const callback = await toCallback(browser, '/api/enrolment/oidc', { token });
    await database.query('UPDATE operators SET enrolment = NULL WHERE id = $1', [id]);
    await remac(store);
    assert.equal(await comeBack(browser, callback), '/?oidc=no_link');
    assert.equal(await through(new CookieBrowser()), '/?oidc=unknown');
  });
});

describe('a sign-in at the identity provider', () => {
  it('leads to the account of issuer and subject, in a new session each time', async () => {
    const { login, browser } = await bound();
    const other = new CookieBrowser();
    assert.equal(await through(other), '/');
    assert.equal(await whoIs(other), login);
    const before = browser.jar(desk.url()).get('ventanilla');
    assert.equal(await through(browser), '/');
    assert.equal(await whoIs(browser), login);
    const stale = new CookieBrowser();
    stale.jar(desk.url()).set('ventanilla', before!);
    assert.equal(await whoIs(stale), 401);
  });

  it('takes the class of the sign-in for a second factor too, and asks for it', async () => {
    const { login } = await bound();
    Object.assign(provider.person, { amr: ['pwd'], acr: 'urn:example:gold' });
    const browser = new CookieBrowser();
    const { body } = await post(browser, '/api/session/oidc');
    assert.equal(new URL(body.url).searchParams.get('acr_values'), 'urn:example:gold');
    assert.equal(await through(browser), '/');
    assert.equal(await whoIs(browser), login);
  });

  it('without a second factor of the provider and without an app is refused', async () => {
    const { id } = await bound();
    provider.person.amr = ['pwd'];
    const browser = new CookieBrowser();
    assert.equal(await through(browser), '/?oidc=no_second_factor');
    assert.equal(await whoIs(browser), 401);
    assert.equal((await actsOf(id)).at(-1), 'sign in refused: no second factor');
  });

  it('of another subject, of another issuer’s subject, and of a disabled operator is refused', async () => {
    const { id, subject, login } = await bound();
    provider.person.subject = 'nobody';
    assert.equal(await through(new CookieBrowser()), '/?oidc=unknown');
    // A name that is the login of an account binds nothing.
    provider.person.subject = login;
    assert.equal(await through(new CookieBrowser()), '/?oidc=unknown');
    provider.person.subject = subject;
    const moveTo = async (issuer: string) => {
      await database.query('UPDATE operators SET issuer = $2 WHERE id = $1', [id, issuer]);
      await remac(store);
    };
    await moveTo('https://elsewhere.example');
    assert.equal(await through(new CookieBrowser()), '/?oidc=unknown');
    await moveTo(provider.issuer);
    assert.equal(await through(new CookieBrowser()), '/');
    await database.query('UPDATE operators SET disabled_at = now() WHERE id = $1', [id]);
    await remac(store);
    assert.equal(await through(new CookieBrowser()), '/?oidc=unknown');
  });

  it('counts once: the same callback again, also at the same moment, is over', async () => {
    const { login } = await bound();
    const browser = new CookieBrowser();
    const callback = await toCallback(browser);
    const pending = browser.jar(desk.url()).get('ventanilla-oidc')!;
    const ends = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const one = new CookieBrowser();
        one.jar(desk.url()).set('ventanilla-oidc', pending);
        return comeBack(one, callback);
      }),
    );
    assert.deepEqual(ends.toSorted(), ['/', '/?oidc=over', '/?oidc=over', '/?oidc=over']);
    browser.jar(desk.url()).set('ventanilla-oidc', pending);
    assert.equal(await comeBack(browser, callback), '/?oidc=over');
    assert.equal(await whoIs(browser), 401);
    assert.ok(login);
  });

  it('belongs to its browser: a wrong state, no cookie, or another cookie is over, and ends nothing', async () => {
    const { login } = await bound();
    const browser = new CookieBrowser();
    const callback = await toCallback(browser);
    const elsewhere = new CookieBrowser();
    assert.equal(await comeBack(elsewhere, callback), '/?oidc=over');
    await toCallback(elsewhere);
    assert.equal(await comeBack(elsewhere, callback), '/?oidc=over');
    assert.equal(await whoIs(elsewhere), 401);
    for (const state of ['wrong', '']) {
      const wrong = new URL(callback);
      wrong.searchParams.set('state', state);
      assert.equal(await comeBack(browser, wrong.href), '/?oidc=over');
    }
    assert.equal(await comeBack(browser, `${callback}&state=wrong`), '/?oidc=over');
    assert.equal(await comeBack(browser, callback), '/');
    assert.equal(await whoIs(browser), login);
  });

  it('ends after ten minutes, and where the clock was ahead, and is forgotten then', async () => {
    await bound();
    for (const at of ["now() - interval '11 minutes'", "now() + interval '1 hour'"]) {
      const browser = new CookieBrowser();
      const callback = await toCallback(browser);
      await database.query(`UPDATE operator_pending_sign_ins SET started_at = ${at}`);
      await remac(store);
      assert.equal(await comeBack(browser, callback), '/?oidc=over');
      assert.ok((await forgetRows(store.runtime, OPERATOR_PENDING_SIGN_INS)) >= 1);
    }
  });

  it('tells that the person declined', async () => {
    await bound();
    provider.person.declines = true;
    const browser = new CookieBrowser();
    assert.equal(await through(browser), '/?oidc=declined');
    assert.deepEqual(desk.failures.at(-1), { fault: 'declined', code: 'access_denied' });
    assert.equal(await whoIs(browser), 401);
  });

  it('refuses a code that the provider gave for another sign-in', async () => {
    await bound();
    const [one, other] = [new CookieBrowser(), new CookieBrowser()];
    const mine = new URL(await toCallback(one));
    const theirs = new URL(await toCallback(other));
    mine.searchParams.set('code', theirs.searchParams.get('code')!);
    assert.equal(await comeBack(one, mine.href), '/?oidc=invalid');
    assert.equal(await whoIs(one), 401);
  });

  it('refuses an answer that names another issuer', async () => {
    await bound();
    const browser = new CookieBrowser();
    const callback = new URL(await toCallback(browser));
    callback.searchParams.set('iss', 'https://elsewhere.example');
    assert.equal(await comeBack(browser, callback.href), '/?oidc=invalid');
    assert.equal(await whoIs(browser), 401);
  });

  it('throttles starts by address, but for those that led to a sign-in', async () => {
    const { subject } = await bound();
    provider.person.subject = subject;
    await database.query('DELETE FROM operator_tries');
    assert.equal(await through(new CookieBrowser()), '/');
    const { rows } = await database.query('SELECT max(tries) AS most FROM operator_tries');
    assert.deepEqual(rows, [{ most: 0 }]);
    await post(new CookieBrowser(), '/api/session/oidc');
    await database.query('UPDATE operator_tries SET tries = 50');
    const late = await post(new CookieBrowser(), '/api/session/oidc');
    assert.equal(late.status, 429);
  });

  it('begins also where strangers of the same address used up its starts: in a known browser, by a link, and again', async () => {
    const { browser } = await bound();
    assert.equal(await through(browser), '/');
    const start = async (from: CookieBrowser, path: string, body?: unknown) =>
      (await post(from, `/api/${path}`, body)).status;
    const stranger = new CookieBrowser();
    await database.query('DELETE FROM operator_tries');
    assert.equal(await start(stranger, 'session/oidc'), 200);
    await database.query('UPDATE operator_tries SET tries = 50');
    assert.equal(await start(stranger, 'session/oidc'), 429);
    assert.equal(await start(browser, 'session/again/oidc', {}), 200);
    browser.jar(desk.url()).delete('ventanilla');
    assert.equal(await start(browser, 'session/oidc'), 200);
    const { token } = await desk.invite(somebody().login, 'viewer');
    assert.equal(await start(stranger, 'enrolment/oidc', { token }), 200);
    // Each of the three has a bound of its own.
    await database.query('UPDATE operator_tries SET tries = 50');
    assert.equal(await start(browser, 'session/oidc'), 429);
    assert.equal(await start(stranger, 'enrolment/oidc', { token }), 429);
  });

  it('takes its addresses from CONSOLE_URL, whatever Host the request names', async () => {
    const browser = new CookieBrowser();
    const { text } = await browser.send('POST', `${desk.url()}/api/session/oidc`, {
      headers: {
        Host: 'elsewhere.example',
        'X-Forwarded-Host': 'elsewhere.example',
        Forwarded: 'host=elsewhere.example',
      },
    });
    const redirect = new URL(JSON.parse(text).url).searchParams.get('redirect_uri');
    assert.equal(redirect, `${desk.url()}${CALLBACK}`);
    const { location } = await browser.send('GET', `${desk.url()}${CALLBACK}?state=x`, {
      headers: { Host: 'elsewhere.example', ...LINK },
    });
    assert.equal(location, `${desk.url()}/?oidc=over`);
  });
});

describe('the commands of an account with an identity', () => {
  it('list what it signs in with; reset-factors and disable end its sessions and unbind it', async () => {
    for (const command of ['reset-factors', 'disable']) {
      const { id, login, subject, browser } = await bound();
      const own = (await json('operator', 'list')).find((one: { id: number }) => one.id === id);
      assert.equal(own.signs_in_with, 'oidc');
      const { link } = await json('operator', command, login);
      assert.equal(await whoIs(browser), 401);
      assert.equal(await through(new CookieBrowser()), '/?oidc=unknown');
      const after = (await json('operator', 'list')).find((one: { id: number }) => one.id === id);
      assert.equal(after.signs_in_with, null);
      // The person may have an account again: by the new link, or another account.
      const token = link ? tokenOf(link) : (await desk.invite(`${login}.again`, 'viewer')).token;
      provider.person.subject = subject;
      const again = new CookieBrowser();
      assert.equal(await through(again, '/api/enrolment/oidc', { token }), '/');
      assert.equal(await whoIs(again), link ? login : `${login}.again`);
    }
  });
});

describe('the callback', () => {
  it('alone may be reached from another site, and by a navigation alone', async () => {
    const { body: document } = await get(new CookieBrowser(), '/api/openapi.json');
    for (const path of Object.keys(document.paths)) {
      const address = `${desk.url()}${path.replaceAll(/\{\w+\}/g, '1')}`;
      const { status } = await new CookieBrowser().send('GET', address, { headers: LINK });
      assert.equal(status === 303, path === CALLBACK, `${path}: ${status}`);
    }
    for (const headers of [
      { ...LINK, 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty' },
      { ...LINK, 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' },
      { ...LINK, 'Sec-Fetch-Dest': 'iframe' },
      { ...LINK, Origin: provider.issuer },
    ]) {
      const { status } = await new CookieBrowser().send('GET', `${desk.url()}${CALLBACK}?state=x`, {
        headers,
      });
      assert.equal(status, 403, JSON.stringify(headers));
    }
  });

  it('sets cookies that no script reads, and takes the one of the sign-in under way away', async () => {
    await bound();
    const browser = new CookieBrowser();
    const { setCookies } = await browser.send('POST', `${desk.url()}/api/session/oidc`);
    assert.equal(setCookies.length, 1);
    assert.match(setCookies[0]!, /^ventanilla-oidc=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
    const ended = await browser.send('GET', await toCallback(browser), { headers: LINK });
    assert.deepEqual(ended.setCookies.map((line) => line.split('=', 1)[0]).toSorted(), [
      'ventanilla',
      'ventanilla-device',
      'ventanilla-oidc',
    ]);
    assert.equal(browser.jar(desk.url()).has('ventanilla-oidc'), false);
    for (const line of ended.setCookies) assert.match(line, /; Path=\/; HttpOnly; SameSite=Lax/);
  });
});
