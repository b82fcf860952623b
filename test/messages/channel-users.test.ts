/** Persons whose phone the channel does not tell: their taps count, and their opt-outs hold (docs/messages.md). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { interestPayload } from '../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { forgetRows } from '../../src/ground/postgres/forget.ts';
import { channelIndexOf, phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { CHANNEL_USERS } from '../../src/subjects/messages/sql/tables.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { registrarOf } from '../support/intake.ts';
import { setMessages } from '../support/messages.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

const AT = new Date('2026-11-20T15:00:00Z');
const later = (seconds: number) => new Date(AT.getTime() + seconds * 1_000);
const apply = (...events: ChannelEvent[]) => applyChannelEvents({ database, vault }, events);

let serial = 3_300_000_000;

/** An application whose message is `wamid.ID`, its phone, and the channel's id of its applicant. */
async function applicantAtChannel() {
  const phone = `+57${++serial}`;
  const [id] = await register(key, [applicant({ phone: toPhone(phone), ...IN_REVIEW })]);
  const messageId = `wamid.${id}`;
  await setMessages(database, [id as number], {
    status: 'delivered',
    attempts: 1,
    channelMessageId: channelIndexOf(vault, messageId),
  });
  return { id: id as number, phone, messageId, userId: `CO.${serial}` };
}

const isSuppressed = async (phone: string) =>
  (
    await database.query('SELECT FROM suppressions WHERE phone_index = $1 AND active', [
      toBigint(phoneIndexOf(vault, toPhone(phone))),
    ])
  ).rowCount === 1;

type Way = { from?: string | undefined; userId?: string; contextMessageId?: string };

function text(body: string, { from, userId = '', contextMessageId = '' }: Way, at = AT): ChannelEvent {
  return {
    kind: 'text',
    from: from === undefined ? null : toPhone(from),
    userId: userId || null,
    contextMessageId: contextMessageId || null,
    body,
    at,
  };
}

function preference(wants: 'stop' | 'resume', { from, userId = '' }: Way, at = AT): ChannelEvent {
  return {
    kind: 'preference',
    from: from === undefined ? null : toPhone(from),
    userId: userId || null,
    wants,
    at,
  };
}

function tap(id: number, title: string, { from, userId = '', contextMessageId = '' }: Way): ChannelEvent {
  return {
    kind: 'tap',
    payload: interestPayload(toApplicationId(id)),
    title,
    from: from === undefined ? null : toPhone(from),
    userId: userId || null,
    contextMessageId: contextMessageId || null,
    at: AT,
  };
}

/** The status of a message that names its recipient. */
const read = (channelMessageId: string, recipientUserId: string): ChannelEvent => ({
  ...{ kind: 'status', status: 'read', callback: null, failure: null, at: AT },
  ...{ channelMessageId, recipientUserId },
});

describe('an event without a phone', () => {
  it('counts where the message that it answers tells the phone', async () => {
    const { id, phone, messageId } = await applicantAtChannel();
    assert.equal((await apply(tap(id, 'Me interesa', { contextMessageId: messageId }))).interested, 1);
    assert.equal(await isSuppressed(phone), false);
    assert.equal((await apply(text('BAJA', { contextMessageId: messageId }))).suppressed, 1);
    assert.equal(await isSuppressed(phone), true);
  });

  it('counts where a status of a message told whose id it is, also in the same webhook', async () => {
    const one = await applicantAtChannel();
    await apply(read(one.messageId, one.userId));
    assert.equal((await apply(tap(one.id, 'Me interesa', one))).interested, 1);
    const counts = await apply(preference('stop', { userId: one.userId }));
    assert.deepEqual([counts.suppressed, counts.waiting], [1, 0]);
    assert.equal(await isSuppressed(one.phone), true);
    const other = await applicantAtChannel();
    await apply(text('BAJA', { userId: other.userId }), read(other.messageId, other.userId));
    assert.equal(await isSuppressed(other.phone), true);
  });

  it('waits where nothing tells the phone yet, and holds as soon as something does', async () => {
    const { phone, userId, messageId } = await applicantAtChannel();
    const counts = await apply(text('BAJA', { userId }));
    assert.deepEqual([counts.suppressed, counts.waiting, counts.unknown], [0, 1, 0]);
    assert.equal((await apply(text('hola', { userId, contextMessageId: messageId }))).suppressed, 1);
    assert.equal(await isSuppressed(phone), true);
  });

  it('counts where it answers a message older than those that are searched first', async () => {
    const old = await applicantAtChannel();
    // As after the registrations of a year and a half.
    await database.query('UPDATE elapsed SET partitions_end = partitions_end + 700 * partition_width()');
    const counts = await apply(text('BAJA', { contextMessageId: old.messageId }));
    const unnamed = await apply(text('BAJA', { contextMessageId: 'wamid.of-nobody' }));
    await database.query('UPDATE elapsed SET partitions_end = partitions_end - 700 * partition_width()');
    assert.deepEqual([counts.suppressed, counts.unknown, unnamed.unknown], [1, 0, 1]);
    assert.equal(await isSuppressed(old.phone), true);
  });

  it('is counted as unknown where nothing names the person', async () => {
    const counts = await apply(text('BAJA', { contextMessageId: 'wamid.of-nobody' }));
    assert.deepEqual([counts.suppressed, counts.waiting, counts.unknown], [0, 0, 1]);
  });

  it('of another person marks no interest', async () => {
    const { id } = await applicantAtChannel();
    const other = await applicantAtChannel();
    await apply(read(other.messageId, other.userId));
    for (const way of [
      { userId: other.userId },
      { contextMessageId: other.messageId },
      { userId: 'CO.nobody' },
    ]) {
      assert.equal((await apply(tap(id, 'Me interesa', way))).interested, 0);
    }
  });

  it('a stop that was applied late does not overrule an operator again', async () => {
    const { phone, userId, messageId } = await applicantAtChannel();
    await apply(text('BAJA', { userId }));
    await apply(read(messageId, userId));
    await json('suppression', 'remove', phone);
    await database.query('UPDATE channel_users SET heard_ms = -1');
    await database.query('DELETE FROM suppressions');
    await apply(read(messageId, userId));
    assert.equal(await isSuppressed(phone), false);
  });
});

