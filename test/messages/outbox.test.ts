/** Untouched messages are in the outbox, a row a batch; operators and workers see each message. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { OutgoingMessage } from '../../src/domain/message/outgoing-message.ts';
import type { PartnerId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { deliverDue } from '../../src/subjects/messages/delivery/turn.ts';
import { cancelMessages } from '../../src/subjects/messages/sql/changes/message-changes.ts';
import {
  changeSelection,
  countSelection,
} from '../../src/subjects/messages/sql/changes/message-selection.ts';
import { countMessages } from '../../src/subjects/messages/sql/message-counts.ts';
import { readMessages } from '../../src/subjects/messages/sql/message-walk.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { deliveryContext } from '../support/delivery-context.ts';
import { besideLock } from '../support/held-lock.ts';
import { registrarOf } from '../support/intake.ts';
import { assertInStep } from '../support/messages.ts';
import { emptyApplications } from '../support/stored-applications.ts';

const store = await testDatabase();
const { database } = store;
const { json } = commandLine(store);
const register = await registrarOf(store);
const keys: { partner: PartnerId; key: number }[] = [];
for (const name of ['Acme', 'Bolt']) {
  const { id: partner } = await json('partner', 'add', '--name', name, '--country', 'CO');
  const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
  keys.push({ partner, key });
}
const [acme, bolt] = keys as [(typeof keys)[0], (typeof keys)[0]];
let serial = 3_100_000_000;

function batch(key: number, count: number): Promise<number[]> {
  const first = serial;
  serial += count;
  return register(
    key,
    Array.from({ length: count }, (_, n) => applicant({ phone: toPhone(`+57${first + n}`) })),
  );
}

beforeEach(async () => {
  await emptyApplications(database);
  // It answered late enough for the whole test: five seconds after an answer few messages may go out.
  await database.query(
    "UPDATE sender SET tokens = 0, refilled_at = now(), credit = 1000, alive_at = now() + interval '1 hour'",
  );
});

const rowsOf = async (table: string): Promise<number> =>
  (await database.query(`SELECT count(*)::integer AS count FROM ${table}`)).rows[0].count;
const queued = async (): Promise<number[]> => {
  const ids: number[] = [];
  for await (const { applicationId, status } of readMessages(database, { status: 'queued' })) {
    assert.equal(status, 'queued');
    ids.push(applicationId);
  }
  return ids;
};

/** Runs a turn of a worker with at most this many messages; gives those that went out. */
async function deliver(messagesPerSecond: number | null): Promise<number[]> {
  const sent: number[] = [];
  const send = async ({ applicationId, callback }: OutgoingMessage) => {
    sent.push(applicationId);
    return { kind: 'accepted', channelMessageId: `wamid.${callback}` } as const;
  };
  const limits = {
    messagesPerSecond,
    pairMs: 0,
    recipientsPerDay: null,
    messagesPerPhone: null,
    rejectionsPerPhone: null,
  };
  const { concluded } = await deliverDue(
    deliveryContext(store, { send }, { limits }),
    new AbortController().signal,
  );
  await concluded;
  return sent.toSorted((a, b) => a - b);
}

it('a batch is one row, and its messages are listed and counted as queued', async () => {
  const ids = [...(await batch(acme.key, 5)), ...(await batch(bolt.key, 3))];
  assert.deepEqual([await rowsOf('outbox'), await rowsOf('message_records')], [2, 0]);
  assert.deepEqual(await queued(), ids.toReversed());
  assert.deepEqual(await countMessages(database), [{ status: 'queued', count: 8 }]);
  const [shown] = await json('message', 'show', `${ids[6]}`);
  assert.deepEqual([shown.application_id, shown.status, shown.attempts], [ids[6], 'queued', 0]);
  assert.equal((await json('application', 'show', `${ids[6]}`)).messages[0].status, 'queued');
  await assertInStep(database);
});

it('a turn takes as many messages as the rate allows, oldest first, and leaves the others of the batch', async () => {
  const ids = [...(await batch(acme.key, 7)), ...(await batch(acme.key, 4))];
  await database.query("UPDATE sender SET refilled_at = now() - interval '1 minute'");
  assert.deepEqual(await deliver(5), ids.slice(0, 5));
  assert.deepEqual(await queued(), ids.slice(5).toReversed());
  await assertInStep(database);
  assert.deepEqual(await deliver(null), ids.slice(5));
  assert.equal(await rowsOf('outbox'), 0);
  assert.deepEqual(await countMessages(database), [{ status: 'accepted', count: 11 }]);
  await assertInStep(database);
});

it('workers at once take different batches', async () => {
  const ids = [
    ...(await batch(acme.key, 100)),
    ...(await batch(acme.key, 100)),
    ...(await batch(acme.key, 100)),
  ];
  const held = `SELECT FROM outbox WHERE batch_id = batch_of(${ids[0]}) FOR UPDATE`;
  const sent = await besideLock(database, held, () => deliver(null));
  assert.deepEqual(sent, ids.slice(100), 'the batches that no other worker has');
  ids.push(...(await batch(acme.key, 100)), ...(await batch(acme.key, 100)));
  sent.push(...(await Promise.all([deliver(null), deliver(null), deliver(null)])).flat());
  sent.push(...(await deliver(null)));
  assert.deepEqual(
    sent.toSorted((a, b) => a - b),
    ids,
  );
  await assertInStep(database);
});

describe('an operator', () => {
  it('cancels one message, and the others of the batch go out', async () => {
    const ids = (await batch(acme.key, 3)) as [number, number, number];
    const [cancelled] = await cancelMessages(database, toApplicationId(ids[1]));
    assert.deepEqual([cancelled?.status, cancelled?.reason], ['cancelled', 'operator']);
    await assertInStep(database);
    assert.deepEqual(await deliver(null), [ids[0], ids[2]]);
    assert.deepEqual(await cancelMessages(database, toApplicationId(ids[1])), []);
  });

  it('cancels all messages of a partner, also those that were put off before', async () => {
    const theirs = await batch(bolt.key, 2);
    const ids = [...(await batch(acme.key, 60)), ...(await batch(acme.key, 60))];
    await database.query("INSERT INTO paused_templates (name, reason) VALUES ('ventanilla_approved', 'x')");
    await database.query("UPDATE sender SET refilled_at = now() - interval '1 minute'");
    await deliver(50);
    await database.query('DELETE FROM paused_templates');
    const all = { status: 'queued', reason: null, partnerId: acme.partner } as const;
    const paused = { ...all, reason: 'template_paused' };
    assert.deepEqual(await countSelection(database, paused), { ready: 48, early: 0, earlyUntil: null });
    assert.deepEqual(await countSelection(database, all), { ready: ids.length, early: 0, earlyUntil: null });
    assert.equal((await queued()).length, ids.length + theirs.length);
    assert.equal((await changeSelection(database, 'cancel', paused)).ready, 48);
    assert.equal((await changeSelection(database, 'cancel', all)).ready, ids.length - 48);
    await assertInStep(database);
    assert.deepEqual(await queued(), theirs.toReversed());
  });
});
