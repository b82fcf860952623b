/** Lists that do not fit into memory or onto a screen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../support/database.ts';
import { applicant, commandLine, registrarOf } from './harness.ts';

const store = await testDatabase();
const { run, json } = commandLine(store);
const register = await registrarOf(store);
const ids = (list: { id: number }[]) => list.map(({ id }) => id);

test('a list of 2,500 is whole for programs and short for people', async () => {
  await json('partner', 'add', '--name', 'Bolt', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', '1');
  const people = Array.from({ length: 2_500 }, (_, n) => applicant({ phone: `+57${3_100_000_000 + n}` }));
  const made = await register(key, people);
  const listed = ids(await json('application', 'list'));
  assert.equal(listed.length, 2_500);
  assert.deepEqual(
    listed,
    [...new Set(listed)].sort((a, b) => b - a),
  );
  const narrowed = ids(await json('application', 'list', '--partner', '1', '--status', 'pending_signature'));
  assert.deepEqual(new Set(narrowed), new Set(made));
  const messages = await json('message', 'list', '--status', 'queued');
  assert.equal(
    new Set(messages.map((m: { application_id: number }) => m.application_id)).size,
    messages.length,
  );
  assert.equal(messages.length, 2_500);
  const [message] = await json('message', 'list', '--application', `${made[0]}`);
  assert.deepEqual([message.application_id, message.type, message.status], [made[0], 'approved', 'queued']);

  const { out } = await run('application', 'list');
  const lines = out.split('\n');
  assert.equal(lines.filter((line) => /^\d/.test(line)).length, 50);
  assert.match(out, /newest 50: --limit N shows N, --json shows all/);
  const few = await run('message', 'list', '--limit', '3');
  assert.equal(few.out.split('\n').filter((line) => /^\d/.test(line)).length, 3);
});
