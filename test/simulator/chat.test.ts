/** The chat of the simulator's page over HTTP: replies, what applicants send, codes, and the channel's window. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { afterEach, describe, it } from 'node:test';
import type { ReplyContent } from '../../src/domain/message/reply.ts';
import { type Phone, toPhone } from '../../src/domain/phone/phone.ts';
import { NO_FAULTS } from '../../src/subjects/simulator/faults.ts';
import type { Chat, PhoneReply } from '../../src/subjects/simulator/read-chats.ts';
import { eventually } from '../support/eventually.ts';
import { queueReply, textContent } from '../support/replies.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { simulatorPage } from '../support/simulator.ts';

const service = await testService();
const { database } = service;
const page = await simulatorPage(service);
const { simulator, heard } = page;
const { apiKey } = await service.addPartner();

let last = 0;
/** Registers an applicant with a phone of their own, without a message where `optsIn` is false. */
async function applicant(optsIn = false) {
  last += 1;
  const phone = toPhone(`+57300777${String(last).padStart(4, '0')}`);
  const applications = [anApplication({ phone, name: `Ana ${last}`, messaging_optin: optsIn })];
  const { body } = await post(`${service.url}/PRO`, apiKey, { applications });
  return { id: (body as { results: { id: number }[] }).results[0]!.id, phone };
}

async function chatOf(phone: string): Promise<Chat | undefined> {
  const response = await fetch(`${page.url}/simulator/chats?phone=${encodeURIComponent(phone)}`);
  return ((await response.json()) as { chats: Chat[] }).chats[0];
}

async function act(path: string, body: unknown): Promise<number> {
  return (await post(`${page.url}/simulator/${path}`, '', body)).status;
}

/** Queues a reply and waits until the phone has it. */
async function replied(
  one: { id: number; phone: ReturnType<typeof toPhone> },
  turn: number,
  content: ReplyContent,
) {
  await queueReply(service, one, turn, content);
  return onPhone(one.phone, turn);
}

function onPhone(phone: string, count: number): Promise<PhoneReply> {
  return eventually(`reply ${count} on the phone`, async () => (await chatOf(phone))?.replies[count - 1]);
}

const heardFrom = (phone: string) =>
  heard.filter(({ event }) => event.from === phone).map(({ event }) => event);

async function upload(bytes: Buffer, type: string): Promise<string> {
  const response = await fetch(`${page.url}/simulator/files`, {
    method: 'POST',
    headers: { 'Content-Type': type },
    body: new Uint8Array(bytes),
  });
  assert.equal(response.status, 200);
  return ((await response.json()) as { mediaId: string }).mediaId;
}

afterEach(() => page.setFaults(NO_FAULTS));

