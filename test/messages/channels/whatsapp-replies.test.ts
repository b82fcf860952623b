/** Replies through WhatsApp's API: their JSON, their limits, and what answers mean (docs/messages.md, "Replies"). */
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import type { WhatsAppConfig } from '../../../src/app/config/config.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { toApplicationId } from '../../../src/domain/application/ids.ts';
import { parseCallback } from '../../../src/domain/message/outgoing-message.ts';
import {
  formatReplyCallback,
  type OutgoingReply,
  parseReplyCallback,
  type ReplyBody,
  replyFaults,
  toReplyId,
} from '../../../src/domain/message/reply.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { machineClock } from '../../../src/ground/base/clock.ts';
import { whatsappChannel } from '../../../src/subjects/messages/channels/whatsapp.ts';
import { eventually } from '../../support/eventually.ts';
import { startHostileServer, TOO_SLOW } from '../../support/hostile-answers.ts';
import { TestClock } from '../../support/test-clock.ts';
import { errorAnswer, startWhatsAppApi } from '../../support/whatsapp-api.ts';

const api = await startWhatsAppApi();
after(() => api.close());

const settings = readConfig(api.environment).whatsapp as WhatsAppConfig;
const LIMITS = { timeoutMs: 20_000, maxAnswerBytes: 1_000, idleMs: 4_000 };
const never = new AbortController().signal;
const channel = whatsappChannel(settings, machineClock, LIMITS);
const PHONE = '+573229876541';

let serial = 0;
function aReply(body: Partial<ReplyBody> = {}): OutgoingReply {
  const replyId = toReplyId(`${++serial}`);
  const applicationId = toApplicationId(4_711);
  const addressee = { replyId, applicationId, attempt: 1, phone: toPhone(PHONE) };
  return { ...addressee, text: 'Hola', buttons: [], callback: formatReplyCallback(replyId, 1), ...body };
}
const taken = ({ callback }: OutgoingReply) => api.accepted.get(callback)?.[0];

beforeEach(() => {
  api.faults.length = 0;
  api.readMarks.length = 0;
  api.wrote.add(PHONE);
});

const YES = { title: 'Sí, sigo', payload: 'c.4711.data_consent.n.yes' };
const NO = { title: 'No', payload: 'c.4711.data_consent.n.no' };
const CONTRACT = { mediaId: '1013859600285441', filename: 'contrato.pdf' };
const ROWS = [
  { title: 'Nómina', payload: 'c.1.a', description: 'De los últimos tres meses' },
  { title: 'Extractos', payload: 'c.1.b' },
];

