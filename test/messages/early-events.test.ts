/**
 * A message ends the same way, wherever its record comes among its events, and whether or not the events name the
 * message (docs/messages.md).
 */

import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import fc from 'fast-check';
import { toMessageId } from '../../src/domain/application/ids.ts';
import type { SendFailure } from '../../src/domain/message/channel.ts';
import type { ChannelEvent, ChannelStatus } from '../../src/domain/message/channel-event.ts';
import { formatCallback } from '../../src/domain/message/outgoing-message.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { channelIndexOf, channelUserIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { messageResults } from '../../src/subjects/messages/delivery/records.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { applyEarly } from '../../src/subjects/messages/intake/status-events.ts';
import { PROGRESS } from '../../src/subjects/messages/rules/settle.ts';
import { takeKnownEarly } from '../../src/subjects/messages/sql/early-events.ts';
import { recordSendResults, type SendResultRow } from '../../src/subjects/messages/sql/send-results.ts';
import { EARLY_EVENTS } from '../../src/subjects/messages/sql/tables.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { keeping } from '../support/delivery-context.ts';
import { registrarOf } from '../support/intake.ts';
import { setMessages } from '../support/messages.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);
const [id] = (await register(key, [applicant()])) as [number];
const log = messageResults(keeping({ database, clock: machineClock }));
const AT = new Date('2026-11-20T15:00:00Z');
let serial = 0;

const early = async () =>
  (await database.query('SELECT count(*)::integer AS count FROM early_events')).rows[0].count as number;

async function beginSending(): Promise<string> {
  await setMessages(database, [id], {
    ...{ status: 'sending', attempts: 2, channelMessageId: null, reason: null, dueInMs: 60_000 },
  });
  serial += 1;
  return `wamid.${serial}`;
}

const rowOf = (channelMessageId: string): SendResultRow => ({
  messageId: toMessageId(`${id}`),
  type: 'approved',
  partnerId: toPartnerId(1),
  attempt: 2,
  status: 'accepted',
  channelIndex: channelIndexOf(vault, channelMessageId),
  reason: null,
  afterMs: 0,
  signal: 'alive',
});

const record = (channelMessageId: string) => log.write(rowOf(channelMessageId));

interface Told {
  readonly status: ChannelStatus;
  readonly withCallback: boolean;
}

function eventOf(
  channelMessageId: string,
  { status, withCallback }: Told,
  failure: SendFailure,
): ChannelEvent {
  return {
    kind: 'status',
    channelMessageId,
    callback: withCallback ? formatCallback(toMessageId(`${id}`), 2) : null,
    status,
    at: AT,
    failure: status === 'failed' ? failure : null,
  };
}

const apply = (...events: ChannelEvent[]) => applyChannelEvents({ database, vault }, events);

/** The end, with the id as it was given out; the time of a retry is random. */
async function endOf(channelMessageId: string) {
  const { rows } = await database.query(
    `SELECT status, attempts, tries, reason, channel_message_id
    FROM messages WHERE application_id = $1`,
    [id],
  );
  assert.equal(rows[0].channel_message_id, toBigint(channelIndexOf(vault, channelMessageId)));
  const { channel_message_id: _, ...end } = rows[0];
  return end;
}

const FAILURES: readonly SendFailure[] = [
  { kind: 'retry', reason: '131000' },
  { kind: 'wait', reason: '131049', afterMs: 86_400_000 },
  { kind: 'give_up', reason: '131026' },
  { kind: 'pause_template', reason: '132015' },
  { kind: 'pause_sender', reason: '131042' },
];
const told = fc.record({
  status: fc.constantFrom<ChannelStatus>('sent', 'delivered', 'read', 'failed'),
  withCallback: fc.boolean(),
});
const story = fc.record({
  told: fc.array(told, { minLength: 1, maxLength: 6 }),
  failure: fc.constantFrom(...FAILURES),
  /** The places of the records among the events. */
  records: fc.array(fc.nat(6), { minLength: 1, maxLength: 2 }),
  perDelivery: fc.integer({ min: 1, max: 4 }),
});

