/** Applying channel events: statuses, taps, opt-outs (D31; docs/messages.md). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { toApplicationId, toMessageId } from '../../src/domain/application/ids.ts';
import type { SendFailure } from '../../src/domain/message/channel.ts';
import type { ChannelEvent, StatusEvent } from '../../src/domain/message/channel-event.ts';
import { MESSAGE_STATUSES, type MessageStatus } from '../../src/domain/message/notify.ts';
import { formatCallback, interestPayload } from '../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { channelIndexOf, phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { MAX_TRIES } from '../../src/subjects/messages/rules/after-send.ts';
import { resumeSender } from '../../src/subjects/messages/sql/pauses.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { besideLock } from '../support/held-lock.ts';
import { registrarOf } from '../support/intake.ts';
import { setAll, setMessages } from '../support/messages.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

let serial = 3_200_000_000;
const nextPhone = () => `+57${++serial}`;
const AT = new Date('2026-11-20T15:00:00Z');
const later = (seconds: number) => new Date(AT.getTime() + seconds * 1_000);
const apply = (...events: ChannelEvent[]) => applyChannelEvents({ database, vault }, events);

async function application(phone = nextPhone()): Promise<{ id: number; phone: string }> {
  const [id] = await register(key, [applicant({ phone: toPhone(phone), ...IN_REVIEW })]);
  return { id: id as number, phone };
}

interface Initial {
  readonly status: MessageStatus;
  readonly attempts: number;
  readonly channelMessageId: string | null;
}

const indexOf = (channelMessageId: string) => channelIndexOf(vault, channelMessageId);

const setMessage = (id: number, { status, attempts, channelMessageId }: Initial) =>
  setMessages(database, [id], {
    ...{ status, attempts, reason: null, dueInMs: 0 },
    channelMessageId: channelMessageId === null ? null : indexOf(channelMessageId),
  });

async function messageOf(id: number) {
  const { rows } = await database.query(
    `SELECT status, attempts, channel_message_id, reason,
      extract(epoch FROM due_at - changed_at)::float8 AS wait FROM messages WHERE application_id = $1`,
    [id],
  );
  return rows[0];
}

const isSuppressed = async (phone: string) =>
  (
    await database.query('SELECT FROM suppressions WHERE phone_index = $1 AND active', [
      toBigint(phoneIndexOf(vault, toPhone(phone))),
    ])
  ).rowCount === 1;
const isPaused = async () =>
  (await database.query('SELECT FROM sender WHERE paused_at IS NOT NULL')).rowCount === 1;
const pausedTemplates = async () => (await database.query('SELECT name, reason FROM paused_templates')).rows;

const idOf = (application: number, attempt: number) => `wamid.${application}.${attempt}`;
function status(
  id: number,
  attempt: number,
  value: StatusEvent['status'],
  failure: SendFailure | null = null,
): StatusEvent {
  const channelMessageId = idOf(id, attempt);
  const callback = formatCallback(toMessageId(`${id}`), attempt);
  return { kind: 'status', channelMessageId, callback, status: value, at: AT, failure };
}

beforeEach(async () => {
  await database.query('DELETE FROM suppressions');
  await database.query('DELETE FROM paused_templates');
  await resumeSender(database);
});

describe('statuses', () => {
  const FAILURES: readonly SendFailure[] = [
    { kind: 'retry', reason: '131000' },
    { kind: 'wait', reason: '131049', afterMs: 86_400_000 },
    { kind: 'give_up', reason: '131026' },
    { kind: 'opted_out', reason: '131050' },
    { kind: 'pause_template', reason: '132015' },
    { kind: 'pause_sender', reason: '131042' },
  ];

  /** The status events of one attempt. */
  const journey = fc.record({
    told: fc.subarray(['sent', 'delivered', 'read', 'failed'] as const),
    failure: fc.constantFrom(...FAILURES),
    copies: fc.integer({ min: 1, max: 3 }),
    withCallback: fc.boolean(),
  });
  const story = fc.record({
    status: fc.constantFrom(...MESSAGE_STATUSES),
    attempts: fc.constantFrom(1, 2, MAX_TRIES),
    idIsKnown: fc.boolean(),
    current: journey,
    earlier: journey,
  });
  type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

  function eventsOf(id: number, { attempts, idIsKnown, current, earlier }: Story): StatusEvent[] {
    const tell = (attempt: number, { told, failure, copies, withCallback }: Story['current']) =>
      told.flatMap((value) => {
        const event = status(id, attempt, value, value === 'failed' ? failure : null);
        const known = idIsKnown && attempt === attempts;
        return Array<StatusEvent>(copies).fill(known && !withCallback ? { ...event, callback: null } : event);
      });
    return [...tell(attempts, current), ...(attempts > 1 ? tell(attempts - 1, earlier) : [])];
  }

  /** The rule in other words: what is known of the arrival comes first, then the result of the current attempt. */
  function expected({ status, attempts, idIsKnown, current, earlier }: Story): MessageStatus {
    const arrived = [status, ...current.told, ...(attempts > 1 ? earlier.told : [])];
    if (arrived.includes('read')) return 'read';
    if (arrived.includes('delivered')) return 'delivered';
    const closed = ['failed', 'cancelled'].includes(status) || (status === 'queued' && idIsKnown);
    if (closed) return status;
    if (current.told.includes('failed')) {
      const { kind } = current.failure;
      if (kind === 'give_up' || kind === 'opted_out') return 'failed';
      return kind.startsWith('pause') || attempts < MAX_TRIES ? 'queued' : 'failed';
    }
    return current.told.includes('sent') ? 'sent' : status;
  }

  it('shuffled, repeated and interleaved events end as the model says', async () => {
    const messages = await Promise.all([application(), application(), application()]);
    const run = fc.asyncProperty(
      fc.tuple(story, story, story),
      fc.infiniteStream(fc.nat()),
      fc.integer({ min: 1, max: 6 }),
      async (stories, random, perDelivery) => {
        await database.query('DELETE FROM suppressions');
        await setAll(database, MESSAGE_STATUSES, { channelMessageId: null });
        const events: StatusEvent[] = [];
        for (const [index, { id }] of messages.entries()) {
          const told = stories[index] as Story;
          const channelMessageId = told.idIsKnown ? idOf(id, told.attempts) : null;
          await setMessage(id, { status: told.status, attempts: told.attempts, channelMessageId });
          events.push(...eventsOf(id, told));
        }
        const shuffled = events
          .map((event) => ({ event, rank: random.next().value as number }))
          .sort((left, right) => left.rank - right.rank)
          .map(({ event }) => event);
        for (let start = 0; start < shuffled.length; start += perDelivery) {
          await apply(...shuffled.slice(start, start + perDelivery));
        }
        for (const [index, { id, phone }] of messages.entries()) {
          const told = stories[index] as Story;
          const message = await messageOf(id);
          assert.equal(message.status, expected(told));
          assert.equal(message.attempts, told.attempts);
          const refused = events.some(
            ({ channelMessageId, failure }) =>
              failure?.kind === 'opted_out' && channelMessageId.startsWith(`wamid.${id}.`),
          );
          assert.equal(await isSuppressed(phone), refused);
        }
      },
    );
    await fc.assert(run, { numRuns: 60 });
  });

  it('each kind of failure has its effect, and only once', async () => {
    const template = [{ name: 'ventanilla_offer', reason: '132015' }];
    const table: [SendFailure, MessageStatus, [least: number, most: number] | null][] = [
      [{ kind: 'retry', reason: '131000' }, 'queued', [3.9, 8.1]],
      [{ kind: 'retry', reason: '131056', afterMs: 4_000 }, 'queued', [3.9, 4.1]],
      [{ kind: 'wait', reason: '131049', afterMs: 86_400_000 }, 'queued', [86_399, 86_401]],
      [{ kind: 'give_up', reason: '131026' }, 'failed', null],
      [{ kind: 'opted_out', reason: '131050' }, 'failed', null],
      [{ kind: 'pause_template', reason: '132015' }, 'queued', [-0.1, 0.1]],
      [{ kind: 'pause_sender', reason: '131042' }, 'queued', [-0.1, 0.1]],
    ];
    for (const [failure, becomes, wait] of table) {
      const { id, phone } = await application();
      await setMessage(id, { status: 'sent', attempts: 1, channelMessageId: idOf(id, 1) });
      const event = status(id, 1, 'failed', failure);
      const { kind } = failure;
      const { moved, paused } = await apply(event, event);
      assert.deepEqual([moved, paused], [1, kind.startsWith('pause') ? 1 : 0], kind);
      const message = await messageOf(id);
      assert.deepEqual([message.status, message.reason], [becomes, failure.reason], kind);
      if (wait !== null)
        assert.ok(message.wait >= wait[0] && message.wait <= wait[1], `${kind} ${message.wait}`);
      assert.equal(await isSuppressed(phone), kind === 'opted_out', kind);
      assert.equal(await isPaused(), kind === 'pause_sender', kind);
      assert.deepEqual(await pausedTemplates(), kind === 'pause_template' ? template : [], kind);
      // An operator has resumed; the same event must not pause again.
      await resumeSender(database);
      await database.query('DELETE FROM paused_templates');
      assert.equal((await apply(event)).moved, 0, kind);
      assert.deepEqual([await isPaused(), await pausedTemplates()], [false, []], kind);
    }
  });

  it('an event that is delivered several times at the same moment moves its message once', async () => {
    const { id } = await application();
    await setMessage(id, { status: 'sent', attempts: 1, channelMessageId: idOf(id, 1) });
    const event = status(id, 1, 'failed', { kind: 'retry', reason: '131000' });
    const held = `SELECT FROM message_records WHERE message_id = ${id} FOR UPDATE`;
    const all = () => Promise.all(Array.from({ length: 8 }, () => apply(event)));
    const counts = await besideLock(database, held, all, 8);
    assert.equal(
      counts.reduce((sum, { moved }) => sum + moved, 0),
      1,
    );
  });

  it('an early event, and an event after a lost answer, settle the message and give it its id', async () => {
    for (const open of ['sending', 'uncertain', 'queued'] as const) {
      const { id } = await application();
      await setMessage(id, { status: open, attempts: 2, channelMessageId: null });
      await apply(status(id, 2, 'sent'));
      const message = await messageOf(id);
      assert.deepEqual(
        [message.status, message.channel_message_id],
        ['sent', toBigint(indexOf(idOf(id, 2)))],
        open,
      );
    }
  });

  it('an id stays with the message that had it first, whatever callbacks say', async () => {
    const [one, two, three] = [await application(), await application(), await application()];
    for (const { id } of [one, two, three]) {
      await setMessage(id, { status: 'uncertain', attempts: 1, channelMessageId: null });
    }
    await setMessage(one.id, { status: 'accepted', attempts: 1, channelMessageId: 'wamid.same' });
    const event = { ...status(two.id, 1, 'sent'), channelMessageId: 'wamid.same' };
    await apply(event);
    const fresh = { ...event, channelMessageId: 'wamid.fresh' };
    await apply(fresh, { ...fresh, callback: formatCallback(toMessageId(`${three.id}`), 1) });
    assert.equal((await messageOf(one.id)).status, 'sent');
    assert.equal((await messageOf(two.id)).channel_message_id, toBigint(indexOf('wamid.fresh')));
    assert.equal((await messageOf(three.id)).status, 'uncertain');
  });

  it('events of unknown messages change nothing', async () => {
    const foreign = { ...status(1, 1, 'read'), channelMessageId: 'wamid.x', callback: 'a text of others' };
    assert.equal(
      (await apply(foreign, { ...foreign, callback: null }, status(999_999_999, 1, 'read'))).moved,
      0,
    );
  });
});

