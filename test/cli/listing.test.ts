/** Lists that are too long for memory or for a screen. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toPhone } from '../../src/domain/application/phone.ts';
import { MESSAGE_STATUSES } from '../../src/domain/message/notify.ts';
import { testDatabase } from '../support/database.ts';
import { setMessages } from '../support/messages.ts';
import { applicant, commandLine, IN_REVIEW, registrarOf } from './harness.ts';

const store = await testDatabase();
const { run, json } = commandLine(store);
const register = await registrarOf(store);
const ids = (list: { id: number }[]) => list.map(({ id }) => id);

test('a list of 2,500 is complete for programs and short for people', async () => {
  await json('partner', 'add', '--name', 'Bolt', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', '1');
  const people = Array.from({ length: 2_500 }, (_, n) =>
    applicant({ phone: toPhone(`+57${3_100_000_000 + n}`) }),
  );
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

test('the list of applications in review is complete, also for one partner', async () => {
  const { id: partner } = await json('partner', 'add', '--name', 'Queue', '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  const people = Array.from({ length: 1_100 }, (_, n) =>
    applicant({ ...IN_REVIEW, phone: toPhone(`+57${3_200_000_000 + n}`) }),
  );
  const made = await register(key, people);
  const [last] = await register(1, [applicant({ ...IN_REVIEW, phone: toPhone('+573209999999') })]);
  const newestFirst = made.toSorted((a, b) => b - a);
  assert.deepEqual(ids(await json('application', 'list', '--status', 'in_review')), [last, ...newestFirst]);
  const [first, ...others] = newestFirst;
  await json('application', 'approve', `${first}`, '--reason', 'papers seen');
  const queue = await json('application', 'list', '--status', 'in_review', '--partner', `${partner}`);
  assert.deepEqual(ids(queue), others);
});

test('messages in any state are found among all others', async () => {
  const { rows } = await store.database.query(
    'SELECT application_id::integer AS id FROM messages ORDER BY id',
  );
  const all: number[] = rows.map(({ id }) => id);
  await setMessages(store.database, all, { status: 'read' });
  const some = new Set([all[0], all[7], all.at(-1)]);
  for (const status of MESSAGE_STATUSES.filter((other) => other !== 'read')) {
    await setMessages(store.database, [...some], { status });
    const found = await json('message', 'list', '--status', status);
    const expected = all.filter((id) => some.has(id)).toReversed();
    assert.deepEqual(
      found.map((message: { application_id: number; status: string }) => [
        message.application_id,
        message.status,
      ]),
      expected.map((id) => [id, status]),
    );
    const others = await json('message', 'list', '--status', 'read');
    assert.equal(others.length, all.length - some.size);
  }
  assert.deepEqual(await json('message', 'list', '--status', 'sent', '--limit', '2'), []);
});