it('the latest wish holds, in whatever way each event names the person, and whenever the channel tells the phone', async () => {
  const wish = fc.record({
    second: fc.nat({ max: 5 }),
    wants: fc.constantFrom('stop', 'resume', 'BAJA'),
    way: fc.constantFrom('phone', 'user', 'message', 'both'),
  });
  const told = fc.record({ told: fc.constantFrom('status', 'text') });
  const run = fc.asyncProperty(
    fc.array(fc.oneof({ weight: 3, arbitrary: wish }, { weight: 1, arbitrary: told }), {
      minLength: 1,
      maxLength: 7,
    }),
    fc.constantFrom('apart', 'together', 'at once'),
    async (steps, how) => {
      const person = await applicantAtChannel();
      const ways: Record<string, Way> = {
        phone: { from: person.phone },
        user: { userId: person.userId },
        message: { contextMessageId: person.messageId, userId: person.userId },
        both: { from: person.phone, userId: person.userId },
      };
      const events = steps.map((step) => {
        if ('told' in step) {
          return step.told === 'status'
            ? read(person.messageId, person.userId)
            : text('gracias', ways.message as Way);
        }
        const { second, wants, way } = step;
        // A setting names no message.
        if (wants === 'BAJA') return text(wants, ways[way] as Way, later(second));
        return preference(wants, ways[way === 'message' ? 'both' : way] as Way, later(second));
      });
      if (how === 'together') await apply(...events);
      else if (how === 'at once') await Promise.all(events.map((event) => apply(event)));
      else for (const event of events) await apply(event);
      await apply(read(person.messageId, person.userId));
      const wishes = steps.flatMap((step) => ('wants' in step ? [step] : []));
      const rank = ({ second, wants }: { second: number; wants: string }) =>
        2 * second + (wants === 'resume' ? 0 : 1);
      const last = wishes.toSorted((left, right) => rank(left) - rank(right)).at(-1);
      assert.equal(await isSuppressed(person.phone), last !== undefined && last.wants !== 'resume');
    },
  );
  await fc.assert(run, { numRuns: 80 });
});

it('a person of whom the channel tells nothing for a year is forgotten, and no earlier (D39)', async () => {
  await database.query('DELETE FROM channel_users');
  const { userId, messageId } = await applicantAtChannel();
  await apply(read(messageId, userId), text('BAJA', { userId: 'CO.stranger' }));
  const count = async () => (await database.query('SELECT FROM channel_users')).rowCount;
  await database.query('UPDATE elapsed SET ms = ms + 364 * 86400000::bigint');
  await forgetRows(database, CHANNEL_USERS);
  assert.equal(await count(), 2);
  // Another word of the person, in time.
  await apply(read(messageId, userId));
  await database.query('UPDATE elapsed SET ms = ms + 2 * 86400000::bigint');
  await forgetRows(database, CHANNEL_USERS);
  assert.equal(await count(), 1);
  await apply(text('BAJA', { userId }));
  assert.equal((await apply(text('hola', { userId }))).waiting, 0);
});
