/** An identity provider that fails or lies (D48). */
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign as signBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeEach, describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { CALLBACK } from '../../src/subjects/operators/routes/oidc.ts';
import { startTestConsole } from '../support/console.ts';
import { CookieBrowser } from '../support/cookie-browser.ts';
import { testDatabase } from '../support/database.ts';
import { startOidcDesk } from '../support/oidc-desk.ts';

const store = await testDatabase();
/** The limits of requests to the provider, which end when a test says so. */
const limits: number[] = [];
let limit = new AbortController();
function passLimit(): void {
  limit.abort(new DOMException('too late', 'TimeoutError'));
  limit = new AbortController();
}
const timeout = (ms: number) => {
  limits.push(ms);
  return limit.signal;
};
const patientStore = { ...store, clock: { ...machineClock, timeout } };
const { provider, desk, post, comeBack, bound, whoIs } = await startOidcDesk(patientStore);
beforeEach(() => store.database.query('DELETE FROM operator_tries'));

const AWAY = { error: 'the identity provider does not answer: try again, or tell an admin' };
const CALLBACK_URL = `${desk.url()}${CALLBACK}`;

/** A console that has not asked the provider yet. */
const another = (issuer = provider.issuer) =>
  startTestConsole(patientStore, [], undefined, { ...provider.config, issuer: new URL(issuer) });
const begin = async (url: string) => {
  const response = await fetch(`${url}/api/session/oidc`, { method: 'POST' });
  return { status: response.status, body: await response.json() };
};
const answerJson = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  return true;
};

describe('a provider that is away', () => {
  it('is told at the start of a sign-in, after 2.5 s at most: closed, silent, failing, or no provider', async () => {
    const closed = await begin((await another('http://localhost:1')).url());
    assert.deepEqual([closed.status, closed.body], [502, AWAY]);
    const faults: ((request: IncomingMessage, response: ServerResponse) => boolean)[] = [
      () => {
        passLimit();
        return true;
      },
      (_request, response) => answerJson(response, 503, {}),
      (_request, response) => answerJson(response, 200, { issuer: 'https://elsewhere.example' }),
      (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>hello</p>');
        return true;
      },
      (_request, response) => {
        response.writeHead(302, { Location: 'http://localhost:1/' }).end();
        return true;
      },
    ];
    for (const before of faults) {
      provider.meddling.before = before;
      const fresh = await another();
      const { status, body } = await begin(fresh.url());
      assert.deepEqual([status, body], [502, AWAY]);
      assert.equal(fresh.failures.length, 1);
    }
    assert.deepEqual([...new Set(limits)], [2_500]);
  });

  it('is asked again at the next sign-in', async () => {
    provider.meddling.before = (_request, response) => answerJson(response, 503, {});
    const fresh = await another();
    assert.equal((await begin(fresh.url())).status, 502);
    provider.meddling.before = null;
    assert.equal((await begin(fresh.url())).status, 200);
  });

  it('while the code is redeemed leaves no session, and says so after 2.5 s at most', async () => {
    await bound();
    for (const before of [
      ({ url }: IncomingMessage) => {
        if (url !== '/token') return false;
        passLimit();
        return true;
      },
      ({ url }: IncomingMessage, response: ServerResponse) =>
        url === '/token' && answerJson(response, 500, {}),
      ({ url }: IncomingMessage, response: ServerResponse) => {
        if (url !== '/token') return false;
        response.destroy();
        return true;
      },
    ]) {
      const browser = new CookieBrowser();
      const { body } = await post(browser, '/api/session/oidc');
      const callback = await browser.follow(body.url, CALLBACK_URL);
      provider.meddling.before = before;
      assert.equal(await comeBack(browser, callback), '/?oidc=away');
      assert.equal(await whoIs(browser), 401);
      provider.meddling.before = null;
    }
  });
});