describe('replies in the chat', () => {
  it('stand on the phone in the order of their turns, with their buttons, rows and documents', async () => {
    const one = await applicant();
    const bytes = Buffer.from('%PDF-1.7 contract');
    const uploaded = await simulator.uploadMedia({
      bytes,
      contentType: 'application/pdf',
      filename: 'a b.pdf',
    });
    assert.ok(uploaded.kind === 'uploaded');
    const contents = [
      textContent('Which?', { buttons: [{ title: 'Yes', payload: 'c.1' }] }),
      textContent('Choose', {
        list: { button: 'Open', rows: [{ title: 'First', payload: 'r.1', description: 'The first' }] },
      }),
      textContent('Your contract', { document: { mediaId: uploaded.mediaId, filename: 'a b.pdf' } }),
      textContent('Old', { document: { mediaId: 'simulated.gone', filename: 'old.pdf' } }),
    ];
    for (const [index, content] of contents.entries()) await queueReply(service, one, index + 1, content);
    await onPhone(one.phone, 4);
    const chat = await chatOf(one.phone);
    assert.deepEqual(
      chat?.replies.map(({ text, buttons, list, document }) => [text, buttons, list?.rows, document]),
      [
        ['Which?', [{ title: 'Yes', payload: 'c.1' }], undefined, null],
        ['Choose', [], [{ title: 'First', payload: 'r.1', description: 'The first' }], null],
        ['Your contract', [], undefined, { ...contents[2]?.document, isThere: true }],
        ['Old', [], undefined, { ...contents[3]?.document, isThere: false }],
      ],
    );
    assert.equal(chat?.name, `Ana ${last}`);
    const file = await fetch(`${page.url}/simulator/files/${uploaded.mediaId}`);
    assert.deepEqual(
      [file.headers.get('content-type'), Buffer.from(await file.arrayBuffer())],
      ['application/pdf', bytes],
    );
    assert.equal((await fetch(`${page.url}/simulator/files/simulated.gone`)).status, 404);
  });

  it('a button or a row can be tapped at any time and any number of times; another place is refused', async () => {
    const one = await applicant();
    const first = await replied(
      one,
      1,
      textContent('1', {
        buttons: [
          { title: 'Yes', payload: 'yes' },
          { title: 'No', payload: 'no' },
        ],
      }),
    );
    const rows = [{ title: 'A', payload: 'a' }];
    const second = await replied(one, 2, textContent('2', { list: { button: 'Open', rows } }));
    const statuses = [
      await act('choose', { replyId: second.replyId, choice: 0 }),
      await act('choose', { replyId: first.replyId, choice: 1 }),
      await act('choose', { replyId: first.replyId, choice: 1 }),
      await act('choose', { replyId: first.replyId, choice: 2 }),
      await act('choose', { replyId: second.replyId, choice: 1 }),
    ];
    assert.deepEqual(statuses, [200, 200, 200, 404, 404]);
    const events = heardFrom(one.phone);
    assert.deepEqual(
      events.map((event) => event.kind === 'tap' && [event.payload, event.title, event.contextMessageId]),
      [
        ['a', 'A', `simulated.r${second.replyId}.1`],
        ['no', 'No', `simulated.r${first.replyId}.1`],
        ['no', 'No', `simulated.r${first.replyId}.1`],
      ],
    );
    assert.equal(new Set(events.map(({ messageId }) => messageId)).size, 3);
  });

  it('opening a reply marks it as read', async () => {
    const one = await applicant();
    const { replyId } = await replied(one, 1, textContent('Hello'));
    assert.equal(await act('open-reply', { replyId }), 200);
    await eventually('it is read', async () => (await chatOf(one.phone))?.replies[0]?.status === 'read');
  });

  it('an answer marks the message as read, and the phone shows that the service types until the answer', async () => {
    const one = await applicant();
    await act('text', { phone: one.phone, body: 'Hola' });
    const before = await chatOf(one.phone);
    assert.deepEqual([before?.said[0]?.status, before?.isTyping], ['sent', false]);
    const readMessageId = heardFrom(one.phone)[0]?.messageId ?? null;
    await simulator.markRead(readMessageId!);
    const between = await chatOf(one.phone);
    assert.deepEqual([between?.said[0]?.status, between?.isTyping], ['read', true]);
    await replied(one, 1, textContent('Hello', { readMessageId }));
    assert.equal((await chatOf(one.phone))?.isTyping, false);
  });

  it('an open chat has its replies, however many newer ones other phones have', async () => {
    const one = await applicant();
    await replied(one, 1, textContent('Old'));
    const chat = await chatOf(one.phone);
    const response = await fetch(`${page.url}/simulator/chats?chat=${chat?.id}`);
    const { chats } = (await response.json()) as { chats: Chat[] };
    assert.deepEqual(chats.find(({ id }) => id === chat?.id)?.replies.length, 1);
    assert.equal((await fetch(`${page.url}/simulator/chats?chat=1`)).status, 400);
  });
});

