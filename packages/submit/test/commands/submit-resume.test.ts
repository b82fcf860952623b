/** A submission that stopped can go on where it was, and registers nobody twice (D16, D36). */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { remac } from '../../../../test/support/remac.ts';
import { anApplication, testService } from '../../../../test/support/service.ts';
import { TestClock } from '../../../../test/support/test-clock.ts';
import { type Applicant, csvOf, fileOf } from '../files.ts';
import { proxyOf } from '../send/proxy.ts';
import { summary } from './submit-harness.ts';

const service = await testService();
const ROWS = 1_050;

/** Half of the applicants have no phone, so only the Idempotency-Key protects them. */
function applicants(count: number): Applicant[] {
  return Array.from(
    { length: count },
    (_, index) => anApplication(index % 2 === 0 ? {} : { phone: null }) as Applicant,
  );
}

async function used(apiKey: string): Promise<number> {
  const response = await fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': apiKey } });
  return ((await response.json()) as { partner: { used_24h: number } }).partner.used_24h;
}

const registeredIn = (said: { registered: Record<string, number> }) =>
  Object.values(said.registered).reduce((sum, rows) => sum + rows, 0);

test('submit stops at the quota, keeps left-over rows apart from rejected ones, and goes on when there is room', async () => {
  const { apiKey, keyId } = await service.addPartner({ dailyCap: 250 });
  const proxy = await proxyOf(service.url);
  const path = fileOf('a.csv', csvOf(applicants(ROWS)));
  const clock = new TestClock('2031-05-06T07:08:09.000Z');
  const first = await summary({ apiKey, clock }, path, '--url', proxy.url);
  assert.deepEqual(
    [first.code, first.said.stopped, registeredIn(first.said), first.said.not_sent, first.said.rejected_file],
    [3, 'quota', 250, ROWS - 250, null],
  );
  assert.deepEqual([first.said.used_24h, first.said.daily_cap], [250, 250]);
  assert.equal(Date.parse(first.said.room_at), Date.parse('2031-05-07T07:08:09.000Z'));
  assert.ok(proxy.posts.length <= 7, `${proxy.posts.length} requests`);
  assert.match(first.err, /daily quota is used up: 250 of 250.*By 20.*same command/s);

  const still = await summary(apiKey, path, '--url', proxy.url);
  assert.deepEqual([still.code, still.said.not_sent], [3, ROWS - 250]);
  await service.database.query('UPDATE api_keys SET daily_cap = NULL WHERE id = $1', [keyId]);
  await remac(service);
  const last = await summary(apiKey, path, '--url', proxy.url);
  assert.deepEqual([last.code, registeredIn(last.said), last.said.not_sent], [0, ROWS, 0]);
  assert.equal(await used(apiKey), ROWS);
});

test('the journal holds no personal data and no API key', async () => {
  const { apiKey } = await service.addPartner();
  const list = [...applicants(3), { ...applicants(1)[0], income: -1 } as Applicant];
  const path = fileOf('a.csv', csvOf(list));
  await summary(apiKey, path, '--url', service.url);
  const journal = readFileSync(`${path}.ventanilla-journal`, 'utf8');
  for (const { name, id_number, city, phone } of list) {
    for (const value of [name, id_number, city, phone]) {
      if (value !== null) assert.ok(!journal.includes(String(value)));
    }
  }
  assert.ok(!journal.includes(apiKey));
  assert.match(journal, /"kind":"end"/);
});

test('a journal of another file, URL or options is refused, and the error says what to do', async () => {
  const { apiKey } = await service.addPartner();
  const path = fileOf('a.csv', csvOf(applicants(2)));
  const good = readFileSync(path);
  await summary(apiKey, path, '--url', service.url);
  const refused = async (message: RegExp, ...args: string[]) => {
    const { code, err } = await summary(apiKey, path, ...args);
    assert.equal(code, 1);
    assert.match(err, message);
  };
  await refused(/to http.*\/PRO, not to http.*\/other\/PRO/, '--url', `${service.url}/other`);
  await refused(/other options/, '--url', service.url, '--decimal', 'comma');
  writeFileSync(path, csvOf(applicants(3)));
  await refused(/has changed since/, '--url', service.url);
  writeFileSync(path, good);
  writeFileSync(`${path}.ventanilla-journal`, 'nonsense\n{}\n');
  await refused(/a\.csv\.ventanilla-journal, row 1: it is damaged/, '--url', service.url);
  assert.equal(await used(apiKey), 2);
});

/** A finished submission whose journal lost the answer. */
async function inDoubt(apiKey: string, change: (journal: string) => string): Promise<string> {
  const path = fileOf('a.csv', csvOf(applicants(4)));
  await summary(apiKey, path, '--url', service.url);
  const journal = readFileSync(`${path}.ventanilla-journal`, 'utf8');
  const lines = journal.split('\n').filter((line) => !/"kind":"(answered|end)"/.test(line));
  writeFileSync(`${path}.ventanilla-journal`, change(lines.join('\n')));
  return path;
}

test('a batch in doubt is sent again under its key and with its bytes, until the service has forgotten the key', async () => {
  const { apiKey } = await service.addPartner();
  const fresh = await inDoubt(apiKey, (journal) => journal);
  assert.deepEqual((await summary(apiKey, fresh, '--url', service.url)).code, 0);
  assert.equal(await used(apiKey), 4);

  const other = await inDoubt(apiKey, (journal) => journal.replace(/"digest":"./, '"digest":"x'));
  const refused = await summary(apiKey, other, '--url', service.url);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /a\.csv\.ventanilla-journal: rows 2 to 5 were sent by another version/);
  assert.equal(await used(apiKey), 8);

  // An hour before the service forgets the key is the last moment.
  const sentAt = '2031-05-06T07:08:09.000Z';
  const aged = () => inDoubt(apiKey, (journal) => journal.replace(/"at":"[^"]*"/, `"at":"${sentAt}"`));
  const clock = new TestClock(sentAt);
  clock.step(23 * 3_600_000);
  assert.equal((await summary({ apiKey, clock }, await aged(), '--url', service.url)).code, 0);
  assert.equal(await used(apiKey), 12);
  clock.step(1);
  const { code, said, err } = await summary({ apiKey, clock }, await aged(), '--url', service.url);
  assert.deepEqual([code, said.in_doubt, said.not_sent, said.rejected_file], [2, 4, 0, null]);
  assert.match(err, /Ask the operator/);
  assert.equal(readFileSync(said.in_doubt_file, 'utf8').split('\r\n').length, 6);
  assert.equal(await used(apiKey), 16);
});

test('a batch in doubt under another API key is not sent again, because its Idempotency-Key would not protect it', async () => {
  const { apiKey } = await service.addPartner();
  const { apiKey: another } = await service.addPartner();
  const path = await inDoubt(apiKey, (journal) => journal);
  const { code, said } = await summary(another, path, '--url', service.url);
  assert.deepEqual([code, said.in_doubt], [2, 4]);
  assert.equal(await used(another), 0);
});
