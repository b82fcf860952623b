/** Browsers of operators at the review desk, with a real store and the built page behind them. */
import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { findConsolePage } from '../../src/app/built-page.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { deskRoutes } from '../../src/subjects/desk/routes/desk-routes.ts';
import { applyNext } from '../../src/subjects/desk/uses/apply-proposals.ts';
import type { Route } from '../../src/wire/operator/route.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from './applicant.ts';
import { DESKTOP, stateOf, testBrowser } from './browser.ts';
import { type Enrolled, startTestConsole } from './console.ts';
import { testDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { registrarOf } from './intake.ts';
import { makeProposalsDue } from './proposals.ts';
import { untilDone } from './until-done.ts';
import { waitingSessions } from './waiting-sessions.ts';

/** Markup in the one text of a row that a stranger writes. */
export const HOSTILE = '<script>alert(1)</script><img src=x onerror="document.title=1">';
/** Found nowhere but in the sealed data of the applicants. */
export const PERSON = { name: 'Wilhelmina Quux', id_number: '77001122334', city: 'Xanadu' };

/** Long: a busy machine may take its time before a test undoes. */
const UNDO_SECONDS = 120;

/** Call this in a `describe`. `around` puts something of the test around a route. */
export async function deskBrowser(around: (route: Route) => Route = (route) => route) {
  const store = await testDatabase();
  const { database, runtime, vault } = store;
  const { json } = commandLine(store);
  const partner = await json('partner', 'add', '--name', HOSTILE, '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner.id}`);
  const register = await registrarOf(store);
  const { page: built, failure } = await findConsolePage({ setting: () => 0 as never, databaseUrl: null });
  assert.equal(failure, null);
  const noStore = () => Promise.reject(new Error('these tests open no document'));
  const context = {
    database: runtime,
    vault,
    clock: machineClock,
    undoSeconds: UNDO_SECONDS,
    lookShare: 0,
    dueHours: 24,
    terms: async () => null,
  };
  const routes = deskRoutes(context, noStore).map(around);
  const console = await startTestConsole(store, routes, Promise.resolve(built));
  const visit = testBrowser(console.url());

  let phones = 0;
  /** Empties the queue, and registers as many applications that wait in it. */
  const inReview = async (count: number): Promise<number[]> => {
    await database.query('DELETE FROM review_items; DELETE FROM review_queue');
    const people = Array.from({ length: count }, (_, n) => {
      const debt_amount = 4_000_000 + 400_000 * n;
      const phone = toPhone(`+57300${7_000_000 + ++phones}`);
      // Just above the reference installment (D29).
      return applicant({ ...PERSON, ...IN_REVIEW, income: debt_amount * 0.04, debt_amount, phone });
    });
    const ids = await register(key, people);
    await runtime.query('SELECT expand_reviews(0, 100, 24)');
    return ids;
  };

  /** What a browser keeps of a new session. */
  const signedIn = async (operator: Enrolled) => stateOf((await operator.signIn()).cookie!);

  /** Opens a browser of a signed-in operator. `expected` are errors in its console that belong to the test. */
  const browse = async (
    operator: Enrolled,
    act: (page: Page) => Promise<void>,
    { path = '/queue', screen = DESKTOP, locale = 'en-US', expected }: Browse = {},
  ): Promise<void> => {
    const options = { ...screen, locale, storageState: await signedIn(operator) };
    await visit(options, act, { path, ...(expected && { expected }) });
  };

  /** Applies what is decided, as if the time to undo were over. */
  const applyAll = async () => {
    await makeProposalsDue(store);
    const fail = (_id: unknown, error: unknown) => assert.fail(String(error));
    await untilDone(async () => (await applyNext(context, fail)) === null);
  };

  /** Lets no decision on an application end until the returned function is called. */
  const holdDecisions = async (id: number) => {
    const session = await database.connect();
    await session.query('BEGIN');
    await session.query('SELECT FROM review_items WHERE application_id = $1 FOR UPDATE', [id]);
    return async () => {
      await session.query('COMMIT');
      session.release();
    };
  };
  /** Waits until so many requests wait for that. The renewal of the page's claim, which waits too, is none of them. */
  const heldRequests = (count: number) =>
    eventually(`${count} requests wait`, async () => {
      const waiting = await waitingSessions(database);
      return waiting.filter(({ query }) => !query.includes('take_claim_for')).length >= count;
    });

  /** Rows of the store, as the tests ask for them. */
  const rows = async (text: string, values: unknown[] = []) => (await database.query(text, values)).rows;
  return {
    store,
    console,
    visit,
    browse,
    signedIn,
    inReview,
    applyAll,
    holdDecisions,
    heldRequests,
    rows,
    json,
  };
}

interface Browse {
  readonly path?: string;
  readonly screen?: BrowserContextOptions;
  readonly locale?: string;
  readonly expected?: RegExp;
}

/** The number of the application on the page. */
export async function shownNumber(page: Page): Promise<number> {
  const heading = page.getByRole('heading', { level: 1, name: /^Application \d+$/ });
  return Number((await heading.textContent())!.replace(/\D/g, ''));
}

/** Waits until a decision is proposed: the seconds of its undo count. */
export async function isProposed(page: Page, id: number): Promise<void> {
  const acts = page.getByRole('status', { name: 'Open decisions' });
  await acts
    .locator('div')
    .filter({ hasText: `${id}:` })
    .getByRole('timer')
    .waitFor();
}