describe('what an applicant sends', () => {
  it('texts, files, voices and places are heard, each with an id of its own', async () => {
    const { phone } = await applicant();
    const bytes = Buffer.from('a statement');
    const mediaId = await upload(bytes, 'Application/PDF; charset=x');
    const file = { phone, mediaId, media: 'document', filename: 'mayo.pdf', caption: 'Mayo' };
    assert.equal(await act('text', { phone, body: 'Hola 👋' }), 200);
    assert.equal(await act('file', file), 200);
    assert.equal(await act('file', { ...file, media: 'audio', filename: null, caption: null }), 200);
    assert.equal(await act('other', { phone, what: 'location' }), 200);
    assert.equal(await act('file', { ...file, mediaId: 'simulated.none' }), 404);
    const events = heardFrom(phone);
    const claimed = { claimedType: 'application/pdf', claimedSha256: hash('sha256', bytes, 'hex') };
    const shapes = events.map(({ at: _, messageId: __, from: ___, ...event }) => event);
    assert.deepEqual(shapes, [
      { kind: 'text', body: 'Hola 👋' },
      {
        ...{ kind: 'file', media: 'document', mediaId, filename: 'mayo.pdf', caption: 'Mayo' },
        ...{ ...claimed, contextMessageId: null },
      },
      {
        ...{ kind: 'file', media: 'audio', mediaId, filename: null, caption: null },
        ...{ ...claimed, contextMessageId: null },
      },
      { kind: 'other', what: 'location', contextMessageId: null },
    ]);
    assert.equal(new Set(events.map(({ messageId }) => messageId)).size, 4);
    const fetched = await simulator.fetchMedia(mediaId, { maxBytes: 100 });
    assert.deepEqual(fetched, {
      kind: 'media',
      bytes,
      contentType: 'application/pdf',
      sha256: claimed.claimedSha256,
    });
    assert.deepEqual(await simulator.fetchMedia(mediaId, { maxBytes: 3 }), { kind: 'too_large' });
    const said = (await chatOf(phone))?.said.map((one) => [one.text, one.file?.filename]);
    assert.deepEqual(said?.slice(0, 2), [
      ['Hola 👋', undefined],
      ['Mayo', 'mayo.pdf'],
    ]);
  });

  for (const [what, media, start] of [
    ['fitting', 'document', '%PDF-'],
    ['less', 'document', '%PDF-'],
    ['far_less', 'document', '%PDF-'],
    ['other_person', 'document', '%PDF-'],
    ['locked', 'document', '%PDF-'],
    ['lying', 'document', 'MZ'],
    ['picture', 'image', '\x89PNG'],
    ['voice', 'audio', 'OggS'],
  ] as const) {
    it(`a made-up file, ${what}, is sent as ${media}`, async () => {
      const { phone } = await applicant();
      assert.equal(await act('made-up', { phone, what }), 200);
      const [event] = heardFrom(phone);
      assert.ok(event?.kind === 'file');
      assert.equal(event.media, media);
      assert.equal(event.filename !== null, media === 'document');
      const fetched = await simulator.fetchMedia(event.mediaId, { maxBytes: 1_000_000 });
      assert.ok(fetched.kind === 'media');
      assert.ok(fetched.bytes.toString('latin1').startsWith(start));
      const text = fetched.bytes.toString('latin1');
      assert.equal(/Ana \d/.test(text), ['fitting', 'less', 'far_less', 'locked'].includes(what));
      assert.equal(text.includes('/Encrypt'), what === 'locked');
    });
  }

  it('a phone without an application has no made-up file', async () => {
    assert.equal(await act('made-up', { phone: '+573009990001', what: 'fitting' }), 404);
    assert.equal(await act('made-up', { phone: '+573009990001', what: 'nothing' }), 400);
  });

  it('a phone without an application can write first, and is found', async () => {
    const phone = '+573009990000';
    assert.equal(await act('text', { phone, body: '¿Quién es?' }), 200);
    assert.equal(heardFrom(phone).length, 1);
    const { chats } = (await (await fetch(`${page.url}/simulator/chats`)).json()) as { chats: Chat[] };
    const chat = chats.find((one) => one.phone === phone);
    assert.deepEqual([chat?.name, chat?.said[0]?.text], [null, '¿Quién es?']);
    assert.equal((await chatOf(phone))?.id, chat?.id);
  });

  it('a file that a browser could run is saved and never shown', async () => {
    for (const type of ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'x-a/b']) {
      const mediaId = await upload(Buffer.from('<script>alert(1)</script>'), type);
      const { headers } = await fetch(`${page.url}/simulator/files/${mediaId}`);
      assert.equal(headers.get('content-type'), 'application/octet-stream');
      assert.match(headers.get('content-disposition') ?? '', /^attachment;/);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
    }
  });

  it('another page cannot give files, and an empty file is none', async () => {
    const request = (headers: Record<string, string>, body: string) =>
      fetch(`${page.url}/simulator/files`, { method: 'POST', headers, body });
    assert.equal((await request({ Origin: 'https://evil.example' }, 'x')).status, 403);
    assert.equal((await request({ 'Content-Type': 'image/png' }, '')).status, 400);
  });
});

describe("the channel's 24 hours", () => {
  it('after their end a reply is refused and what the person sends is a day old; they can begin again', async () => {
    const one = await applicant();
    const { phone } = one;
    await act('text', { phone, body: 'first' });
    assert.equal(await act('window', { phone, isOver: true }), 200);
    assert.equal((await chatOf(phone))?.windowIsOver, true);
    await queueReply(service, one, 1);
    const reasonOf = async () => {
      const text = 'SELECT reason FROM replies WHERE application_id = $1';
      return (await database.query<{ reason: string | null }>(text, [one.id])).rows[0]?.reason;
    };
    await eventually('the channel refused it', async () => (await reasonOf()) === 'window_closed');
    await act('text', { phone, body: 'late' });
    await act('window', { phone, isOver: false });
    await act('text', { phone, body: 'now' });
    const [, late, now] = heardFrom(phone);
    assert.ok(now!.at.getTime() - late!.at.getTime() > 24 * 3_600_000);
    await queueReply(service, one, 2);
    await onPhone(phone, 1);
  });
});