describe('the tap of "I am interested"', () => {
  const tap = (from: string, payload: string, contextMessageId: string | null = null): ChannelEvent => ({
    kind: 'tap',
    payload,
    title: 'Me interesa',
    contextMessageId,
    from: toPhone(from),
    at: AT,
  });

  it('is recorded once, though taps come twice, one after the other or at the same moment', async () => {
    const { id, phone } = await application();
    const event = tap(phone, interestPayload(toApplicationId(id)));
    const counts = await Promise.all([apply(event, event), apply(event), apply(event)]);
    assert.equal(
      counts.reduce((sum, { interested }) => sum + interested, 0),
      1,
    );
    assert.equal((await apply({ ...event, at: later(60) } as ChannelEvent)).interested, 0);
    const shown = await json('application', 'show', `${id}`);
    assert.equal(shown.interested_at, '2026-11-20T15:00:00.000+00:00');
    assert.equal(shown.status, 'in_review');
    assert.deepEqual(shown.history.slice(1), [
      {
        at: '2026-11-20T15:00:00.000+00:00',
        actor: 'applicant',
        action: 'interested',
        from: 'in_review',
        to: 'in_review',
        way: 'applicant',
        reason: 'tapped "I am interested"',
        reason_code: null,
      },
    ]);
  });

  it('counts only from the phone that the message went to, or on that very message', async () => {
    const mexican = await application('+525512345678');
    const silentPhone = nextPhone();
    const [silent] = await register(key, [
      applicant({ phone: toPhone(silentPhone), messaging_optin: false }),
    ]);
    const other = await application();
    await setMessage(other.id, { status: 'read', attempts: 1, channelMessageId: 'wamid.other' });
    const table: [what: string, event: ChannelEvent, interested: number][] = [
      ['another phone', tap(nextPhone(), interestPayload(toApplicationId(other.id))), 0],
      ['another message', tap(nextPhone(), interestPayload(toApplicationId(other.id)), 'wamid.else'), 0],
      ['another payload', tap(other.phone, `button.2.${other.id}`), 0],
      ['no application', tap(other.phone, interestPayload(toApplicationId(999_999_999))), 0],
      ['no message', tap(silentPhone, interestPayload(toApplicationId(silent as number))), 0],
      ['the double form', tap('+5215512345678', interestPayload(toApplicationId(mexican.id))), 1],
      ['the message itself', tap(nextPhone(), interestPayload(toApplicationId(other.id)), 'wamid.other'), 1],
    ];
    for (const [what, event, interested] of table) {
      assert.equal((await apply(event)).interested, interested, what);
    }
  });
});