describe('the JSON of a reply', () => {
  const button = (reply: object) => ({ type: 'reply', reply });
  const buttons = [
    button({ id: YES.payload, title: YES.title }),
    button({ id: NO.payload, title: NO.title }),
  ];
  const document = { id: CONTRACT.mediaId, filename: CONTRACT.filename };
  const FORMS: Readonly<Record<string, [body: Partial<ReplyBody>, part: object]>> = {
    'a text': [{}, { type: 'text', text: { body: 'Hola', preview_url: false } }],
    'a text with buttons': [
      { buttons: [YES, NO] },
      { type: 'interactive', interactive: { type: 'button', body: { text: 'Hola' }, action: { buttons } } },
    ],
    'buttons under a document': [
      { buttons: [YES, NO], document: CONTRACT },
      {
        type: 'interactive',
        interactive: {
          ...{ type: 'button', header: { type: 'document', document } },
          ...{ body: { text: 'Hola' }, action: { buttons } },
        },
      },
    ],
    'a list': [
      { list: { button: 'Elegir', rows: ROWS } },
      {
        type: 'interactive',
        interactive: {
          type: 'list',
          body: { text: 'Hola' },
          action: {
            button: 'Elegir',
            sections: [
              {
                rows: [
                  { id: 'c.1.a', title: 'Nómina', description: 'De los últimos tres meses' },
                  { id: 'c.1.b', title: 'Extractos' },
                ],
              },
            ],
          },
        },
      },
    ],
    'a document with a caption': [
      { document: CONTRACT },
      { type: 'document', document: { ...document, caption: 'Hola' } },
    ],
  };
  for (const [name, [body, part]] of Object.entries(FORMS)) {
    it(`${name} has the form of the API, and returns its id`, async () => {
      const reply = aReply(body);
      const result = await channel.sendReply(reply, never);
      assert.deepEqual(result, { kind: 'accepted', channelMessageId: taken(reply)?.id });
      assert.deepEqual(taken(reply)?.message, {
        ...{ messaging_product: 'whatsapp', recipient_type: 'individual', to: PHONE },
        ...part,
        biz_opaque_callback_data: reply.callback,
      });
    });
  }

  const title = fc.string({ unit: 'grapheme', minLength: 0, maxLength: 26 });
  const choice = fc.record({ title, payload: fc.string({ maxLength: 260 }) });
  const body: fc.Arbitrary<ReplyBody> = fc.record(
    {
      text: fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.constantFrom(1_024, 1_025, 4_096, 4_097).map((n) => 'x'.repeat(n)),
      ),
      buttons: fc.array(choice, { maxLength: 4 }),
      list: fc.record({
        button: title,
        rows: fc.array(
          fc.record({
            title,
            payload: fc.string({ maxLength: 210 }),
            description: fc.string({ maxLength: 80 }),
          }),
          { maxLength: 12 },
        ),
      }),
      document: fc.constant(CONTRACT),
    },
    { requiredKeys: ['text', 'buttons'] },
  );
  const sound = fc.record({
    text: fc.constantFrom('x', 'x'.repeat(1_024)),
    buttons: fc.uniqueArray(fc.constantFrom(YES, NO), { maxLength: 2 }),
  });
  it('a reply without a fault is taken by the API, and one with a fault is never sent', async () => {
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, sound), async (parts) => {
        const reply = aReply(parts);
        const result = await channel.sendReply(reply, never);
        const isSound = replyFaults(parts).length === 0;
        assert.equal(result.kind, isSound ? 'accepted' : 'give_up', JSON.stringify(replyFaults(parts)));
        if (!isSound) assert.deepEqual(result, { kind: 'give_up', reason: 'unsendable' });
        assert.equal(taken(reply) !== undefined, isSound);
        sent += isSound ? 1 : 0;
      }),
      { numRuns: 300 },
    );
    // Half of them are sound by how they are made.
    assert.ok(sent > 50, `${sent} were sent`);
  });

  it('the faults name the field and the limit', () => {
    const CASES: [body: Partial<ReplyBody>, fault: RegExp][] = [
      [{ text: ' ' }, /^text: must not be empty$/],
      [{ text: 'x'.repeat(4_097) }, /^text: at most 4096 characters$/],
      [{ text: 'x'.repeat(1_025), buttons: [YES] }, /^text: at most 1024 characters$/],
      [{ text: 'x'.repeat(1_025), document: CONTRACT }, /^text: at most 1024 characters$/],
      [
        { buttons: [YES, NO, { ...YES, title: 'a', payload: 'a' }, { title: 'b', payload: 'b' }] },
        /^buttons: at most 3$/,
      ],
      [{ buttons: [{ ...YES, title: 'x'.repeat(21) }] }, /^buttons\[0\]\.title: at most 20 characters$/],
      [{ buttons: [{ ...YES, payload: 'x'.repeat(257) }] }, /^buttons\[0\]\.payload: at most 256/],
      [{ buttons: [YES, { ...NO, title: YES.title }] }, /^buttons: each title and each payload/],
      [{ list: { button: 'x'.repeat(21), rows: ROWS } }, /^list\.button: at most 20/],
      [{ list: { button: 'x', rows: [] } }, /^list\.rows: from 1 to 10$/],
      [
        { list: { button: 'x', rows: ROWS }, buttons: [YES] },
        /^list: goes with neither buttons nor a document$/,
      ],
    ];
    for (const [parts, fault] of CASES) {
      const faults = replyFaults({ text: 'Hola', buttons: [], ...parts });
      assert.ok(
        faults.some((text) => fault.test(text)),
        `${fault}: ${faults}`,
      );
    }
  });
});

describe('the answer to a reply', () => {
  it('a closed window, a full phone and a lost answer have the results of their codes', async () => {
    api.wrote.delete(PHONE);
    assert.deepEqual(await channel.sendReply(aReply(), never), { kind: 'give_up', reason: '131047' });
    api.wrote.add(PHONE);
    api.faults.push({ answer: errorAnswer(131056) });
    assert.deepEqual(await channel.sendReply(aReply(), never), {
      ...{ kind: 'pause_recipient', reason: '131056', afterMs: 4_000 },
    });
    api.faults.push({ accept: true, answer: 'close' });
    assert.equal((await channel.sendReply(aReply(), never)).kind, 'uncertain');
    api.faults.push({ answer: { status: 503, headers: { 'Retry-After': '3' } } });
    assert.deepEqual(await channel.sendReply(aReply(), never), {
      ...{ kind: 'retry', reason: 'http_503', afterMs: 3_000 },
    });
  });
});

describe('the read mark', () => {
  it('marks the message as read and shows typing; a channel that fails or hangs holds nothing up for long', async () => {
    await channel.markRead('wamid.in.1', never);
    assert.deepEqual(api.readMarks, ['wamid.in.1']);
    const wrong = whatsappChannel({ ...settings, apiUrl: 'http://127.0.0.1:1' }, machineClock, LIMITS);
    await wrong.markRead('wamid.in.1', never);
    const mute = await startHostileServer(TOO_SLOW['a head that drips']);
    const clock = new TestClock();
    const hasty = whatsappChannel({ ...settings, apiUrl: mute.url }, clock, LIMITS);
    const marking = hasty.markRead('wamid.in.1', never);
    await eventually('the mark', () => mute.requests === 1);
    await clock.advance(1_999);
    assert.equal(clock.timers, 1);
    await clock.advance(1);
    await marking;
  });
});

describe('the callback of a reply', () => {
  it('is read back, and never reads as the callback of another message', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 17n), fc.integer({ min: 1, max: 9_999 }), (id, attempt) => {
        const text = formatReplyCallback(toReplyId(`${id}`), attempt);
        assert.deepEqual(parseReplyCallback(text), { replyId: `${id}`, attempt });
        assert.equal(parseCallback(text), null);
        assert.equal(parseReplyCallback(`${id}.${attempt}`), null);
      }),
    );
  });
});