describe('codes on the second phone', () => {
  const sendCode = (to: Phone, code: string) =>
    simulator.sendCode(
      { phone: to, code, text: `${code} es tu código`, template: 'code', language: 'es' },
      new AbortController().signal,
    );

  it('the chat has the newest codes of its phone and of no other', async () => {
    const [one, other] = [await applicant(), await applicant()];
    for (const code of ['111111', '222222', '333333', '444444']) {
      assert.equal((await sendCode(one.phone, code)).kind, 'accepted');
    }
    await act('text', { phone: one.phone, body: 'x' });
    await act('text', { phone: other.phone, body: 'x' });
    assert.deepEqual(
      (await chatOf(one.phone))?.codes.map(({ text }) => text),
      ['222222', '333333', '444444'].map((code) => `${code} es tu código`),
    );
    assert.deepEqual((await chatOf(other.phone))?.codes, []);
    page.setFaults({ failShare: 1 });
    assert.equal((await sendCode(one.phone, '555555')).kind, 'retry');
  });
});

describe('faults of the chat', () => {
  it('lost: the service never hears what the person sent, and the phone says so', async () => {
    const { phone } = await applicant();
    page.setFaults({ unheardShare: 1 });
    assert.equal(await act('text', { phone, body: 'Hola' }), 200);
    assert.deepEqual(heardFrom(phone), []);
    assert.equal((await chatOf(phone))?.said[0]?.status, 'unheard');
  });

  it('doubled: the same message is heard twice under one id', async () => {
    const { phone } = await applicant();
    page.setFaults({ doubledShare: 1 });
    await act('text', { phone, body: 'Hola' });
    const [first, second] = heardFrom(phone);
    assert.deepEqual(first, second);
    assert.equal((await chatOf(phone))?.said.length, 1);
  });

  it('overtaken: a later message is heard first, and each keeps its own time', async () => {
    const { phone } = await applicant();
    page.setFaults({ reorderedShare: 1 });
    await act('text', { phone, body: 'first' });
    page.setFaults(NO_FAULTS);
    await act('text', { phone, body: 'second' });
    await eventually('both are heard', () => heardFrom(phone).length === 2);
    const bodies = heardFrom(phone).map((event) => event.kind === 'text' && event.body);
    const sorted = heardFrom(phone).toSorted((left, right) => left.at.getTime() - right.at.getTime());
    assert.deepEqual(
      sorted.map((event) => event.kind === 'text' && event.body),
      ['first', 'second'],
    );
    assert.deepEqual([...bodies].sort(), ['first', 'second']);
  });

  it('vanished: the channel accepts a reply that no phone shows', async () => {
    const one = await applicant();
    page.setFaults({ vanishedShare: 1 });
    await queueReply(service, one, 1);
    const statusOf = async () => {
      const text = 'SELECT status FROM replies WHERE application_id = $1';
      return (await database.query<{ status: string }>(text, [one.id])).rows[0]?.status;
    };
    await eventually('it is accepted', async () => (await statusOf()) === 'accepted');
    page.setFaults(NO_FAULTS);
    await queueReply(service, one, 2);
    const { text, replyId } = await onPhone(one.phone, 1);
    assert.equal(text, 'turn 2');
    assert.equal(await act('open-reply', { replyId: `${BigInt(replyId) - 1n}` }), 404);
    assert.equal(await statusOf(), 'accepted');
  });

  it('gone: a file that was sent is not there any more', async () => {
    const mediaId = await upload(Buffer.from('x'), 'image/png');
    page.setFaults({ goneShare: 1 });
    assert.deepEqual(await simulator.fetchMedia(mediaId, { maxBytes: 9 }), { kind: 'gone' });
  });

  it('a reply whose answer is lost is on the phone and is not sent again', async () => {
    const one = await applicant();
    page.setFaults({ lostShare: 1, doubledShare: 1, reorderedShare: 1 });
    await queueReply(service, one, 1);
    await eventually(
      'it is delivered',
      async () => (await chatOf(one.phone))?.replies[0]?.status === 'delivered',
    );
    const text = 'SELECT attempts FROM replies WHERE application_id = $1';
    assert.deepEqual((await database.query(text, [one.id])).rows, [{ attempts: 1 }]);
  });
});