describe('consent', () => {
  const write = (from: string, body: string, at = AT): ChannelEvent => ({
    kind: 'text',
    from: toPhone(from),
    body,
    at,
  });
  const prefer = (phone: string, wants: 'stop' | 'resume', at = AT): ChannelEvent => ({
    kind: 'preference',
    from: toPhone(phone),
    wants,
    at,
  });

  // `rules/opt-out-words.test.ts` says which texts are an opt-out.
  for (const [body, stops] of [
    ['BAJA 🙏', true],
    ['¿me pueden dar de baja el interés?', false],
  ] as const) {
    it(`${JSON.stringify(body)} ${stops ? 'suppresses' : 'is only a text'}`, async () => {
      const phone = nextPhone();
      assert.equal((await apply(write(phone, body))).suppressed, stops ? 1 : 0);
      assert.equal(await isSuppressed(phone), stops);
    });
  }

  it('a button with the word suppresses as the word does', async () => {
    const phone = nextPhone();
    await apply({
      kind: 'tap',
      payload: 'button.2.7',
      title: 'Baja',
      contextMessageId: null,
      from: toPhone(phone),
      at: AT,
    });
    assert.ok(await isSuppressed(phone));
  });

  it('a resume lifts an older suppression of the applicant, but not one of an operator', async () => {
    const [byText, bySetting, byOperator, both] = [nextPhone(), nextPhone(), nextPhone(), nextPhone()];
    await apply(write(byText, 'BAJA'), prefer(bySetting, 'stop'), write(both, 'BAJA'));
    for (const phone of [byOperator, both]) await json('suppression', 'add', phone);
    const resume = (at: Date) =>
      [byText, bySetting, byOperator, both].map((phone) => prefer(phone, 'resume', at));
    assert.equal((await apply(...resume(AT))).resumed, 0);
    assert.equal((await apply(...resume(new Date(Date.now() + 60_000)))).resumed, 2);
    assert.deepEqual(await Promise.all([byText, bySetting, byOperator, both].map(isSuppressed)), [
      false,
      false,
      true,
      true,
    ]);
  });

  it('the latest opt-out or resume holds, whatever the order of the events and however often each comes', async () => {
    const wish = fc.record({ second: fc.nat({ max: 5 }), wants: fc.constantFrom('stop', 'resume', 'BAJA') });
    const run = fc.asyncProperty(
      fc.array(wish, { minLength: 1, maxLength: 6 }),
      fc.nat({ max: 6 }),
      fc.boolean(),
      async (wishes, again, together) => {
        const phone = nextPhone();
        const rank = ({ second, wants }: { second: number; wants: string }) =>
          2 * second + (wants === 'resume' ? 0 : 1);
        const sorted = wishes.toSorted((left, right) => rank(left) - rank(right));
        const events = [...wishes, ...wishes.slice(0, again)].map(({ second, wants }) =>
          wants === 'BAJA' ? write(phone, wants, later(second)) : prefer(phone, wants, later(second)),
        );
        if (together) await apply(...events);
        else for (const event of events) await apply(event);
        const stops = sorted.at(-1)?.wants !== 'resume';
        assert.equal(await isSuppressed(phone), stops);
      },
    );
    await fc.assert(run, { numRuns: 60 });
  });
});