describe('a token that does not hold', () => {
  /** The callback with a token of these claims. */
  async function withToken(change: Record<string, unknown>, token?: (good: string) => string) {
    const browser = new CookieBrowser();
    const { body } = await post(browser, '/api/session/oidc');
    const callback = await browser.follow(body.url, CALLBACK_URL);
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      ...{ iss: provider.issuer, sub: provider.person.subject, aud: provider.config.clientId },
      ...{ iat: now, exp: now + 60, auth_time: now, amr: ['mfa'] },
      nonce: new URL(body.url).searchParams.get('nonce'),
      ...change,
    };
    const good = provider.sign(claims);
    provider.meddling.before = ({ url }, response) =>
      url === '/token' &&
      answerJson(response, 200, {
        ...{ access_token: 'x', token_type: 'Bearer', expires_in: 60 },
        id_token: token?.(good) ?? good,
      });
    const end = await comeBack(browser, callback);
    provider.meddling.before = null;
    return { end, who: await whoIs(browser) };
  }

  it('leads to no session: issuer, audience, nonce, times, subject, and no claims', async () => {
    const { login } = await bound();
    const now = Math.floor(Date.now() / 1000);
    assert.deepEqual(await withToken({}), { end: '/', who: login });
    for (const change of [
      { iss: 'https://elsewhere.example' },
      { aud: 'another client' },
      { aud: ['ventanilla', 'another client'], azp: 'another client' },
      { nonce: 'another nonce' },
      { nonce: undefined },
      { exp: now - 3_600 },
      { exp: undefined },
      { iat: undefined },
      { nbf: now + 3_600 },
      { sub: undefined },
      ...['', 'x'.repeat(256), 'a\0b', '\u0007', 'a\u009fb', '\ud800', 7, null, {}, ['a']].map((sub) => ({
        sub,
      })),
      ...['yesterday', -1, 0, null, {}, undefined, now - 50_000, now + 50_000, 1e300].map((auth_time) => ({
        auth_time,
      })),
      { iss: 7 },
      { aud: 7 },
      { nonce: 7 },
    ]) {
      assert.deepEqual(await withToken(change), { end: '/?oidc=invalid', who: 401 }, JSON.stringify(change));
    }
    // Half a minute beyond what clocks may differ by, counted at the very sign-in.
    for (const seconds of [-43_200 - 90, 90]) {
      const auth_time = Math.floor(Date.now() / 1000) + seconds;
      assert.deepEqual(await withToken({ auth_time }), { end: '/?oidc=invalid', who: 401 }, `${seconds}`);
    }
  });

  it('leads to a session up to the age that was asked for, with clocks that differ by a minute', async () => {
    const { login } = await bound();
    for (const seconds of [-43_200 - 30, -43_200, -0.5, 30]) {
      const auth_time = Math.floor(Date.now() / 1000) + seconds;
      assert.deepEqual(await withToken({ auth_time }), { end: '/', who: login }, `${seconds}`);
    }
  });

  it('other claims may be anything, and count as none', async () => {
    const { login } = await bound();
    for (const odd of ['a\0b', '\ud800', 'x'.repeat(100_000), 7, {}, [null, 7, {}], null]) {
      const end = (claims: Record<string, unknown>) => withToken(claims);
      assert.deepEqual(await end({ acr: odd, name: odd, email: odd }), { end: '/', who: login });
      assert.deepEqual(await end({ amr: odd }), { end: '/?oidc=no_second_factor', who: 401 });
    }
  });

  it('nor does one without a signature, with another key’s, or with the client’s secret as its key', async () => {
    await bound();
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const forgeries = [
      (good: string) => `${encoded({ alg: 'none' })}.${good.split('.')[1]}.`,
      (good: string) => {
        const signed = `${encoded({ alg: 'RS256', kid: 'one' })}.${good.split('.')[1]}`;
        return `${signed}.${signBytes('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
      },
      (good: string) => `${encoded({ alg: 'HS256' })}.${good.split('.')[1]}.${'A'.repeat(43)}`,
      () => 'no token',
    ];
    for (const forge of forgeries) {
      assert.deepEqual(await withToken({}, forge), { end: '/?oidc=invalid', who: 401 });
    }
  });

  it('logs a fault and a code, and nothing of the answer', async () => {
    await bound();
    await withToken({ iss: 'https://elsewhere.example' });
    assert.deepEqual(desk.failures.at(-1), { fault: 'invalid', code: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' });
  });
});

it('the database’s clock judges the token’s times', async () => {
  const { IdentityProvider } = await import('../../src/subjects/operators/uses/identity-provider.ts');
  const own = new IdentityProvider(provider.config, machineClock);
  const secret = 'x'.repeat(43);
  const binding = { secret, callback: CALLBACK_URL };
  const redeem = async (aheadMs: number) => {
    const url = await own.addressFor(binding, 3_600);
    const answer = new URL(await new CookieBrowser().follow(url, CALLBACK_URL)).searchParams;
    return own.redeem(binding, answer, Date.now() + aheadMs);
  };
  assert.ok((await redeem(0)).signedInAt !== null);
  await assert.rejects(redeem(3_600_000), { fault: 'invalid' });
});

it('a provider is asked for its metadata once in five minutes, and by many sign-ins at once only once', async () => {
  const fresh = await another();
  const before = provider.asked();
  await Promise.all(Array.from({ length: 8 }, () => begin(fresh.url())));
  assert.equal(provider.asked() - before, 1);
});
