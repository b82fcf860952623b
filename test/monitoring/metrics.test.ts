/** `/metrics`: what a process and its store tell Prometheus, without personal data, in a bounded number of series. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { addPartner, anApplication, post, testService } from '../support/service.ts';
import { TestClock } from '../support/test-clock.ts';
import { numberOf, seriesOf } from './series.ts';

const SHOWN = 2;
/** Scrapes within this time share a text. Every few seconds the service writes what it counted. */
const SHARED_MS = 2_000;
const clock = new TestClock();
const service = await testService({ METRICS_PARTNERS: String(SHOWN) }, { upkeep: false, clock });
async function scrape(): Promise<string> {
  await clock.advance(SHARED_MS + 1);
  return (await fetch(`${service.opsUrl}/metrics`)).text();
}
const scraped = (name: string, labels: Record<string, string>, wanted: number) =>
  eventually(`${name} of ${wanted}`, async () => {
    const text = await scrape();
    return numberOf(text, name, labels) === wanted && text;
  });

const PERSON = {
  name: 'Hermenegilda Quux',
  city: 'Zipaquirá',
  phone: '+573001239876',
  id_number: '9988776655',
};
const partners: Awaited<ReturnType<typeof service.addPartner>>[] = [];
for (let index = 0; index < SHOWN + 2; index += 1) partners.push(await service.addPartner({ dailyCap: 3 }));

test('requests are counted by route and outcome, applications by partner and outcome', async () => {
  const first = partners[0] as (typeof partners)[number];
  const taken = anApplication(PERSON);
  const batch = { applications: [taken, taken, {}, anApplication(), anApplication(), anApplication()] };
  assert.equal((await post(`${service.url}/PRO`, first.apiKey, batch)).status, 200);
  assert.equal((await post(`${service.url}/DEV`, first.apiKey, batch)).status, 200);
  assert.equal((await post(`${service.url}/PRO`, first.apiKey, [])).status, 400);
  assert.equal((await post(`${service.url}/PRO`, 'no key', batch)).status, 401);
  assert.equal((await fetch(`${service.url}/of/${PERSON.id_number}`)).status, 404);
  const text = await scraped('ventanilla_applications_total', { partner: '1', outcome: 'registered' }, 3);
  for (const [route, outcome, requests] of [
    ['POST /PRO', 'ok', 1],
    ['POST /DEV', 'ok', 1],
    ['POST /PRO', 'not_an_object', 1],
    ['POST /PRO', 'unauthorized', 1],
    ['none', 'not_found', 1],
  ] as const) {
    const count = numberOf(text, 'ventanilla_http_request_duration_seconds_count', { route, outcome });
    assert.equal(count, requests, `${route} ${outcome}`);
  }
  for (const [outcome, applications] of [
    ['duplicate', 1],
    ['invalid', 1],
    ['over_quota', 1],
  ] as const) {
    const count = numberOf(text, 'ventanilla_applications_total', { partner: '1', outcome });
    assert.equal(count, applications, outcome);
  }
  assert.equal(numberOf(text, 'ventanilla_partner_used_applications', { partner: '1' }), 3);
  assert.equal(numberOf(text, 'ventanilla_partner_daily_cap_applications', { partner: '1' }), 3);
  assert.equal(numberOf(text, 'ventanilla_registration_statement_applications_sum', {}), 5);
  const statement = { statement: 'register_batches' };
  assert.equal(numberOf(text, 'ventanilla_database_statement_duration_seconds_count', statement), 1);
});

test('partners after METRICS_PARTNERS share the label other, and no label is a text of a client', async () => {
  for (const { apiKey } of partners.slice(SHOWN)) {
    await post(`${service.url}/PRO`, apiKey, { applications: [anApplication()] });
  }
  const text = await scraped('ventanilla_applications_total', { partner: 'other', outcome: 'registered' }, 2);
  const labels = seriesOf(text).flatMap((one) => ('partner' in one.labels ? [one.labels.partner] : []));
  assert.deepEqual([...new Set(labels)].sort(), ['1', '2', 'other']);
  assert.equal(numberOf(text, 'ventanilla_partner_daily_cap_applications', { partner: 'other' }), undefined);
  const secrets = [...Object.values(PERSON), ...partners.map(({ apiKey }) => apiKey)];
  for (const secret of secrets) assert.ok(!text.includes(secret), 'a scrape shows personal data or a key');
});

/** The first collection of a kind adds the series of Node's garbage collector, whenever the collection comes. */
async function seriesOfTheService(): Promise<string[]> {
  const all = seriesOf(await scrape()).map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`);
  return all.filter((one) => !one.startsWith('nodejs_gc_')).sort();
}

test('500 partners make no more series than METRICS_PARTNERS allows', async () => {
  const before = await seriesOfTheService();
  for (let index = 0; index < 20; index += 1) await addPartner(service, { dailyCap: 10 });
  await service.database.query(
    `INSERT INTO partners (id, name, country) SELECT n, 'Many ' || n, 'CO' FROM generate_series(1000, 1480) AS n`,
  );
  await service.database.query(
    'INSERT INTO usage_totals (partner_id) SELECT id FROM partners WHERE id >= 1000',
  );
  assert.deepEqual(await seriesOfTheService(), before);
});
