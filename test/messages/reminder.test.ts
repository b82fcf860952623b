/** The reminder: a template that asks the applicant to go on with the conversation (docs/messages.md, "Reminders"). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { messageIdsOf, toApplicationId, toMessageId } from '../../src/domain/application/ids.ts';
import type { SendResult } from '../../src/domain/message/channel.ts';
import { formatCallback, type OutgoingMessage } from '../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { inTransaction } from '../../src/ground/postgres/database.ts';
import { phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { queueReminders } from '../../src/subjects/messages/sql/changes/turn-changes.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { sessionsOf, testDatabase } from '../support/database.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { registrarOf } from '../support/intake.ts';
import { emptyApplications } from '../support/stored-applications.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json, run } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme Repartos', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const never = new AbortController().signal;

let serial = 3_230_000_000;
async function someone(changes: Parameters<typeof applicant>[0] = {}) {
  const phone = toPhone(`+57${++serial}`);
  const [id] = await register(key, [applicant({ phone, ...IN_REVIEW, ...changes })]);
  return { id: id as number, phone };
}

const remindAll = (...ids: number[]) =>
  inTransaction(sessionsOf(store), (session) => queueReminders(session, ids.map(toApplicationId)));
const remind = async (id: number) => (await remindAll(id)).length === 1;
const reminderOf = (id: number) => messageIdsOf(toApplicationId(id)).at(-1)!;

/** Sends everything that is due. */
async function deliver(
  answer: SendResult = { kind: 'accepted', channelMessageId: 'wamid.x' },
  changes: Parameters<typeof deliveryContext>[2] = {},
): Promise<OutgoingMessage[]> {
  const got: OutgoingMessage[] = [];
  const send = async (message: OutgoingMessage): Promise<SendResult> => {
    got.push(message);
    return answer.kind === 'accepted' ? { ...answer, channelMessageId: `wamid.${message.callback}` } : answer;
  };
  const turn = await deliverDue(deliveryContext(store, { send }, changes), never);
  await turn.concluded;
  return got;
}

async function statusOf(id: number): Promise<string> {
  const { rows } = await database.query('SELECT status, reason FROM messages_of($1)', [[reminderOf(id)]]);
  return rows.map(({ status, reason }) => (reason === null ? status : `${status} ${reason}`)).join();
}

const countOf = async (status: string) =>
  Number(
    (
      await database.query('SELECT coalesce(sum(count), 0) AS n FROM message_counts WHERE status = $1', [
        status,
      ])
    ).rows[0].n,
  );

beforeEach(async () => {
  await emptyApplications(database);
  await database.query('DELETE FROM suppressions');
  await database.query('DELETE FROM recipients');
  await database.query('UPDATE sender SET tokens = 1000, credit = 1000, paused_at = NULL, alive_at = now()');
});

describe('what a reminder is', () => {
  it('goes out as the template ventanilla_reminder, with name and partner, and has the id of its application + 2^55', async () => {
    const { id, phone } = await someone();
    await deliver();
    assert.equal(await remind(id), true);
    const [message] = await deliver();
    assert.equal(message?.messageId, `${BigInt(id) + 2n ** 55n}`);
    assert.deepEqual(
      [message?.type, message?.phone, message?.template, message?.buttons],
      [
        'reminder',
        phone,
        { name: 'ventanilla_reminder', language: 'es', parameters: ['Ana Gómez', 'Acme Repartos'] },
        [],
      ],
    );
    assert.match(message?.text ?? '', /Ana Gómez.*Acme Repartos.*BAJA/);
    assert.equal(await statusOf(id), 'accepted');
    await applyChannelEvents({ database, vault }, [
      {
        ...{
          kind: 'status',
          channelMessageId: `wamid.${message?.callback}`,
          callback: message?.callback ?? null,
        },
        ...{ status: 'read', at: new Date(), failure: null },
      },
    ]);
    assert.equal(await statusOf(id), 'read');
    const { out } = await run('message', 'show', `${id}`);
    assert.match(out, /reminder/);
  });

  it('at most one of an application waits; one that has ended may go out again, and counts its attempts on', async () => {
    const { id } = await someone();
    await deliver();
    assert.deepEqual([await remind(id), await remind(id)], [true, false]);
    assert.equal(await countOf('queued'), 1);
    await deliver();
    assert.equal(await remind(id), true);
    assert.equal(await countOf('queued'), 1);
    await database.query('DELETE FROM recipients');
    const [message] = await deliver();
    assert.equal(message?.callback, formatCallback(toMessageId(reminderOf(id)), 2));
    assert.deepEqual([await countOf('queued'), await statusOf(id)], [0, 'accepted']);
  });

  it('is not queued without consent, without a phone, or for a closed application', async () => {
    const cases = [
      await someone({ messaging_optin: false }),
      await someone({ phone: null }),
      await someone({ ...REJECTED }),
    ];
    for (const { id } of cases) assert.equal(await remind(id), false);
    assert.equal(await remind(999_999), false);
  });
});

