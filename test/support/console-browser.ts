/** The console's page in a real browser, signed in, and what every state of it has to hold. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { findConsolePage } from '../../src/app/console-page.ts';
import { ProposalQuery, Proposals } from '../../src/desk/routes/proposal-forms.ts';
import { type Route, route } from '../../src/operator-api/route.ts';
import type { Role } from '../../src/operators/rules/role.ts';
import type { OidcConfig } from '../../src/operators/settings.ts';
import { PHONE, testBrowser } from './browser.ts';
import { startTestConsole } from './console.ts';
import { type TestDatabase, testDatabase } from './database.ts';

/** Nothing was proposed: every page of a reviewer asks for what came back. */
export const NO_PROPOSALS = route({
  ...{ method: 'GET', path: '/proposals', access: 'reviewer', summary: 'Proposals.' },
  query: ProposalQuery,
  reply: Proposals,
  run: async () => ({ body: { proposals: [], next: null } }),
});

export const WIDE = { viewport: { width: 1280, height: 900 } };
export const SCREENS = [WIDE, PHONE];

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** For looking at the page: a folder that gets a picture of each state. */
const PICTURES = process.env.CONSOLE_PICTURES;

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
  const desk = await startTestConsole(store, routes, Promise.resolve(built), oidc);
  const visit = testBrowser(desk.url());

  /** Opens `path` with a session of a new operator. */
  const visitAs = async (
    { login, role, screen = WIDE, path = '', expected = /^$/ }: Visit,
    act: (page: Page) => Promise<void>,
  ): Promise<void> => {
    const { cookie } = await (await desk.enrolled(login, role)).signIn();
    const [name, value] = cookie!.split('=', 2);
    await visit(
      { ...screen, locale: 'en-US' },
      async (page) => {
        await page.context().addCookies([{ name: name!, value: value!, url: desk.url() }]);
        await page.goto(desk.url() + path);
        await act(page);
      },
      // The first page comes before the cookie.
      { expected: new RegExp(`401|${expected.source}`) },
    );
  };
  return { store, desk, visit, visitAs };
}

interface Visit {
  readonly login: string;
  readonly role: Role;
  readonly screen?: typeof WIDE;
  readonly path?: string;
  /** Complaints of the browser that belong to what the test does. */
  readonly expected?: RegExp;
}

/** Holds in both themes that axe has no findings and that nothing scrolls sideways. */
export async function check(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await faultsOf(page), [], `${name}, ${colorScheme}`);
    const width = page.viewportSize()?.width;
    const path = PICTURES && join(PICTURES, `${name}-${width}-${colorScheme}.png`);
    if (path) await page.screenshot({ path, fullPage: true });
  }
}

/** What axe finds wrong, and whether the page is wider than its window. */
async function faultsOf(page: Page): Promise<string[]> {
  // By the protocol and not as a script element, which the page's policy refuses.
  await page.evaluate(AXE);
  const rules = await page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))",
  );
  const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
  return [...(rules as string[]), ...(isWide ? ['the page is wider than its window'] : [])];
}
