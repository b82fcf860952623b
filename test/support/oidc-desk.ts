/** A console with an identity provider, and browsers that go between the two. */
import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import type { Role } from '../../src/domain/operator/authority.ts';
import { CALLBACK } from '../../src/subjects/operators/routes/oidc.ts';
import type { Route } from '../../src/wire/operator/route.ts';
import { startTestConsole } from './console.ts';
import { CookieBrowser, LINK } from './cookie-browser.ts';
import type { TestDatabase } from './database.ts';
import { startIdentityProvider } from './identity-provider.ts';

/** Where a browser of the tests is, as the record says it. */
const FROM_HERE = ', from 127.0.0.0/24';

/** `amr:mfa` and `acr:urn:example:gold` count as second factors. Before each test the person gives one. */
export async function startOidcDesk(store: TestDatabase, more: readonly Route[] = []) {
  const { database } = store;
  const provider = await startIdentityProvider([
    { claim: 'amr', value: 'mfa' },
    { claim: 'acr', value: 'urn:example:gold' },
  ]);
  const desk = await startTestConsole(store, more, undefined, provider.config);
  provider.callbacks.push(`${desk.url()}${CALLBACK}`);
  beforeEach(() => {
    provider.meddling.before = null;
    Object.assign(provider.person, { amr: ['pwd', 'mfa'], acr: undefined, declines: false });
  });

  let made = 0;
  /** A person with a subject of their own at the provider. */
  const somebody = () => {
    made += 1;
    provider.person.subject = `subject-${made}`;
    return { login: `ana${made}`, subject: provider.person.subject };
  };
  const post = async (browser: CookieBrowser, path: string, body?: unknown) => {
    const { status, text } = await browser.send('POST', `${desk.url()}${path}`, { body });
    return { status, body: JSON.parse(text) };
  };
  const get = async (browser: CookieBrowser, path: string) => {
    const { status, text } = await browser.send('GET', `${desk.url()}${path}`);
    return { status, body: JSON.parse(text) };
  };
  /** Goes to the provider, signs in there, and stops before the callback. */
  const toCallback = async (browser: CookieBrowser, path = '/api/session/oidc', body?: unknown) => {
    const begun = await post(browser, path, body);
    assert.equal(begun.status, 200, JSON.stringify(begun.body));
    return browser.follow(begun.body.url, `${desk.url()}${CALLBACK}`);
  };
  /** Gives the callback. Returns where the browser goes on, below the console's origin. */
  const comeBack = async (browser: CookieBrowser, address: string) => {
    const { status, location } = await browser.send('GET', address, { headers: LINK });
    assert.equal(status, 303, address);
    assert.ok(location!.startsWith(`${desk.url()}/`), location!);
    return location!.slice(desk.url().length);
  };
  const through = async (browser: CookieBrowser, path?: string, body?: unknown) =>
    comeBack(browser, await toCallback(browser, path, body));
  /** An operator who is bound to the person at the provider, and signed in. */
  const bound = async (role: Role = 'viewer') => {
    const { login, subject } = somebody();
    const { id, token } = await desk.invite(login, role);
    const browser = new CookieBrowser();
    assert.equal(await through(browser, '/api/enrolment/oidc', { token }), '/');
    return { id, login, subject, token, browser };
  };
  /** What the record of acts has of an operator. */
  const actsOf = async (id: number) => {
    const { rows } = await database.query(
      'SELECT act, reason FROM operator_events WHERE actor = $1 ORDER BY id',
      [`operator ${id}`],
    );
    return rows.map(({ act, reason }) => `${act}: ${reason.replace(FROM_HERE, '')}`);
  };
  /** The login of a session; the status where there is none. */
  const whoIs = async (browser: CookieBrowser) => {
    const { status, body } = await get(browser, '/api/session');
    return status === 200 ? body.login : status;
  };
  return { provider, desk, somebody, post, get, toCallback, through, comeBack, bound, actsOf, whoIs };
}
