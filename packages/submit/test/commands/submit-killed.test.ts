/** A submission whose process is killed or stopped goes on where it was, and registers nobody twice (D16, D36). */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { anApplication, testService } from '../../../../test/support/service.ts';
import { type Applicant, csvOf, fileOf } from '../files.ts';
import { proxyOf } from '../send/proxy.ts';
import { assertAllRegistered, resultsBeside } from './results.ts';
import { summary } from './submit-harness.ts';
import { spawnSubmit } from './submit-process.ts';

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

test('after kill -9, with answers under way, the same command registers everybody exactly once', async () => {
  const { apiKey } = await service.addPartner();
  const proxy = await proxyOf(service.url);
  const path = fileOf('a.csv', csvOf(applicants(ROWS)));
  const first = spawnSubmit(apiKey, path, '--url', proxy.url);
  proxy.afterPost = ({ number }) => {
    if (number < 5) return true;
    return !first.kill('SIGKILL');
  };
  await first.ended;
  const before = await used(apiKey);
  assert.ok(before >= 500 && before < ROWS, `${before}`);

  // Cuts the last line, as a crash does.
  writeFileSync(`${path}.ventanilla-journal`, '{"kind":"answ', { flag: 'a' });
  const sentBefore = new Map(proxy.posts.map(({ idempotencyKey, body }) => [idempotencyKey, body]));
  const known = proxy.posts.length;
  proxy.afterPost = () => true;
  const { code, said, err } = await summary(apiKey, path, '--url', proxy.url);
  assert.deepEqual([code, said?.rows, said?.not_sent], [0, ROWS, 0], err);
  assert.equal(registeredIn(said), ROWS);
  assert.equal(await used(apiKey), ROWS);
  const again = proxy.posts.slice(known).filter(({ idempotencyKey }) => sentBefore.has(idempotencyKey));
  assert.ok(again.length >= 1 && again.length <= 4, `${again.length}`);
  for (const { idempotencyKey, body } of again) assert.equal(body, sentBefore.get(idempotencyKey));
  // The lines after the torn line can be read.
  assert.equal(registeredIn((await summary(apiKey, path, '--url', proxy.url)).said), ROWS);
});

test('Ctrl-C finishes the batches under way and says how to go on, and the same command goes on', async () => {
  const { apiKey } = await service.addPartner();
  const proxy = await proxyOf(service.url);
  const path = fileOf('a.csv', csvOf(applicants(ROWS)));
  const first = spawnSubmit(apiKey, path, '--url', proxy.url);
  proxy.afterPost = ({ number }) => {
    if (number === 3) first.kill('SIGINT');
    return true;
  };
  const stopped = await first.ended;
  assert.equal(stopped.code, 130, stopped.err);
  const said = JSON.parse(stopped.out);
  assert.equal(said.stopped, 'interrupted');
  assert.ok(said.not_sent > 0 && said.not_sent < ROWS, stopped.out);
  assert.equal(registeredIn(said), await used(apiKey));
  assert.equal(registeredIn(said) + said.not_sent, ROWS);
  assert.match(stopped.err, /same command/);

  const known = new Set(proxy.posts.map(({ idempotencyKey }) => idempotencyKey));
  const posts = proxy.posts.length;
  const { code } = await summary(apiKey, path, '--url', proxy.url);
  assert.equal(code, 0);
  assert.equal(await used(apiKey), ROWS);
  assert.ok(proxy.posts.slice(posts).every(({ idempotencyKey }) => !known.has(idempotencyKey)));
});

test('a second run on the same journal is refused by name, and the lock of a killed run is no obstacle', async () => {
  const { apiKey } = await service.addPartner();
  const proxy = await proxyOf(service.url);
  const path = fileOf('a.csv', csvOf(applicants(ROWS)));
  const first = spawnSubmit(apiKey, path, '--url', proxy.url);
  await new Promise<void>((stopped) => {
    proxy.afterPost = ({ number }) => {
      if (number === 3 && first.kill('SIGSTOP')) stopped();
      return true;
    };
  });
  const second = await summary(apiKey, path, '--url', proxy.url);
  assert.equal(second.code, 1);
  assert.match(
    second.err,
    /a\.csv: another run sends this file now \(a\.csv\.ventanilla-journal is locked\)/,
  );
  // The sandbox has a journal of its own.
  const sandbox = await summary(apiKey, path, '--url', service.url, '--sandbox');
  assert.equal(sandbox.code, 0, sandbox.err);
  first.kill('SIGKILL');
  await first.ended;
  const third = await summary(apiKey, path, '--url', proxy.url);
  assert.deepEqual([third.code, registeredIn(third.said), await used(apiKey)], [0, ROWS, ROWS], third.err);
});

test('two processes that submit one file at once register nobody twice, and each row counts once', async () => {
  const { apiKey } = await service.addPartner();
  const path = fileOf('a.csv', csvOf(applicants(450)));
  const runs = await Promise.all([1, 2].map(() => spawnSubmit(apiKey, path, '--url', service.url).ended));
  for (const { code, err } of runs) if (code !== 0) assert.match(err, /another run sends this file now/);
  const { code, said } = await summary(apiKey, path, '--url', service.url);
  assert.deepEqual([code, registeredIn(said), await used(apiKey)], [0, 450, 450]);
});

test('after kill -9, with answers under way, the resumed run completes the results of all rows', async () => {
  const { apiKey, keyId } = await service.addPartner();
  const list = applicants(1_050);
  const path = fileOf('a.csv', csvOf(list));
  const results = resultsBeside(path);
  const proxy = await proxyOf(service.url);
  const first = spawnSubmit(apiKey, path, '--url', proxy.url, '--results', results);
  proxy.afterPost = ({ number }) => {
    if (number < 5) return true;
    return !first.kill('SIGKILL');
  };
  await first.ended;
  assert.equal(existsSync(results), false);
  proxy.afterPost = () => true;
  const { code, err } = await summary(apiKey, path, '--url', proxy.url, '--results', results);
  assert.equal(code, 0, err);
  await assertAllRegistered(service.database, results, list, keyId);
});
