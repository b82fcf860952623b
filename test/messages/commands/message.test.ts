/** `ventanilla message`: single messages and pauses. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { MESSAGE_STATUSES, type MessageStatus } from '../../../src/domain/message/notify.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { pauseSender, pauseTemplate } from '../../../src/subjects/messages/sql/pauses.ts';
import { commandLine } from '../../cli/harness.ts';
import { applicant } from '../../support/applicant.ts';
import { testDatabase } from '../../support/database.ts';
import { registrarOf } from '../../support/intake.ts';
import { setMessages } from '../../support/messages.ts';
import { queueReply } from '../../support/replies.ts';

const store = await testDatabase();
const { database } = store;
const { run, json } = commandLine(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const register = await registrarOf(store);
const [id] = (await register(key, [applicant()])).map(String) as [string];

const put = (status: MessageStatus, dueInMinutes: number) =>
  setMessages(database, [Number(id)], { status, dueInMs: dueInMinutes * 60_000, reason: 'timeout' });

beforeEach(async () => {
  await database.query('UPDATE sender SET paused_at = NULL, paused_reason = NULL');
  await database.query('DELETE FROM paused_templates');
});

/** The states from which each command takes a message; an uncertain one only after its UNTIL. */
const TAKES: Readonly<Record<'retry' | 'cancel', { from: MessageStatus; to: MessageStatus }>> = {
  retry: { from: 'failed', to: 'queued' },
  cancel: { from: 'queued', to: 'cancelled' },
};
for (const [command, { from, to }] of Object.entries(TAKES)) {
  for (const status of MESSAGE_STATUSES) {
    // When another one is due changes nothing: `message-changes.test.ts` has some that are due and some that are not.
    for (const dueInMinutes of status === 'uncertain' ? [-1, 5] : [5]) {
      const taken = status === from || (status === 'uncertain' && dueInMinutes < 0);
      test(`${command} of a message that is ${status}, due in ${dueInMinutes} min: ${taken ? to : 'refused'}`, async () => {
        await put(status, dueInMinutes);
        const { code, err } = await run('message', command, id);
        const [after] = await json('message', 'show', id);
        if (taken) {
          assert.deepEqual([code, err, after.status, after.reason], [0, '', to, 'operator']);
        } else {
          assert.deepEqual([code, after.status, after.reason], [1, status, 'timeout']);
          assert.match(
            err,
            new RegExp(`^error: the message of application ${id} is ${status}: it cannot be `),
          );
          assert.equal(/ before \d{4}-/.test(err), status === 'uncertain');
        }
      });
    }
  }
}

test('UNTIL has a time only where the message waits for it', async () => {
  for (const status of MESSAGE_STATUSES) {
    await put(status, 5);
    const waits = status === 'queued' || status === 'uncertain';
    assert.equal((await json('message', 'show', id))[0].until !== null, waits, status);
  }
});

test('count shows pauses and how to end them, and resume ends them', async () => {
  await put('queued', 5);
  await pauseSender(database, '190');
  await pauseTemplate(database, 'ventanilla_offer', '132015');
  const { out } = await run('message', 'count');
  assert.match(out, /^queued +1$/m);
  assert.match(out, /^Paused: sender since [\d-]+ [\d:]+Z, reason 190\.$/m);
  assert.match(out, /^Paused: ventanilla_offer since .* reason 132015\.$/m);
  const { counts, paused } = await json('message', 'count');
  assert.deepEqual(counts, { queued: 1 });
  assert.deepEqual(
    paused.map(({ what, reason }: { what: string; reason: string }) => [what, reason]),
    [
      ['sender', '190'],
      ['ventanilla_offer', '132015'],
    ],
  );
  for (const [, line] of out.matchAll(/npx ventanilla (.+)$/gm)) {
    assert.equal((await run(...(line as string).split(' '))).code, 0, line);
  }
  assert.deepEqual((await json('message', 'count')).paused, []);
});

test('count shows the replies that wait, and since when the oldest does', async () => {
  assert.deepEqual((await json('message', 'count')).replies, { waiting: 0, since: null });
  assert.doesNotMatch((await run('message', 'count')).out, /Replies/);
  for (const turn of [1, 2])
    await queueReply(store, { id: Number(id), phone: toPhone('+573005550199') }, turn);
  await database.query("UPDATE replies SET status = 'read' WHERE turn = 2");
  const { replies } = await json('message', 'count');
  assert.equal(replies.waiting, 1);
  assert.match(replies.since, /^\d{4}-.*\+00:00$/);
  assert.match(
    (await run('message', 'count')).out,
    /^Replies that wait: 1, the oldest since [\d-]+ [\d:]+Z\.$/m,
  );
});

const REFUSED: readonly (readonly [args: string[], code: number, message: RegExp])[] = [
  [['resume'], 2, /takes either --template NAME or --sender/],
  [['resume', '--sender', '--template', 'x'], 2, /takes either --template NAME or --sender/],
  [['resume', '--sender'], 1, /the sender is not paused/],
  [['resume', '--template', 'x'], 1, /template x is not paused/],
  [['show', '999'], 1, /application 999 has no message/],
  [['retry', '999'], 1, /application 999 has no message/],
  [['cancel', 'x'], 2, /must be a whole number/],
  [['list', '--status', 'gone'], 2, /must be one of: queued, sending/],
];
for (const [args, code, message] of REFUSED) {
  test(`refused with ${code}: message ${args.join(' ')}`, async () => {
    const result = await run('message', ...args);
    assert.deepEqual([result.code, result.out], [code, '']);
    assert.match(result.err, message);
  });
}
