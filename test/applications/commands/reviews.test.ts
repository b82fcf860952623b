/** Several reviews at once, and the name of whoever decides (D34). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { ACTOR, commandLine } from '../../cli/harness.ts';
import { applicant, IN_REVIEW } from '../../support/applicant.ts';
import { testDatabase } from '../../support/database.ts';
import { registrarOf } from '../../support/intake.ts';

const store = await testDatabase();
const { run, json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const folder = mkdtempSync(join(tmpdir(), 'reviews-'));
after(() => rmSync(folder, { recursive: true }));

let phone = 3_400_000_000;
const inReview = async (count: number) => {
  const made = Array.from({ length: count }, () =>
    applicant({ phone: toPhone(`+57${++phone}`), ...IN_REVIEW }),
  );
  return (await register(key, made)).map(String);
};
const actorOf = async (id: string) => (await json('application', 'show', id)).history.at(-1).actor;
function fileOf(content: string): string {
  const path = join(folder, 'ids.csv');
  writeFileSync(path, content);
  return path;
}

test('D34: several applications are reviewed, with a line for each; a refused one keeps no other from its review', async () => {
  const [first, second, third] = (await inReview(3)) as [string, string, string];
  await json('application', 'reject', second, '--reason', 'forged');
  const reason = ['--reason', 'checked'];
  const { code, out } = await run('application', 'approve', first, second, '999999', third, ...reason);
  assert.equal(code, 1);
  assert.deepEqual(out.trimEnd().split('\n'), [
    `Application ${first} went from in_review to pending_signature.`,
    `Application ${second} was not changed: application ${second} is rejected: it cannot be approved.`,
    'Application 999999 was not changed: there is no application 999999.',
    `Application ${third} went from in_review to pending_signature.`,
    '2 of 4 done.',
  ]);
  const done = await run('application', 'disburse', first, third, ...reason, '--json');
  assert.equal(done.code, 0);
  assert.deepEqual(
    JSON.parse(done.out).map(({ id, status }: { id: number; status: string }) => [id, status]),
    [
      [Number(first), 'disbursed'],
      [Number(third), 'disbursed'],
    ],
  );
  const again = await run('application', 'disburse', first, third, ...reason, '--json');
  assert.equal(again.code, 1);
  assert.match(JSON.parse(again.out)[1].error, /cannot be disbursed/);
});

test('ids come from a file: the first column of each line, with or without the names of columns', async () => {
  for (const content of [
    (ids: string[]) => `${ids.join('\n')}\n`,
    (ids: string[]) => `\uFEFFid;name\r\n${ids.map((id) => `"${id}";Ana 7`).join('\r\n\r\n')}`,
    (ids: string[]) => `application\n${ids.map((id) => ` ${id} ,x`).join('\n')}`,
  ]) {
    const ids = await inReview(3);
    const options = ['--file', fileOf(content(ids)), '--reason', 'checked'];
    const { code, out } = await run('application', 'approve', ...options);
    assert.deepEqual([code, out.trimEnd().split('\n').at(-1)], [0, '3 of 3 done.']);
  }
});

test('a file that is not one of ids changes nothing, and the error names its line', async () => {
  const [id] = (await inReview(1)) as [string];
  const table: [content: string, error: RegExp][] = [
    [`${id}\nx\n`, /line 2 of .*ids\.csv has no id of an application in its first column/],
    [`id\nAna,${id}\n`, /line 2/],
    [`${id}\n-3\n`, /line 2/],
    [`${id}.0\n`, /line 1/],
    [`${id}\n9007199254740993\n`, /line 2/],
    ['id\n\n', /has no ids/],
    ['', /has no ids/],
  ];
  for (const [content, error] of table) {
    const { code, err } = await run('application', 'approve', '--file', fileOf(content), '--reason', 'x');
    assert.equal(code, 1, content);
    assert.match(err, error);
  }
  const absent = await run('application', 'approve', '--file', join(folder, 'absent'), '--reason', 'x');
  assert.match(absent.err, /absent cannot be read: /);
  assert.equal((await json('application', 'show', id)).status, 'in_review');
});

test('a review takes ids or a file, not both and not neither', async () => {
  for (const args of [[], ['1', '--file', 'x']]) {
    const { code, err } = await run('application', 'approve', ...args, '--reason', 'x');
    assert.equal(code, 2);
    assert.match(err, /either by their ids or with --file/);
  }
});

test('D34: --as names who decides, before the name of the process', async () => {
  const [first, second] = (await inReview(2)) as [string, string];
  await json('application', 'approve', first, '--reason', 'x', '--as', ' Luz Peña ');
  assert.equal(await actorOf(first), 'Luz Peña');
  await json('application', 'approve', second, '--reason', 'x');
  assert.equal(await actorOf(second), ACTOR);
  for (const name of ['', ' ', 'a\nb', 'x'.repeat(101)]) {
    const { code, err } = await run('application', 'reject', first, '--reason', 'x', '--as', name);
    assert.equal(code, 2, name);
    assert.match(err, /The name must be one line of 1 to 100 characters/);
  }
});
