/** Lists that are too long for memory or for a screen. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageId } from '../../src/domain/application/ids.ts';
import { MESSAGE_STATUSES, type MessageStatus } from '../../src/domain/message/notify.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { setMessages } from '../support/messages.ts';
import { commandLine } from './harness.ts';

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

test('messages in any state are found among all others, newest application first', async () => {
  // The application that was approved has two messages (D40).
  const { rows: all } = await store.database.query<{ id: MessageId; name: string }>(
    `SELECT message_id::text AS id, concat_ws(' ', application_id, type) AS name FROM messages
    ORDER BY application_id DESC, message_id DESC`,
  );
  const idsOf = (messages: typeof all) => messages.map(({ id }) => id);
  await setMessages(store.database, idsOf(all), { status: 'read' });
  const approved = all.findIndex(({ id, name }) => name.endsWith('approved') && id.length > 15);
  const some = all.filter((_, n) => [0, approved, approved + 1, all.length - 8, all.length - 1].includes(n));
  assert.equal(some.length, 5);
  const listed = async (status: MessageStatus): Promise<string[]> =>
    (await json('message', 'list', '--status', status)).map(
      (message: { application_id: number; type: string }) => `${message.application_id} ${message.type}`,
    );
  for (const status of MESSAGE_STATUSES.filter((other) => other !== 'read')) {
    await setMessages(store.database, idsOf(some), { status });
    assert.deepEqual(
      await listed(status),
      some.map(({ name }) => name),
    );
    assert.equal((await listed('read')).length, all.length - some.length);
  }
  assert.deepEqual(
    (await json('message', 'list')).map((message: { application_id: number; type: string }) => [
      message.application_id,
      message.type,
    ]),
    all.map(({ name }) => [Number(name.split(' ')[0]), name.split(' ')[1]]),
  );
  assert.deepEqual(await json('message', 'list', '--status', 'sent', '--limit', '2'), []);
});
