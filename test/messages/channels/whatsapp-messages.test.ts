/** Reading what persons send: every message is an event, and none is lost for its type. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ChannelEvent } from '../../../src/domain/message/channel-event.ts';
import {
  contactsOf,
  personOf,
  readWhatsAppEvents,
} from '../../../src/subjects/messages/channels/whatsapp-events.ts';
import {
  type PersonMessage,
  PHONE_NUMBER_ID,
  personWebhook,
  type WebhookBody,
} from '../../support/whatsapp-webhooks.ts';

const AT = new Date('2026-11-20T15:00:00Z');
const SHA256 = 'ab'.repeat(32);

const read = (body: WebhookBody) => readWhatsAppEvents(Buffer.from(JSON.stringify(body)), PHONE_NUMBER_ID);
const readOne = (message: Partial<PersonMessage>) => {
  const sender = { from: '573001234567', userId: 'CO.5', id: 'wamid.in.1', at: AT };
  const { events, ignored } = read(personWebhook({ ...sender, type: 'text', parts: {}, ...message }));
  assert.equal(events.length + ignored, 1);
  return events[0] ?? null;
};
const common = {
  ...{ from: '+573001234567', userId: 'CO.5', messageId: 'wamid.in.1', contextMessageId: null, at: AT },
};

describe("a person's message", () => {
  const CASES: [name: string, message: Partial<PersonMessage>, event: object][] = [
    ['text', { type: 'text', parts: { text: { body: 'Hola' } } }, { kind: 'text', body: 'Hola' }],
    [
      'a button of a template',
      { type: 'button', parts: { button: { payload: 'interested.7', text: 'Me interesa' } } },
      { kind: 'tap', payload: 'interested.7', title: 'Me interesa' },
    ],
    [
      'a button of an interactive message',
      {
        type: 'interactive',
        parts: { interactive: { type: 'button_reply', button_reply: { id: 'c.7', title: 'Sí' } } },
      },
      { kind: 'tap', payload: 'c.7', title: 'Sí' },
    ],
    [
      'a row of a list',
      {
        type: 'interactive',
        parts: {
          interactive: { type: 'list_reply', list_reply: { id: 'c.8', title: 'Nómina', description: 'x' } },
        },
      },
      { kind: 'tap', payload: 'c.8', title: 'Nómina' },
    ],
    [
      'a document',
      {
        type: 'document',
        parts: {
          document: {
            id: '17',
            mime_type: 'application/pdf',
            sha256: SHA256,
            filename: 'a.pdf',
            caption: 'aquí',
          },
        },
      },
      {
        ...{ kind: 'file', media: 'document', mediaId: '17', claimedType: 'application/pdf' },
        ...{ claimedSha256: SHA256, filename: 'a.pdf', caption: 'aquí' },
      },
    ],
    [
      'an image without anything else',
      { type: 'image', parts: { image: { id: '18' } } },
      {
        ...{ kind: 'file', media: 'image', mediaId: '18', claimedType: null },
        ...{ claimedSha256: null, filename: null, caption: null },
      },
    ],
    ['a location', { type: 'location', parts: { location: {} } }, { kind: 'other', what: 'location' }],
    ['a reaction', { type: 'reaction', parts: { reaction: {} } }, { kind: 'other', what: 'reaction' }],
    ['an order', { type: 'order', parts: { order: {} } }, { kind: 'other', what: 'order' }],
    [
      'a form',
      { type: 'interactive', parts: { interactive: { type: 'nfm_reply', nfm_reply: {} } } },
      { kind: 'other', what: 'form' },
    ],
    [
      'an album',
      { type: 'unsupported', parts: { errors: [{ code: 131051 }] } },
      { kind: 'other', what: 'unsupported' },
    ],
    ['a type of tomorrow', { type: 'hologram', parts: {} }, { kind: 'other', what: 'unsupported' }],
    ['a file without an id', { type: 'image', parts: { image: {} } }, { kind: 'other', what: 'unsupported' }],
    ['a text without a text', { type: 'text', parts: {} }, { kind: 'other', what: 'unsupported' }],
  ];
  for (const [name, message, event] of CASES) {
    it(`${name} is read`, () => {
      assert.deepEqual(readOne(message), { ...event, ...common });
    });
  }

  it('names the message that it answers, and comes without a phone where the channel tells only its own id', () => {
    const event = readOne({
      ...{ type: 'text', parts: { text: { body: 'Hola' } }, messageId: 'wamid.out.1' },
      from: undefined as never,
    });
    assert.deepEqual(event, {
      ...{ kind: 'text', body: 'Hola', ...common },
      ...{ from: null, contextMessageId: 'wamid.out.1' },
    });
  });

  it('of nobody, and a message of the channel itself, are no events', () => {
    const nobody = { from: undefined as never, userId: undefined as never };
    assert.equal(readOne({ parts: { text: { body: 'x' } }, ...nobody }), null);
    assert.equal(readOne({ type: 'system', parts: { system: { body: 'changed number' } } }), null);
  });

  it('property: whatever the parts are, a message of a person is exactly one event', () => {
    const type = fc.oneof(
      fc.constantFrom(
        'text',
        'button',
        'interactive',
        'image',
        'document',
        'audio',
        'video',
        'sticker',
        'contacts',
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(type, fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (kind, parts, own) => {
        const event = readOne({ type: kind === 'system' ? 'text' : kind, parts: { ...parts, [kind]: own } });
        const given = new Set(['from', 'id', 'timestamp', 'type', 'context', 'from_user_id']);
        if ([...Object.keys(parts), kind].some((name) => given.has(name))) return;
        assert.ok(event !== null);
        assert.equal(
          (event as Exclude<ChannelEvent, { kind: 'status' | 'preference' }>).messageId,
          'wamid.in.1',
        );
      }),
    );
  });
});

it('each contact of a webhook is read once, however many messages it has', () => {
  let reads = 0;
  const contacts = Array.from({ length: 1_000 }, (_, n) => ({
    get wa_id() {
      reads += 1;
      return `${573_000_000_000 + n}`;
    },
    user_id: `CO.${n}`,
  }));
  const known = contactsOf(contacts);
  for (let n = 0; n < 1_000; n += 1) {
    const phone = `${573_000_000_000 + n}`;
    assert.deepEqual(personOf(phone, undefined, known), { from: `+${phone}`, userId: `CO.${n}` });
    assert.deepEqual(personOf(undefined, `CO.${n}`, known), { from: `+${phone}`, userId: `CO.${n}` });
  }
  assert.equal(reads, 1_000);
});
