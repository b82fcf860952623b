/** What a page of another site can make a browser send, tried at every route of the operator API. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CALLBACK } from '../../src/subjects/operators/routes/oidc.ts';
import { startTestConsole } from '../support/console.ts';
import { CookieBrowser } from '../support/cookie-browser.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();
const { database } = store;
const desk = await startTestConsole(store);
const admin = await desk.enrolled('ana', 'admin');

/** A browser that is signed in as an admin. */
async function signedIn(): Promise<CookieBrowser> {
  const browser = new CookieBrowser();
  const [name, value] = (await admin.signIn()).cookie!.split('=', 2);
  browser.jar(desk.url()).set(name!, value!);
  return browser;
}
const ROUTES = Object.entries<object>(
  JSON.parse((await new CookieBrowser().send('GET', `${desk.url()}/api/openapi.json`)).text).paths,
).flatMap(([path, operations]) =>
  Object.keys(operations).map((method) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, '1')] as const),
);
/** Paths that no route has are refused too. */
const PLACES = [...ROUTES, ['GET', '/api/openapi.json'], ['POST', '/api/nothing'], ['PUT', '/']] as const;

const SAME_SITE = { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty' };
const FOREIGN: readonly Record<string, string>[] = [
  { 'Sec-Fetch-Site': 'cross-site' },
  // Another origin of the same site: its pages are not the console's.
  { ...SAME_SITE, Origin: 'https://other.localhost' },
  SAME_SITE,
  // Browsers without Sec-Fetch-Site say the origin alone.
  { Origin: 'https://elsewhere.example' },
  { Origin: 'null' },
  { Origin: desk.url().replace('http:', 'https:') },
  { Origin: desk.url().replace('localhost', '127.0.0.1') },
  { Origin: `${desk.url()}1` },
  // A header of the request does not say which site is ours.
  { Origin: 'https://elsewhere.example', Host: 'elsewhere.example' },
  {
    Origin: 'https://elsewhere.example',
    'X-Forwarded-Host': 'elsewhere.example',
    'X-Forwarded-Proto': 'https',
  },
  // A form that is sent from another site, as a navigation.
  {
    ...{ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' },
    Origin: 'https://elsewhere.example',
  },
];

describe('a request of another site', () => {
  it('is refused at every route, and signs nobody out', async () => {
    const browser = await signedIn();
    assert.ok(ROUTES.length >= 10);
    for (const [method, path] of PLACES) {
      for (const headers of FOREIGN) {
        const body = method === 'GET' ? undefined : {};
        const { status, setCookies } = await browser.send(method, `${desk.url()}${path}`, { body, headers });
        assert.equal(status, 403, `${method} ${path} with ${JSON.stringify(headers)}`);
        assert.deepEqual(setCookies, []);
      }
    }
    const own = { 'Sec-Fetch-Site': 'same-origin', Origin: desk.url() };
    assert.equal((await browser.send('GET', `${desk.url()}/api/session`, { headers: own })).status, 200);
  });

  it('that is a link reaches the callback of the identity provider alone', async () => {
    const link = {
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'navigate',
      'Sec-Fetch-Dest': 'document',
    };
    const browser = await signedIn();
    for (const [method, path] of PLACES) {
      const { status } = await browser.send(method, `${desk.url()}${path}`, { headers: link });
      assert.equal(status === 403, path !== CALLBACK, `${method} ${path}: ${status}`);
    }
  });
});

describe('a body', () => {
  it('of a form is refused at every route that takes one, before the session is looked at', async () => {
    const browser = await signedIn();
    for (const [method, path] of ROUTES.filter(([name]) => name !== 'GET')) {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/jsonp',
        'text/json',
      ]) {
        const { status } = await browser.send(method, `${desk.url()}${path}`, {
          ...{ body: { login: 'ana' }, headers: { 'Content-Type': type } },
        });
        assert.equal(status, 415, `${method} ${path} with ${type}`);
      }
    }
  });
});

describe('a request without the headers of browsers', () => {
  it('is a program’s, and needs a session like every other', async () => {
    for (const [method, path] of ROUTES) {
      const { status } = await new CookieBrowser().send(method, `${desk.url()}${path}`, {
        body: method === 'GET' ? undefined : {},
      });
      assert.notEqual(status, 403, `${method} ${path}`);
      assert.notEqual(status, 500, `${method} ${path}`);
    }
    const { rowCount } = await database.query('SELECT FROM operator_pending_sign_ins');
    assert.equal(rowCount, 0);
  });
});
