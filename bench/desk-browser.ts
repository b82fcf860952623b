/**
 * `npm run bench:desk-browser`: browsers of operators decide applications by keyboard, one every 1.5 seconds each, at a
 * real service. It measures how long the next application takes to be shown after the key that decides. The exit code
 * is 1 where a browser had to wait, a decision failed, or an application was decided twice. `--applications N` of each
 * browser, `--browsers N`, `--pace S`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { machineClock } from '../src/ground/base/clock.ts';
import { openDatabase } from '../src/ground/postgres/open-database.ts';
import { secretsOfDataDir } from '../src/seal/secrets-file.ts';
import { Vault } from '../src/seal/vault.ts';
import { enrol, lockAccount, setFactors } from '../src/subjects/operators/sql/factors.ts';
import { startSession } from '../src/subjects/operators/sql/sessions.ts';
import { addOperator } from '../src/subjects/operators/uses/manage.ts';
import { hashPassword } from '../src/subjects/operators/uses/password-hash.ts';
import { newSession } from '../src/subjects/operators/uses/tokens.ts';
import { IN_REVIEW } from '../test/support/applicant.ts';
import { executablePath } from '../test/support/browser.ts';
import { freePort } from '../test/support/free-port.ts';
import { anApplication } from '../test/support/service.ts';
import { judge, number } from './bars.ts';
import { numberOption, readOptions } from './options.ts';
import { startServiceProcess } from './service-process.ts';

const options = readOptions({
  applications: { default: '500', about: 'applications that each browser decides' },
  browsers: { default: '5', about: 'browsers at once' },
  pace: { default: '1.5', about: 'seconds between two decisions of a browser' },
});
const applications = numberOption('applications', options.applications, 1);
const browsers = numberOption('browsers', options.browsers, 1);
const paceMs = numberOption('pace', options.pace, 0.1) * 1_000;

const BATCH = 100;
/** A browser reads one ahead: some more wait than are decided. */
const SPARE = 5;
/** What does not come for so long does not come. */
const PATIENCE_MS = 30_000;
const UNDO_SECONDS = 10;

/** In the page: from the key that decides to the next application on it, in milliseconds. */
const STOPWATCH = `
  window.waits = [];
  let began = null;
  let shown = '';
  addEventListener('keydown', ({ key }) => { if (/^[0-9]$/.test(key)) began = performance.now(); }, true);
  new MutationObserver(() => {
    const text = document.querySelector('h1')?.textContent ?? '';
    if (text === shown || !/\\d/.test(text)) return;
    shown = text;
    if (began !== null) waits.push(performance.now() - began);
    began = null;
  }).observe(document, { subtree: true, childList: true, characterData: true });`;

/** What one browser did. */
interface Decided {
  readonly ids: number[];
  readonly waits: readonly number[];
  /** Times at which a decision was due and the next application was not there. */
  readonly late: number;
  /** What the page told of decisions that failed. */
  readonly alerts: readonly string[];
}

const port = await freePort();
const origin = `http://localhost:${port}`;
const service = await startServiceProcess({ CONSOLE_PORT: `${port}`, DELIVERY: 'on' });
const database = openDatabase(
  { connectionString: service.connectionString },
  { max: 4, onError: () => {}, clock: machineClock },
);
const browser = await chromium.launch({ executablePath: executablePath as string, chromiumSandbox: false });
let decided: Decided[] = [];
let twice = 0;
let applied = 0;
try {
  await register(browsers * (applications + SPARE));
  const password = await hashPassword('seven wet umbrellas');
  const logins = Array.from({ length: browsers }, (_, index) => `desk.${index}`);
  const contexts = await Promise.all(logins.map((login) => signedIn(login, password)));
  console.log(`${browsers} browsers decide ${applications} applications each, one every ${paceMs} ms`);
  decided = await Promise.all(contexts.map(decideAll));
  await sleep((UNDO_SECONDS + 5) * 1_000);
  [twice, applied] = await counts();
} finally {
  await browser.close();
  await database.end();
  await service.stop();
}
const waits = decided.flatMap((one) => one.waits).toSorted((a, b) => a - b);
const at = (share: number) =>
  waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? Number.NaN;