it('1000 events take as few statements as one of each kind', async () => {
  const ids = await register(
    key,
    Array.from({ length: 250 }, () => applicant({ phone: toPhone(nextPhone()) })),
  );
  const events = ids.flatMap((id, index): ChannelEvent[] => {
    const phone = `+57${serial - 249 + index}`;
    return [
      status(id, 1, 'delivered'),
      {
        kind: 'tap',
        payload: interestPayload(toApplicationId(id)),
        title: null,
        contextMessageId: null,
        from: toPhone(phone),
        at: AT,
      },
      { kind: 'text', from: toPhone(phone), body: 'BAJA', at: AT },
      { kind: 'preference', from: toPhone(phone), wants: 'resume', at: later(1) },
    ];
  });
  const statements = counting(database);
  const counts = await applyChannelEvents({ database: statements.database, vault }, events);
  assert.deepEqual(
    [counts.moved, counts.interested, counts.suppressed, counts.resumed],
    // A phone that is suppressed and resumed in one call was not suppressed before, and is not now.
    [250, 250, 0, 0],
  );
  assert.ok(statements.count() <= 11, `${statements.count()} statements`);
});

/** The same database, with a count of the statements that go through it. */
function counting(real: Database): { database: Database; count: () => number } {
  let count = 0;
  const counted = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name) {
        const value = Reflect.get(object, name);
        if (typeof value !== 'function') return value;
        return (...values: unknown[]) => {
          if (name === 'query') count += 1;
          const result = value.apply(object, values);
          return name === 'connect' ? result.then(counted) : result;
        };
      },
    });
  return { database: counted(real), count: () => count };
}