describe('reminders of many applications', () => {
  it('are queued together: each once, without those that may not go out', async () => {
    const [first, second, third] = [await someone(), await someone(), await someone({ phone: null })];
    await deliver();
    await remind(first.id);
    const again = await someone();
    await deliver();
    await remind(again.id);
    await deliver();
    const queued = await remindAll(again.id, third.id, second.id, first.id);
    assert.deepEqual(queued.toSorted(), [first.id, second.id, again.id].toSorted());
    assert.equal(await countOf('queued'), 3);
    assert.deepEqual(await remindAll(again.id, second.id, first.id), []);
    assert.deepEqual(await remindAll(), []);
  });
});

describe('what holds a reminder back', () => {
  it('a suppressed phone, and an application that was closed: in its place nothing comes', async () => {
    const [silent, closed] = [await someone(), await someone()];
    await deliver();
    for (const { id } of [silent, closed]) await remind(id);
    await database.query('SELECT add_suppression($1)', [toBigint(phoneIndexOf(vault, silent.phone))]);
    await database.query(
      `INSERT INTO application_states (batch_id, application_id, status) VALUES (batch_of($1), $1, 'rejected')`,
      [closed.id],
    );
    assert.deepEqual(await deliver(), []);
    assert.deepEqual(
      [await statusOf(silent.id), await statusOf(closed.id)],
      ['cancelled suppressed', 'cancelled application_closed'],
    );
    assert.equal(await countOf('queued'), 0);
  });

  it('the limits of its phone (D42): the fourth message of a day is cancelled', async () => {
    const { id } = await someone();
    const limits = {
      ...{ messagesPerSecond: null, pairMs: 0, recipientsPerDay: null, messagesPerPhone: 1 },
      rejectionsPerPhone: 1,
    };
    await deliver(undefined, { limits });
    await remind(id);
    assert.deepEqual(await deliver(undefined, { limits }), []);
    assert.equal(await statusOf(id), 'cancelled recipient_limit');
  });

  it('a reminder and the message after a review do not take the place of each other', async () => {
    const { id } = await someone();
    await deliver();
    await remind(id);
    await run('application', 'approve', `${id}`, '--reason', 'fine');
    // Of two messages to one phone one goes at a time.
    const sent = await deliver();
    await database.query("UPDATE message_records SET due_at = now() WHERE status = 'queued'");
    sent.push(...(await deliver()));
    assert.deepEqual(sent.map(({ type }) => type).toSorted(), ['approved', 'reminder']);
    const later = await someone();
    await deliver();
    await remind(later.id);
    await deliver();
    await run('application', 'approve', `${later.id}`, '--reason', 'fine');
    assert.deepEqual(
      (await deliver()).map(({ type }) => type),
      ['approved'],
    );
  });

  it('a pause of its template alone', async () => {
    const { id } = await someone();
    await deliver();
    await remind(id);
    await deliver({ kind: 'pause_template', reason: '132015' });
    const { rows } = await database.query('SELECT name FROM paused_templates');
    assert.deepEqual(rows, [{ name: 'ventanilla_reminder' }]);
    await run('message', 'resume', '--template', 'ventanilla_reminder');
    assert.equal((await deliver()).length, 1);
    assert.equal(await statusOf(id), 'accepted');
  });
});

describe('what partners hear', () => {
  it('nothing of a reminder that failed (D41): they know no such message', async () => {
    const { id } = await someone();
    await deliver();
    await remind(id);
    await deliver({ kind: 'give_up', reason: '131026' });
    assert.equal(await statusOf(id), 'failed 131026');
    assert.equal(
      (await database.query("SELECT FROM partner_events WHERE type = 'message.failed'")).rowCount,
      0,
    );
  });
});
