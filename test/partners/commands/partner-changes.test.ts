/** Partners are renamed, closed and opened again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine } from '../../cli/harness.ts';
import { addPartner, post, testService } from '../../support/service.ts';

const service = await testService();
const { run, json } = commandLine(service);
let names = 0;
const added = async () => {
  const name = `Partner ${String.fromCharCode(65 + names++)}`;
  const { id } = await json('partner', 'add', '--name', name, '--country', 'CO');
  return { id: `${id}`, name };
};
const statusOf = async (apiKey: string) =>
  (await fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': apiKey } })).status;

test('a partner gets another name, with the rules of a new one', async () => {
  const one = await added();
  const other = await added();
  const renamed = await json('partner', 'rename', one.id, '--name', '  Acme  Colombia ');
  assert.equal(renamed.name, 'Acme  Colombia');
  const { api_key: apiKey } = await json('key', 'issue', '--partner', one.id);
  const quota = await fetch(`${service.url}/PRO`, { headers: { 'X-API-Key': apiKey } });
  assert.equal(((await quota.json()) as { partner: { name: string } }).partner.name, 'Acme  Colombia');
  const table: [id: string, name: string, error: RegExp][] = [
    [one.id, other.name, /there is already a partner named/],
    [one.id, ' ', /the name must be 1 to 200 characters/],
    [one.id, 'a\u0000b', /the name must be 1 to 200 characters/],
    ['999', 'Nobody', /there is no partner 999/],
  ];
  for (const [id, name, error] of table) {
    const { code, err } = await run('partner', 'rename', id, '--name', name);
    assert.equal(code, 1);
    assert.match(err, error);
  }
  assert.equal((await json('partner', 'rename', one.id, '--name', renamed.name)).name, renamed.name);
});

test('a closed partner has no key and gets none, from the next request on (D21); others keep theirs', async () => {
  const { id } = await added();
  const { apiKey: foreign } = await addPartner(service);
  const keys: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    keys.push((await json('key', 'issue', '--partner', id)).api_key);
  }
  const answers = async () => Promise.all([...keys, foreign].map(statusOf));
  assert.deepEqual(await answers(), [200, 200, 200, 200]);
  assert.equal((await json('partner', 'close', id)).keys_revoked, 3);
  assert.deepEqual(await answers(), [401, 401, 401, 200]);
  assert.equal((await post(`${service.url}/PRO`, keys[0]!, { applications: [] })).status, 401);
  const refused = await run('key', 'issue', '--partner', id);
  assert.match(refused.err, /is closed: it gets no key/);
  const pushed = await run('partner', 'endpoint', 'set', id, '--url', 'https://example.com/x');
  assert.match(pushed.err, /is closed: its events are not pushed/);
  assert.match((await run('partner', 'close', id)).err, /was closed before/);
  assert.match((await run('partner', 'list')).out, /CLOSED/);
  const reopened = await json('partner', 'reopen', id);
  assert.equal(reopened.closed_at, null);
  assert.deepEqual(await answers(), [401, 401, 401, 200]);
  assert.equal(await statusOf((await json('key', 'issue', '--partner', id)).api_key), 200);
  assert.match((await run('partner', 'reopen', id)).err, /is not closed/);
  assert.match((await run('partner', 'close', '999')).err, /there is no partner 999/);
});

test('a key that is issued or rotated while its partner is closed is dead or refused', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { id } = await added();
    const { id: key } = await json('key', 'issue', '--partner', id);
    await Promise.all([
      run('partner', 'close', id),
      run('key', 'issue', '--partner', id),
      run('key', 'rotate', `${key}`, '--overlap', '1h'),
    ]);
    const live = (await json('key', 'list', '--partner', id)).filter(
      ({ status }: { status: string }) => status === 'live',
    );
    assert.deepEqual(live, []);
  }
});
