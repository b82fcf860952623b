/** The console's page in a real browser, signed in. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { findConsolePage } from '../../src/app/built-page.ts';
import type { Role } from '../../src/domain/operator/authority.ts';
import { Inbox, InboxQuery } from '../../src/subjects/desk/routes/inbox-forms.ts';
import { ProposalQuery, Proposals } from '../../src/subjects/desk/routes/proposal-forms.ts';
import { Queue, QueuePartners } from '../../src/subjects/desk/routes/queue-forms.ts';
import type { OidcConfig } from '../../src/subjects/operators/settings.ts';
import { type Route, route } from '../../src/wire/operator/route.ts';
import { PHONE, stateOf, testBrowser } from './browser.ts';
import { startTestConsole } from './console.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { eventually } from './eventually.ts';

/** Nothing was proposed: every page of a reviewer asks for what came back. */
export const NO_PROPOSALS = route({
  ...{ method: 'GET', path: '/proposals', access: 'reviewer', summary: 'Proposals.' },
  query: ProposalQuery,
  reply: Proposals,
  run: async () => ({ body: { proposals: [], next: null, to_confirm: 0, activations_to_confirm: 0 } }),
});

/** Nobody waits: every page of a reviewer asks how many do. */
export const NO_INBOX = route({
  ...{ method: 'GET', path: '/inbox', access: 'viewer', summary: 'The inbox.' },
  query: InboxQuery,
  reply: Inbox,
  run: async () => ({ body: { conversations: [], next: null, waiting: 0 } }),
});

/** The page after the sign-in, with nothing in it. */
export const EMPTY_QUEUE: readonly Route[] = [
  route({
    ...{ method: 'GET', path: '/review-queue', access: 'viewer', summary: 'The queue.' },
    ...{ reply: Queue, run: async () => ({ body: { items: [], next: null, count: 0 } }) },
  }),
  route({
    ...{ method: 'GET', path: '/review-queue/partners', access: 'viewer', summary: 'Partners.' },
    ...{ reply: QueuePartners, run: async () => ({ body: { partners: [] } }) },
  }),
];

/** Also those whose lease is over: a test may wait longer than a lease lasts. */
const CLAIMS = 'SELECT FROM review_items WHERE claimed_by IS NOT NULL';

export const WIDE = { viewport: { width: 1280, height: 900 } };
export const SCREENS = [WIDE, PHONE];

/**
 * Starts a console with its built page and `routes`; `oidc` is the identity provider, `given` the store where the test
 * has one. Call it in a `describe`.
 */
export async function consoleInBrowser(
  routes: readonly Route[] = [],
  oidc: OidcConfig | null = null,
  given?: TestDatabase,
) {
  const store = given ?? (await testDatabase());
  const { page: built, failure } = await findConsolePage({ setting: () => 0 as never, databaseUrl: null });
  assert.equal(failure, null);
  const hasInbox = routes.some(({ path }) => path === NO_INBOX.path);
  const all = hasInbox ? routes : [...routes, NO_INBOX];
  const desk = await startTestConsole(store, all, Promise.resolve(built), oidc);
  const visit = testBrowser(desk.url());

  /** Opens `path` with a session of a new operator. */
  const visitAs = async (
    { login, role, screen = WIDE, locale = 'en-US', path = '', expected = /^$/ }: Visit,
    act: (page: Page) => Promise<void>,
  ): Promise<void> => {
    const { cookie } = await (await desk.enrolled(login, role)).signIn();
    await visit({ ...screen, locale, storageState: stateOf(cookie!) }, act, { path, expected });
    // What a page gives back while it closes arrives after it: until then the next operator finds it held.
    await eventually(
      'the claims are given back',
      async () => (await store.database.query(CLAIMS)).rowCount === 0,
    );
  };
  return { store, desk, visit, visitAs };
}

interface Visit {
  readonly login: string;
  readonly role: Role;
  readonly screen?: typeof WIDE;
  readonly locale?: string;
  readonly path?: string;
  /** Complaints of the browser that belong to what the test does. */
  readonly expected?: RegExp;
}