/** The end if the record comes first, and then each status once, in the order of progress. */
async function canonical(events: readonly Told[], failure: SendFailure) {
  const channelMessageId = await beginSending();
  await record(channelMessageId);
  const statuses = [...new Set(events.map(({ status }) => status))].sort((a, b) => PROGRESS[a] - PROGRESS[b]);
  for (const status of statuses)
    await apply(eventOf(channelMessageId, { status, withCallback: true }, failure));
  return endOf(channelMessageId);
}

beforeEach(async () => {
  await database.query('DELETE FROM early_events');
});

it('a message ends the same way after any order of record and events, with a callback or without, repeated or not', async () => {
  const run = fc.asyncProperty(story, async ({ told: events, failure, records, perDelivery }) => {
    const expected = await canonical(events, failure);
    const channelMessageId = await beginSending();
    for (let start = 0; start <= events.length; start += perDelivery) {
      for (const place of records) {
        if (Math.min(place, events.length) >= start && Math.min(place, events.length) < start + perDelivery) {
          await record(channelMessageId);
        }
      }
      const delivery = events.slice(start, start + perDelivery);
      await apply(...delivery.map((event) => eventOf(channelMessageId, event, failure)));
    }
    assert.deepEqual(await endOf(channelMessageId), expected);
    assert.equal(await early(), 0, 'nothing is kept of a message that is known');
  });
  await fc.assert(run, { numRuns: 80 });
});

it('a message ends the same way after record and events at the same moment', async () => {
  const run = fc.asyncProperty(story, async ({ told: events, failure }) => {
    const expected = await canonical(events, failure);
    const channelMessageId = await beginSending();
    await Promise.all([
      ...events.map((event) => apply(eventOf(channelMessageId, event, failure))),
      record(channelMessageId),
      record(channelMessageId),
    ]);
    assert.deepEqual(await endOf(channelMessageId), expected);
    assert.equal(await early(), 0);
  });
  await fc.assert(run, { numRuns: 60 });
});

it('an opt-out that comes before the record suppresses the phone when the record comes', async () => {
  const channelMessageId = await beginSending();
  const failure: SendFailure = { kind: 'opted_out', reason: '131050' };
  await apply(eventOf(channelMessageId, { status: 'failed', withCallback: false }, failure));
  await record(channelMessageId);
  assert.equal((await database.query('SELECT FROM suppressions WHERE active')).rowCount, 1);
  assert.equal((await endOf(channelMessageId)).status, 'failed');
});

it('the recipient that an event names before the record is known when the record comes', async () => {
  const channelMessageId = await beginSending();
  const event = eventOf(
    channelMessageId,
    { status: 'sent', withCallback: false },
    FAILURES[0] as SendFailure,
  );
  await apply(event);
  await apply(event, { ...event, recipientUserId: 'CO.early' } as ChannelEvent, event);
  assert.equal(await early(), 1);
  await record(channelMessageId);
  const { rows } = await database.query(
    'SELECT user_index, phone_index IS NOT NULL AS known FROM channel_users',
  );
  assert.deepEqual(rows, [{ user_index: toBigint(channelUserIndexOf(vault, 'CO.early')), known: true }]);
});

it('the upkeep applies an event that a crash left beside the record of its message', async () => {
  const channelMessageId = await beginSending();
  await apply(
    eventOf(channelMessageId, { status: 'delivered', withCallback: false }, FAILURES[0] as SendFailure),
  );
  await recordSendResults(database, [rowOf(channelMessageId)]);
  assert.equal(
    (await endOf(channelMessageId)).status,
    'accepted',
    'the service died before it looked for events',
  );
  await applyEarly(database, (session) => takeKnownEarly(session, null));
  assert.equal((await endOf(channelMessageId)).status, 'delivered');
  assert.equal(await early(), 0);
});

it('events of messages that another service sent are kept for an hour; with a callback of another service they are not kept', async () => {
  const foreign = eventOf(
    'wamid.foreign',
    { status: 'sent', withCallback: false },
    FAILURES[0] as SendFailure,
  );
  await apply(foreign, foreign);
  await apply({ ...foreign, callback: 'of others' } as ChannelEvent);
  assert.equal(await early(), 1);
  await forgetRows(database, EARLY_EVENTS);
  assert.equal(await early(), 1);
  await database.query('UPDATE early_events SET came_ms = elapsed_ms() - 3600000');
  await forgetRows(database, EARLY_EVENTS);
  assert.equal(await early(), 0);
});
