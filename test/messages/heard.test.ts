/** What the listeners at the channel get (`Service.hear`), and when the channel gets its answer. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { ChannelEvent, Heard, TextEvent } from '../../src/domain/message/channel-event.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { channelIndexOf, channelUserIndexOf, phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { ChannelEventIntake } from '../../src/subjects/messages/intake/channel-event-intake.ts';
import { applyChannelEvents } from '../../src/subjects/messages/intake/channel-events.ts';
import { commandLine } from '../cli/harness.ts';
import { applicant, IN_REVIEW } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { registrarOf } from '../support/intake.ts';
import { setMessages } from '../support/messages.ts';

const store = await testDatabase();
const { database, vault } = store;
const { json } = commandLine(store);
const register = await registrarOf(store);
const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');
const { id: key } = await json('key', 'issue', '--partner', `${partner}`);

let heard: Heard[] = [];
const hear = async (some: readonly Heard[]) => void heard.push(...some);
const apply = (...events: ChannelEvent[]) => applyChannelEvents({ database, vault, hear }, events);

const AT = new Date('2026-11-20T15:00:00Z');
const PHONE = toPhone('+573245550101');
const said = (body: string, changes: Partial<TextEvent> = {}): TextEvent => ({
  ...{ kind: 'text', messageId: `wamid.${body}`, from: PHONE, body, at: AT },
  ...changes,
});

beforeEach(() => {
  heard = [];
});

describe('what a listener hears', () => {
  it('every message of a person, in its order, with the indexes of message, phone, person and context', async () => {
    const common = { from: PHONE, userId: 'CO.1', contextMessageId: 'wamid.out', at: AT };
    const events: ChannelEvent[] = [
      said('one'),
      { kind: 'tap', messageId: 'wamid.two', payload: 'c.1.x', title: 'Sí', ...common },
      {
        ...{
          kind: 'file',
          messageId: 'wamid.three',
          media: 'image',
          mediaId: '17',
          claimedType: 'image/jpeg',
        },
        ...{ claimedSha256: null, filename: null, caption: null, ...common },
      },
      { kind: 'other', messageId: null, what: 'location', ...common },
    ];
    await apply(...events);
    assert.deepEqual(
      heard.map(({ event }) => event),
      events,
    );
    assert.deepEqual(
      heard.map(({ messageIndex }) => messageIndex),
      ['wamid.one', 'wamid.two', 'wamid.three', null].map((id) => id && channelIndexOf(vault, id)),
    );
    const { event: _, messageIndex: __, ...facts } = heard[1]!;
    assert.deepEqual(facts, {
      phoneIndex: phoneIndexOf(vault, PHONE),
      userIndex: channelUserIndexOf(vault, 'CO.1'),
      contextIndex: channelIndexOf(vault, 'wamid.out'),
      optsOut: false,
    });
  });

  it('nothing of statuses and of settings', async () => {
    await apply(
      {
        ...{ kind: 'status', channelMessageId: 'wamid.9', callback: null, status: 'read' },
        ...{ at: AT, failure: null },
      },
      { kind: 'preference', from: PHONE, wants: 'resume', at: AT },
    );
    assert.deepEqual(heard, []);
  });

  it('a person without a phone whom the answered message, an earlier event or nothing at all tells', async () => {
    const [id] = await register(key, [applicant({ phone: toPhone('+573245550102'), ...IN_REVIEW })]);
    const index = channelIndexOf(vault, 'wamid.offer');
    await setMessages(database, [id as number], { status: 'accepted', attempts: 1, channelMessageId: index });
    await apply(said('known', { userId: 'CO.2' }));
    heard = [];
    const nameless = { from: null, userId: 'CO.2' };
    await apply(
      said('by context', { from: null, userId: null, contextMessageId: 'wamid.offer' }),
      said('by id', nameless),
      said('by nothing', { from: null, userId: 'CO.3' }),
    );
    assert.deepEqual(
      heard.map(({ phoneIndex }) => phoneIndex),
      [phoneIndexOf(vault, toPhone('+573245550102')), phoneIndexOf(vault, PHONE), null],
    );
  });

  it('an opt-out, of which the suppression is committed by then', async () => {
    const phone = toPhone('+573245550103');
    const seen: unknown[] = [];
    const look = async (some: readonly Heard[]) => {
      const { rowCount } = await database.query(
        'SELECT FROM suppressions WHERE phone_index = $1 AND active',
        [toBigint(phoneIndexOf(vault, phone))],
      );
      seen.push(...some.map(({ optsOut }) => optsOut), rowCount);
    };
    await applyChannelEvents({ database, vault, hear: look }, [said('BAJA', { from: phone })]);
    assert.deepEqual(seen, [true, 1]);
  });
});

describe('a listener that fails', () => {
  it('fails the webhook, so that the channel sends it again; what was applied before stays', async () => {
    const phone = toPhone('+573245550104');
    const failing = {
      database,
      vault,
      clock: machineClock,
      hear: () => Promise.reject(new Error('no connection')),
    };
    await assert.rejects(applyChannelEvents(failing, [said('BAJA', { from: phone })]), /no connection/);
    const { rowCount } = await database.query('SELECT FROM suppressions WHERE phone_index = $1 AND active', [
      toBigint(phoneIndexOf(vault, phone)),
    ]);
    assert.equal(rowCount, 1);
    await assert.rejects(new ChannelEventIntake(failing).apply([said('hola')]), /no connection/);
  });

  it('is tried once more with the same webhook, and what it hears comes again', async () => {
    let tries = 0;
    const context = {
      database,
      vault,
      clock: machineClock,
      hear: async (some: readonly Heard[]) => {
        tries += 1;
        if (tries === 1) throw new Error('the session ended');
        await hear(some);
      },
    };
    await new ChannelEventIntake(context).apply([said('again')]);
    assert.deepEqual([tries, heard.length], [2, 1]);
  });
});

describe('several webhooks at once', () => {
  it('are heard together, and each is answered when all is committed', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const calls: number[] = [];
    const context = {
      database,
      vault,
      clock: machineClock,
      hear: async (some: readonly Heard[]) => {
        calls.push(some.length);
        await held;
      },
    };
    const intake = new ChannelEventIntake(context);
    let answered = 0;
    const webhooks = Array.from({ length: 20 }, (_, index) =>
      intake.apply([said(`at once ${index}`)]).then(() => {
        answered += 1;
      }),
    );
    await eventually('the first group', async () => calls.length > 0);
    assert.equal(answered, 0);
    release();
    await Promise.all(webhooks);
    assert.equal(
      calls.reduce((sum, count) => sum + count, 0),
      20,
    );
    assert.ok(calls.length < 20, `${calls.length} calls`);
  });
});
