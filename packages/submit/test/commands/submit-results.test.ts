/** `ventanilla submit --results`: one line for each row of the file, after any number of runs and kills. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { remac } from '../../../../test/support/remac.ts';
import { anApplication, testService } from '../../../../test/support/service.ts';
import { type Applicant, csvOf, fileOf } from '../files.ts';
import { proxyOf } from '../send/proxy.ts';
import { assertAllRegistered, linesOf, resultsBeside, storedIds } from './results.ts';
import { submit, summary } from './submit-harness.ts';

const service = await testService();

function applicants(count: number): Applicant[] {
  return Array.from({ length: count }, () => anApplication() as Applicant);
}

test('the results file has a line for each row, in the order of the rows, that only its owner may read', async () => {
  const { apiKey, keyId } = await service.addPartner();
  const list = applicants(6).map((one, index) => ({
    ...one,
    id_number: index === 0 ? '@1+1' : `N ${index}`,
    ...(index === 1 && { income: -5 }),
    ...(index === 4 && { phone: '1,02E+09' }),
  })) as Applicant[];
  list.push({ ...(list[3] as Applicant), id_number: 'again' });
  const path = fileOf('a.csv', csvOf(list, ';'));
  const results = resultsBeside(path);
  const { code, said } = await summary(apiKey, path, '--url', service.url, '--results', results);
  assert.deepEqual([code, said.results_file], [2, results]);
  const lines = linesOf(results, ';');
  assert.deepEqual(
    lines.map(({ row, id_number, outcome, reason }) => [row, id_number, outcome, reason]),
    [
      ['2', "'@1+1", 'registered', ''],
      ['3', 'N 1', 'invalid', 'income is required and must be > 0 (numeric)'],
      ['4', 'N 2', 'registered', ''],
      ['5', 'N 3', 'registered', ''],
      ['6', 'N 4', 'unreadable', lines[4]?.reason],
      ['7', 'N 5', 'registered', ''],
      ['8', 'again', 'duplicate', 'a request already exists for this messaging-channel number'],
    ],
  );
  assert.match(lines[4]?.reason ?? '', /column "phone": a spreadsheet may have cut the number/);
  const registered = lines.filter(({ outcome }) => outcome === 'registered');
  assert.deepEqual(
    new Map(registered.map(({ id, score }) => [id, score])),
    await storedIds(service.database, keyId),
  );
  for (const { decision, status } of registered) {
    assert.deepEqual([decision, status], ['approved', 'pending_signature']);
  }
  for (const { id, decision, status } of lines.filter(({ outcome }) => outcome !== 'registered')) {
    assert.deepEqual([id, decision, status], ['', '', '']);
  }
  assert.equal(statSync(results).mode & 0o777, 0o600);
});

test('a finished submission writes its results later, too, without sending anything', async () => {
  const { apiKey, keyId } = await service.addPartner();
  const list = applicants(150);
  const path = fileOf('a.csv', csvOf(list));
  const proxy = await proxyOf(service.url);
  assert.equal((await summary(apiKey, path, '--url', proxy.url)).said.results_file, null);
  const posts = proxy.posts.length;
  assert.equal((await summary(apiKey, path, '--url', proxy.url, '--results', resultsBeside(path))).code, 0);
  await assertAllRegistered(service.database, resultsBeside(path), list, keyId);
  assert.equal(proxy.posts.length, posts);
});

test('at the quota the results say which rows were not sent, and a later run replaces them', async () => {
  const { apiKey, keyId } = await service.addPartner({ dailyCap: 250 });
  const list = applicants(1_050);
  const path = fileOf('a.csv', csvOf(list));
  const results = resultsBeside(path);
  const stopped = await summary(apiKey, path, '--url', service.url, '--results', results);
  assert.deepEqual([stopped.code, stopped.said.not_sent], [3, 800]);
  const lines = linesOf(results);
  assert.deepEqual(
    lines.map(({ row }) => row),
    list.map((_, index) => String(index + 2)),
  );
  assert.equal(lines.filter(({ outcome }) => outcome === 'registered').length, 250);
  assert.equal(lines.filter(({ outcome }) => outcome === 'not_sent').length, 800);
  await service.database.query('UPDATE api_keys SET daily_cap = NULL WHERE id = $1', [keyId]);
  await remac(service);
  assert.equal((await summary(apiKey, path, '--url', service.url, '--results', results)).code, 0);
  await assertAllRegistered(service.database, results, list, keyId);
});

test('after an error the results have what is known so far, and the resumed run completes them', async () => {
  const { apiKey, keyId } = await service.addPartner();
  const revoke = async (at: string) => {
    await service.database.query(`UPDATE api_keys SET revoked_at = ${at} WHERE id = $1`, [keyId]);
    await remac(service);
  };
  const list = applicants(1_050);
  list[1_040] = { ...(list[1_040] as Applicant), phone: '1,02E+09' };
  const path = fileOf('a.csv', csvOf(list));
  const results = resultsBeside(path);
  const proxy = await proxyOf(service.url);
  proxy.afterPost = async ({ number }) => {
    if (number === 3) await revoke('now()');
    return true;
  };
  const failed = await summary(apiKey, path, '--url', proxy.url, '--results', results);
  assert.equal(failed.code, 1);
  assert.match(failed.err, /results\.csv has what is known so far/);
  assert.match(failed.err, /Run the same command again to go on/);
  const lines = linesOf(results);
  assert.deepEqual(
    lines.map(({ row, id_number }) => [row, id_number]),
    list.map(({ id_number }, index) => [String(index + 2), id_number]),
  );
  const registered = lines.filter(({ outcome }) => outcome === 'registered');
  assert.ok(registered.length >= 200 && registered.length < 1_000, `${registered.length}`);
  assert.deepEqual(
    new Map(registered.map(({ id, score }) => [id, score])),
    await storedIds(service.database, keyId),
  );
  assert.equal(lines.filter(({ outcome }) => outcome === 'not_sent').length, 1_049 - registered.length);
  const reasons = new Set(lines.filter(({ outcome }) => outcome === 'not_sent').map(({ reason }) => reason));
  assert.deepEqual(reasons, new Set(['sent, and no result came: run the same command again', '']));

  await revoke('NULL');
  assert.equal((await summary(apiKey, path, '--url', proxy.url, '--results', results)).code, 2);
  const completed = linesOf(results).filter(({ outcome }) => outcome === 'registered');
  assert.deepEqual(
    new Map(completed.map(({ id, score }) => [id, score])),
    await storedIds(service.database, keyId),
  );
  assert.equal(completed.length, 1_049);
});

test('the results never replace a file that this submission did not write, and nothing is sent then', async () => {
  const { apiKey, keyId } = await service.addPartner();
  const path = fileOf('a.csv', csvOf(applicants(2)));
  const other = fileOf('b.csv', 'a table of somebody');
  const older = fileOf('c.csv', '\ufeffrow,id_number,outcome,id\r\n');
  const cases: [results: string, error: RegExp][] = [
    [path, /--results a\.csv: it is a file of the submission\. Choose another name/],
    [`${path}.rejected.csv`, /it is a file of the submission/],
    [`${path}.ventanilla-journal`, /it is a file of the submission/],
    [other, /--results b\.csv: it exists and is not a results file/],
    [older, /--results c\.csv: it has the results of another submission/],
    [dirname(path), /it exists and is not a results file/],
    [join(dirname(path), 'absent', 'r.csv'), /its folder does not exist/],
  ];
  for (const [results, error] of cases) {
    const { code, err } = await summary(apiKey, path, '--url', service.url, '--results', results);
    assert.equal(code, 1, results);
    assert.match(err, error);
  }
  const dry = await submit({}, path, '--dry-run', '--results', resultsBeside(path));
  assert.match(dry.err, /--results holds answers of the service/);
  assert.equal((await storedIds(service.database, keyId)).size, 0);
  assert.equal(readFileSync(other, 'utf8'), 'a table of somebody');
});