const all = decided.flatMap(({ ids }) => ids);
for (const text of new Set(decided.flatMap(({ alerts }) => alerts))) console.log(`the page said: ${text}`);
console.log(
  `${number(all.length)} decisions; from the key to the next application: p50 ${number(at(0.5), 1)} ms, ` +
    `p99 ${number(at(0.99), 1)} ms, longest ${number(at(1), 1)} ms`,
);
const none = { direction: 'at most', bound: 0 } as const;
judge([
  { name: 'decisions that had to wait', figure: decided.reduce((sum, { late }) => sum + late, 0), ...none },
  {
    name: 'decisions that failed',
    figure: decided.reduce((sum, { alerts }) => sum + alerts.length, 0),
    ...none,
  },
  { name: 'applications decided twice', figure: twice + all.length - new Set(all).size, ...none },
  {
    ...{ name: 'decisions applied', figure: applied, direction: 'at least' },
    bound: browsers * applications,
  },
]);

async function register(count: number): Promise<void> {
  for (let left = count; left > 0; left -= BATCH) {
    const batch = Array.from({ length: Math.min(left, BATCH) }, () => anApplication({ ...IN_REVIEW }));
    const response = await fetch(service.url, {
      method: 'POST',
      headers: { 'X-API-Key': service.apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ applications: batch }),
    });
    if (!response.ok) throw new Error(`the registration answered ${response.status}`);
  }
  const giveUpAt = performance.now() + PATIENCE_MS;
  const waiting = 'SELECT count(*)::integer AS count FROM review_items';
  while ((await service.admin.query(waiting)).rows[0].count < count) {
    if (performance.now() > giveUpAt) throw new Error(`the queue lacks applications after ${PATIENCE_MS} ms`);
    await sleep(100);
  }
  console.log(`${count} applications wait in the queue`);
}

/** A browser of a new operator, who decides alone. */
async function signedIn(login: string, password: string): Promise<BrowserContext> {
  const vault = new Vault(await secretsOfDataDir(service.dataDir, false, machineClock));
  const authority = new Map([['COP', 10n ** 12n]]);
  const { operator } = await addOperator({ database, vault }, { login, role: 'reviewer', authority });
  const invited = (await lockAccount(database, vault, operator.id))!;
  const begun = await setFactors(database, vault, invited, { password, totp: Buffer.alloc(20) });
  const account = await enrol(database, vault, begun, { totpStep: 0 });
  const { cookie, key } = newSession();
  await startSession(database, vault, key, { account, isWhole: true });
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1280, height: 800 } });
  await context.addCookies([{ name: 'ventanilla', value: cookie, url: origin }]);
  await context.addInitScript(STOPWATCH);
  return context;
}

async function decideAll(context: BrowserContext): Promise<Decided> {
  const page = await context.newPage();
  await page.goto(`${origin}/queue`);
  await page.getByRole('button', { name: /^Claim next/ }).waitFor();
  await page.keyboard.press('n');
  const ids: number[] = [];
  let late = 0;
  let dueAt = performance.now() + paceMs;
  while (ids.length < applications) {
    await sleep(Math.max(0, dueAt - performance.now()));
    let id = await numberOf(page);
    if (id === null || id === ids.at(-1)) {
      late += ids.length === 0 ? 0 : 1;
      id = await nextNumber(page, ids.at(-1) ?? null);
      dueAt = performance.now();
    }
    ids.push(id);
    await page.keyboard.press(ids.length % 2 === 0 ? 'a' : 'r');
    // A code that no file contradicts.
    await page.keyboard.press('3');
    dueAt += paceMs;
  }
  // The last decision is on its way.
  await sleep(2_000);
  const alerts = await page.getByRole('alert').allTextContents();
  const measured = (await page.evaluate('waits')) as number[];
  await context.close();
  return { ids, late, alerts, waits: measured.slice(0, applications) };
}

async function numberOf(page: Page): Promise<number | null> {
  const text = (await page.evaluate("document.querySelector('h1')?.textContent ?? ''")) as string;
  return /\d/.test(text) ? Number(text.replace(/\D/g, '')) : null;
}

async function nextNumber(page: Page, before: number | null): Promise<number> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const id = await numberOf(page);
    if (id !== null && id !== before) return id;
    if (performance.now() > giveUpAt)
      throw new Error(`no application after ${before} came for ${PATIENCE_MS} ms`);
    await sleep(10);
  }
}

/** Applications with two decisions, and decisions that were applied. */
async function counts(): Promise<[number, number]> {
  const { rows } = await service.admin.query(
    `SELECT count(*) FILTER (WHERE decisions > 1)::integer AS twice, coalesce(sum(applied), 0)::integer AS applied
    FROM (SELECT count(*) AS decisions, count(*) FILTER (WHERE state = 'applied') AS applied
      FROM proposals GROUP BY application_id) AS p`,
  );
  return [rows[0].twice, rows[0].applied];
}
