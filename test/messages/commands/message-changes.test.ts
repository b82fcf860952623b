/** `ventanilla message retry` and `cancel` of all messages that fit (docs/messages.md, "Uncertain messages"). */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { MESSAGE_STATUSES, type MessageStatus } from '../../../src/domain/message/notify.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { commandLine } from '../../cli/harness.ts';
import { applicant } from '../../support/applicant.ts';
import { testDatabase } from '../../support/database.ts';
import { registrarOf } from '../../support/intake.ts';
import { setMessages } from '../../support/messages.ts';

const store = await testDatabase();
const { database } = store;
const { run, json } = commandLine(store);
const register = await registrarOf(store);
const partners: number[] = [];
const ids: number[] = [];
for (const [index, name] of ['Acme', 'Bolt'].entries()) {
  const { id: partner } = await json('partner', 'add', '--name', name, '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  partners.push(partner);
  const applicants = MESSAGE_STATUSES.flatMap((_, place) =>
    [0, 1, 2].map((copy) =>
      applicant({ phone: toPhone(`+57300${1_000_000 + index * 1_000 + place * 10 + copy}`) }),
    ),
  );
  ids.push(...(await register(key, applicants)));
}

/**
 * Each partner has three messages in each state: two with the reason `http_500`, of which the second is due in an hour,
 * and one with `131026`.
 */
beforeEach(async () => {
  const states = ids.map((_, index) => MESSAGE_STATUSES[Math.floor(index / 3) % MESSAGE_STATUSES.length]);
  for (const [index, id] of ids.entries()) {
    await setMessages(database, [id], {
      status: states[index] as MessageStatus,
      dueInMs: index % 3 === 1 ? 3_600_000 : -60_000,
      reason: index % 3 === 2 ? '131026' : 'http_500',
    });
  }
});

async function counts(): Promise<Partial<Record<MessageStatus, number>>> {
  const { rows } = await database.query<{ status: MessageStatus; count: number }>(
    'SELECT status, count(*)::integer AS count FROM messages GROUP BY status',
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

const CASES: readonly (readonly [args: string[], by: Record<string, number>, early: number])[] = [
  [['retry', '--all'], { failed: 6, uncertain: 4 }, 2],
  [['retry', '--status', 'failed'], { failed: 6 }, 0],
  [['retry', '--status', 'uncertain'], { uncertain: 4 }, 2],
  [['retry', '--reason', '131026'], { failed: 2, uncertain: 2 }, 0],
  [['retry', '--status', 'uncertain', '--reason', 'http_500'], { uncertain: 2 }, 2],
  [['retry', '--partner', `${partners[0]}`], { failed: 3, uncertain: 2 }, 1],
  [['retry', '--partner', `${partners[1]}`, '--status', 'failed', '--reason', 'http_500'], { failed: 2 }, 0],
  [['retry', '--reason', 'nothing'], {}, 0],
  [['cancel', '--all'], { queued: 6, uncertain: 4 }, 2],
  [['cancel', '--status', 'queued', '--partner', `${partners[1]}`], { queued: 3 }, 0],
  [['cancel', '--reason', 'http_500'], { queued: 4, uncertain: 2 }, 2],
];
for (const [args, by, early] of CASES) {
  test(`message ${args.join(' ')}: counts first, then changes the messages that fit and no others`, async () => {
    const before = await counts();
    const total = Object.values(by).reduce((sum, count) => sum + count, 0);
    const looked = await json('message', ...args);
    assert.deepEqual(
      [looked.changed, looked.messages, looked.by_status, looked.too_early],
      [false, total, early > 0 && by.uncertain === undefined ? { ...by, uncertain: 0 } : by, early],
    );
    assert.equal(looked.until !== null, early > 0);
    assert.deepEqual(await counts(), before);

    const done = await json('message', ...args, '--yes');
    assert.deepEqual({ ...done, changed: false }, looked);
    assert.equal(done.changed, true);
    const expected = { ...before };
    const to = args[0] === 'retry' ? 'queued' : 'cancelled';
    for (const [status, count] of Object.entries(by) as [MessageStatus, number][]) {
      expected[status] = (expected[status] ?? 0) - count;
      expected[to] = (expected[to] ?? 0) + count;
    }
    for (const status of MESSAGE_STATUSES) if (expected[status] === 0) delete expected[status];
    assert.deepEqual(await counts(), expected);
    // A cancelled message stays so. A message that was retried may be cancelled, but not retried again.
    assert.equal((await json('message', ...args, '--yes')).messages, 0);
  });
}

test('the text says how many messages changed, how many did not, and how to go on', async () => {
  const { out, code } = await run('message', 'retry', '--all');
  assert.equal(code, 0);
  assert.match(out, /^10 would be sent once more: 6 failed, 4 uncertain\.$/m);
  assert.match(
    out,
    /^2 uncertain not changed: the channel may still settle them, the last one until [\d-]+ [\d:]+Z\.$/m,
  );
  assert.match(out, /Add --yes/);
  assert.match(
    (await run('message', 'cancel', '--all', '--yes')).out,
    /^10 are cancelled: 6 queued, 4 uncertain\.$/m,
  );
  assert.equal((await run('message', 'cancel', '--status', 'queued')).out, 'No message fits.\n');
});

test('a retried message has all its tries again and is due at once', async () => {
  await json('message', 'retry', '--status', 'failed', '--yes');
  const { rows } = await database.query(
    "SELECT count(*)::integer AS count FROM messages WHERE reason = 'operator' AND tries = 0 AND due_at <= now()",
  );
  assert.equal(rows[0].count, 6);
});

const REFUSED: readonly (readonly [args: string[], code: number, message: RegExp])[] = [
  [['retry'], 2, /takes an application's id, or --status, --reason, --partner or --all/],
  [['cancel', '--yes'], 2, /takes an application's id, or --status/],
  [['retry', '17', '--all'], 2, /either an application's id or --all/],
  [['retry', '17', '--yes'], 2, /either an application's id or --all/],
  [['cancel', '--all', '--reason', 'x'], 2, /--all goes with no other filter/],
  [['retry', '--status', 'queued'], 2, /must be one of: failed, uncertain/],
  [['cancel', '--status', 'failed'], 2, /must be one of: queued, uncertain/],
  [['cancel', '--partner', 'x'], 2, /must be a whole number/],
  [['cancel', '--partner', '999', '--yes'], 1, /there is no partner 999/],
];
for (const [args, code, message] of REFUSED) {
  test(`refused with ${code}: message ${args.join(' ')}`, async () => {
    const before = await counts();
    const result = await run('message', ...args);
    assert.deepEqual([result.code, result.out], [code, '']);
    assert.match(result.err, message);
    assert.deepEqual(await counts(), before);
  });
}
