/**
 * Every field of every request of the console takes hostile values: none is a failure of the service, whoever sends it.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { deskRoutes } from '../../src/subjects/desk/routes/desk-routes.ts';
import { endpointRoutes } from '../../src/subjects/events/push/routes/endpoint.ts';
import { pausedAmong } from '../../src/subjects/messages/subject.ts';
import { brandRoutes } from '../../src/subjects/partners/routes/brand.ts';
import { partnerRoutes } from '../../src/subjects/partners/routes/partners.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { startTestConsole } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { TestClock } from '../support/test-clock.ts';

const store = await testDatabase();
const { runtime, vault } = store;
// No application of the test has a document.
const DESK = deskRoutes(
  {
    database: runtime,
    vault,
    clock: machineClock,
    undoSeconds: 600,
    lookShare: 0,
    dueHours: 24,
    terms: async () => null,
  },
  async () => ({}) as never,
);
const PARTNERS = { database: runtime, vault, clock: machineClock };
const KNOWN = { pausedAmong, readTemplates: async () => ({ kind: 'not_asked' as const }) };
const ROUTES = [
  ...[...DESK, ...partnerRoutes(PARTNERS, []), ...brandRoutes(PARTNERS, KNOWN)],
  // No host is excepted, so a test event goes nowhere.
  ...endpointRoutes(PARTNERS, new Set()),
];
/** A refused sign-in rests for half a second (test/operators/refusal-cost.test.ts), and here are many of them. */
const restless = Object.assign(new TestClock(), { sleep: async () => {} });
const site = await startTestConsole({ ...store, clock: restless }, ROUTES);
const admin = await (await site.enrolled('adam', 'admin')).signIn();
const { json } = commandLine(store);
const partner = await json('partner', 'add', '--name', 'Uno', '--country', 'CO');
const key = await json('key', 'issue', '--partner', `${partner.id}`);
const [id] = await (await registrarOf(store))(key.id, [applicant(IN_REVIEW)]);

/** Texts and numbers that the store or the program may choke on. */
const TEXTS = [
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u202e',
  ' ',
  'x'.repeat(20_000),
  '%',
  "'",
  '1e400',
  '__proto__',
];
const NUMBERS = [0, -1, 1.5, 2 ** 31, 2 ** 53, 1e15, 999_999_999_999_999, 1e300, -0];
const OTHERS = [null, true, [], {}, [[]], { a: { b: {} } }];
const VALUES: readonly unknown[] = [...TEXTS, ...NUMBERS, ...OTHERS];

interface Form {
  readonly properties?: Readonly<Record<string, unknown>>;
}
/** A body that fits each route, to change one field of it. */
const FITS: Readonly<Record<string, unknown>> = {
  act: 'approve',
  reason: 'reason enough',
  reason_code: 'unspecified',
  applications: [{ id, last_event: '0' }],
  text: 'a note',
  missing: ['explanation'],
  message: null,
  hours: 1,
  agrees: true,
  note: '',
  login: 'adam',
  password: 'a long password',
  code: '000000',
  token: 'token',
  q: '3005550101',
  view: 'to_pay',
  query: { view: 'to_pay' },
  name: 'a view',
  country: 'CO',
  daily_cap: 5,
  filename: 'plan.pdf',
  content: 'YQ==',
  overlap: '0',
  brand: { partner: 'Acme' },
  was: {},
  url: 'https://127.0.0.1/',
  since: '2026-01-01T00:00:00Z',
};
const IDS = [`${id}`, '0', '1', '999999999999999', '1e3', '%00', 'x'.repeat(300), '..%2f..', '-1'];

for (const { method, path, body, query, access } of [...ROUTES, SIGN_IN()]) {
  it(`${method} ${path}`, async () => {
    const at = (where: string) => `/api${path.replaceAll(/\{\w+\}/g, where)}`;
    const fields = Object.keys((body as Form | undefined)?.properties ?? {});
    const fit = Object.fromEntries(fields.filter((name) => name in FITS).map((name) => [name, FITS[name]]));
    const bodies = [
      ...(method === 'GET' ? [undefined] : [...VALUES, fit]),
      ...fields.flatMap((name) => VALUES.map((value) => ({ ...fit, [name]: value }))),
    ];
    const queries = Object.keys((query as Form | undefined)?.properties ?? {}).flatMap((name) =>
      VALUES.map((value) => `?${new URLSearchParams({ list: 'mine', [name]: `${value}` })}`),
    );
    const headers = method === 'GET' ? {} : { 'If-Match': '"0"' };
    const visitor = access === 'open' ? site.visitor() : admin;
    for (const [where, given, search] of [
      ...(path.includes('{') ? IDS : []).map((one) => [one, method === 'GET' ? undefined : fit, ''] as const),
      ...bodies.map((one) => [`${id}`, one, ''] as const),
      ...queries.map((one) => [`${id}`, undefined, one] as const),
    ]) {
      const { status } = await visitor.ask(method, at(where) + search, given, headers);
      assert.ok(status < 500, `${status} for ${JSON.stringify(given)?.slice(0, 200)} ${where} ${search}`);
    }
    assert.deepEqual(site.failures, []);
  });
}

/** The first step of a sign-in, which everybody may ask for. */
function SIGN_IN() {
  const properties = { login: {}, password: {} };
  return { method: 'POST', path: '/session', access: 'open', body: { properties }, query: undefined };
}
