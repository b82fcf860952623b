/** The simulator's page over HTTP: chats, taps, texts, faults and refusals. */
import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { contactWindows } from '../../src/domain/message/contact-window.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { reviewApplication } from '../../src/subjects/applications/uses/applications.ts';
import { countOfStatus } from '../../src/subjects/messages/sql/message-counts.ts';
import { showApplication } from '../../src/subjects/messages/uses/explained-application.ts';
import { NO_FAULTS, type SimulatorFaults } from '../../src/subjects/simulator/faults.ts';
import type { Chat, PhoneMessage } from '../../src/subjects/simulator/read-chats.ts';
import { countAbsentMessages } from '../../src/subjects/simulator/read-chats.ts';
import { exchange } from '../gate/raw.ts';
import { IN_REVIEW, REJECTED } from '../support/applicant.ts';
import { eventually } from '../support/eventually.ts';
import { makeDue, setMessages } from '../support/messages.ts';
import { anApplication, post, testService } from '../support/service.ts';
import { HURRY, simulatorPage } from '../support/simulator.ts';

const service = await testService();
const { database, vault } = service;
const CLOSED = {
  sunday: [],
  monday: [],
  tuesday: [],
  wednesday: [],
  thursday: [],
  friday: [],
  saturday: [],
};
/** No message goes out to Peru at any hour. */
const NEVER_IN_PERU = contactWindows(
  {
    PE: {
      zones: ['America/Lima'],
      hours: CLOSED,
      closed_on_public_holidays: false,
      closed_dates: [],
      open_dates: {},
      message_types: ['approved', 'offer', 'rejected'],
    },
  },
  () => new Set(),
);
const page = await simulatorPage(service, NEVER_IN_PERU);
const { apiKey } = await service.addPartner();

interface Answer {
  readonly chats: readonly Chat[];
  readonly absent: readonly { status: string; reason: string | null; count: number }[];
}

async function register(changes: Record<string, unknown> = {}): Promise<number> {
  const applications = [anApplication(changes)];
  const { body } = await post(`${service.url}/PRO`, apiKey, { applications });
  return (body as { results: { id: number }[] }).results[0]?.id as number;
}

async function readChats(): Promise<Answer> {
  return (await (await fetch(`${page.url}/simulator/chats`)).json()) as Answer;
}

/** Waits until an application's message has the status; resolves to the chat and the message. */
function arrived(id: number, status = 'delivered'): Promise<{ chat: Chat; message: PhoneMessage }> {
  return eventually(`application ${id} is ${status}`, async () => {
    const { chats } = await readChats();
    for (const chat of chats) {
      const message = chat.messages.find(({ applicationId }) => applicationId === id);
      if (message?.status === status) return { chat, message };
    }
    return undefined;
  });
}

async function act(path: string, body: unknown): Promise<number> {
  return (await post(`${page.url}/simulator/${path}`, '', body)).status;
}

async function stateOf(id: number) {
  const text = 'SELECT status, attempts, reason FROM messages WHERE application_id = $1';
  return (await database.query(text, [id])).rows[0] as { status: string; attempts: number; reason: string };
}

async function interestOf(id: number) {
  const { history } = await showApplication(
    { database, vault, clock: machineClock, actor: 'test' },
    toApplicationId(id),
  );
  return history.filter(({ action }) => action === 'interested');
}

async function suppressions(): Promise<number> {
  return (await database.query('SELECT count(*)::integer AS n FROM suppressions WHERE active')).rows[0].n;
}

afterEach(() => page.setFaults(NO_FAULTS));

describe('the simulator', () => {
  it('shows each phone as a chat with the co-branded message, and answers 304 where nothing is new', async () => {
    const id = await register({ name: 'Inés Peña', phone: '+573019990001', debt_amount: 8_000_000 });
    const { chat, message } = await arrived(id);
    assert.deepEqual([chat.name, chat.phone, chat.suppressedAt], ['Inés Peña', '+573019990001', null]);
    assert.match(chat.partner ?? '', /^Partner/);
    assert.match(message.text, /Inés Peña.*Partner.*Ventanilla.*8\.000\.000/);
    assert.deepEqual(message.buttons, [{ title: 'Me interesa', isInterest: true }]);
    assert.equal(message.interestedAt, null);
    const { headers } = await fetch(`${page.url}/simulator/chats`);
    const tag = headers.get('ETag') as string;
    const again = await fetch(`${page.url}/simulator/chats`, { headers: { 'If-None-Match': tag } });
    assert.deepEqual([again.status, await again.text()], [304, '']);
  });

  it('several messages to one phone make one chat, oldest first', async () => {
    const phone = '+573019990002';
    const rejected = { ...REJECTED, phone };
    const first = await register(rejected);
    // The first message would give way to a second one (D42).
    await arrived(first);
    const second = await register({ phone });
    const { chat } = await arrived(second);
    assert.deepEqual(
      chat.messages.map(({ applicationId, type }) => [applicationId, type]),
      [
        [first, 'rejected'],
        [second, 'approved'],
      ],
    );
  });

  it('D40: each message of an application has a bubble, and a tap on the offer counts after the approval', async () => {
    const id = await register({ ...IN_REVIEW, phone: '+573019990003' });
    const { message: offer } = await arrived(id);
    await reviewApplication(
      { database, vault, clock: machineClock, actor: 'test' },
      toApplicationId(id),
      'approve',
      'x',
      'unspecified',
    );
    const bubbles = () =>
      eventually('both messages', async () => {
        const { chats } = await readChats();
        const found = chats
          .flatMap(({ messages }) => messages)
          .filter(({ applicationId }) => applicationId === id);
        return found.length === 2 && found.every(({ status }) => status !== 'accepted' && status !== 'sent')
          ? found
          : undefined;
      });
    const [first, second] = (await bubbles()) as [PhoneMessage, PhoneMessage];
    assert.deepEqual([first.type, second.type], ['offer', 'approved']);
    assert.equal(first.messageId, offer.messageId);
    assert.ok(second.createdAt > first.createdAt, 'the time of the review');
    assert.notEqual(first.text, second.text);
    assert.equal(await act('open', { messageId: second.messageId }), 200);
    assert.deepEqual(
      (await bubbles()).map(({ status }) => status),
      ['delivered', 'read'],
    );
    assert.equal(await act('tap', { messageId: first.messageId, button: 0 }), 200);
    assert.equal(await act('tap', { messageId: second.messageId, button: 0 }), 200);
    assert.equal((await interestOf(id)).length, 1);
    assert.equal(await act('text', { phone: '+573019990003', body: 'BAJA' }), 200);
    const byPhone = await fetch(`${page.url}/simulator/chats?phone=3019990003`);
    const { chats } = (await byPhone.json()) as Answer;
    assert.deepEqual(
      chats.map(({ messages, suppressedAt }) => [messages.map(({ type }) => type), suppressedAt !== null]),
      [[['offer', 'approved'], true]],
    );
  });

  it('two taps on a button, with each event doubled, make one entry of the history', async () => {
    const id = await register();
    await arrived(id);
    page.setFaults({ doubledShare: 1 });
    assert.equal(await act('tap', { messageId: `${id}`, button: 0 }), 200);
    const { message } = await arrived(id);
    assert.notEqual(message.interestedAt, null);
    assert.equal(await act('tap', { messageId: `${id}`, button: 0 }), 200);
    assert.equal((await interestOf(id)).length, 1);
    assert.equal((await arrived(id)).message.interestedAt, message.interestedAt);
  });

  it('a message or a reply that is on no phone cannot be tapped or opened', async () => {
    const silent = await register({ messaging_optin: false });
    const rejected = await register(REJECTED);
    await arrived(rejected);
    const statuses = await Promise.all([
      act('tap', { messageId: `${silent}`, button: 0 }),
      act('tap', { messageId: `${rejected}`, button: 0 }),
      act('open', { messageId: `${silent}` }),
      act('choose', { replyId: '999999999', choice: 0 }),
      act('open-reply', { replyId: '999999999' }),
      act('open', { messageId: '999999999' }),
    ]);
    assert.deepEqual(statuses, [404, 404, 404, 404, 404, 404]);
    assert.deepEqual(await interestOf(silent), []);
  });

  it('opening a message marks it as read', async () => {
    const id = await register();
    await arrived(id);
    assert.equal(await act('open', { messageId: `${id}` }), 200);
    assert.equal((await stateOf(id)).status, 'read');
    await arrived(id, 'read');
  });

  it('a message whose answer is lost is uncertain until a status event settles it, in one attempt', async () => {
    page.setFaults({ lostShare: 1, doubledShare: 1 });
    const tellEvents = page.holdEvents();
    const id = await register();
    try {
      await eventually('it is uncertain', async () =>
        (await stateOf(id)).status === 'uncertain' ? true : undefined,
      );
      const { chats, absent } = await readChats();
      assert.ok(absent.some(({ status, count }) => status === 'uncertain' && count === 1));
      const onPhones = chats.flatMap(({ messages }) => messages.map(({ applicationId }) => applicationId));
      assert.ok(!onPhones.includes(toApplicationId(id)));
    } finally {
      tellEvents();
    }
    await arrived(id);
    assert.deepEqual(await stateOf(id), { status: 'delivered', attempts: 1, reason: null });
  });

  it('the counts of messages on no phone add up to all of them, also of those that are too old to look at', async () => {
    const ids: number[] = [];
    for (let count = 0; count < 4; count++) ids.push(await register());
    for (const id of ids) await arrived(id);
    await setMessages(database, ids, { status: 'failed', reason: '131026' });
    await setMessages(database, ids.slice(0, 1), { status: 'cancelled', reason: 'suppressed' });
    const absent = await countAbsentMessages(database, 2);
    assert.deepEqual(
      absent.filter(({ status }) => status === 'failed' || status === 'cancelled'),
      [
        { status: 'failed', reason: '131026', count: 2, dueAt: null, isOlder: false },
        { status: 'failed', reason: null, count: 1, dueAt: null, isOlder: true },
        { status: 'cancelled', reason: null, count: 1, dueAt: null, isOlder: true },
      ],
    );
    const all = await countAbsentMessages(database, 1_000);
    for (const status of ['failed', 'cancelled'] as const) {
      const counts = all.filter((one) => one.status === status).map(({ count }) => count);
      assert.deepEqual(counts, [await countOfStatus(database, status)]);
    }
  });

  it('a phone is found, however old its messages are, with country code or as dialled at home', async () => {
    const id = await register({ phone: '+573005559876' });
    await register();
    const { chat } = await arrived(id);
    const find = async (phone: string) => {
      const response = await fetch(`${page.url}/simulator/chats?phone=${encodeURIComponent(phone)}`);
      return ((await response.json()) as Answer).chats.map((one) => one.id);
    };
    for (const phone of ['+573005559876', '300 555 9876', '573005559876']) {
      assert.deepEqual(await find(phone), [chat.id], phone);
    }
    assert.deepEqual(await find('3005559875'), []);
    assert.deepEqual(await find('nobody'), []);
    assert.equal((await fetch(`${page.url}/simulator/chats?phone=1&phone=2`)).status, 400);
  });

  it('the release sends what waits for its contact window; a later message waits again', async () => {
    const waits = async (id: number) =>
      eventually(`application ${id} waits`, async () =>
        (await stateOf(id)).reason === 'contact_window' ? true : undefined,
      );
    const first = await register({ phone: '+51987654321' });
    await waits(first);
    const { absent } = await readChats();
    assert.ok(absent.some(({ reason, count }) => reason === 'contact_window' && count === 1));
    assert.equal(await act('release', { x: 1 }), 400);
    assert.equal(await act('release', {}), 200);
    await arrived(first);
    const later = await register({ phone: '+51987654322' });
    await waits(later);
    assert.equal((await stateOf(later)).status, 'queued');
  });

  it('a send that fails is tried again', async () => {
    assert.equal(await act('faults', { ...NO_FAULTS, failShare: 1 }), 200);
    const id = await register();
    const failed = await eventually('it failed', async () => {
      const state = await stateOf(id);
      return state.reason === 'simulated_failure' ? state : undefined;
    });
    assert.equal(failed.status, 'queued');
    assert.equal(await act('faults', NO_FAULTS), 200);
    await makeDue(database, id);
    await arrived(id);
    assert.ok((await stateOf(id)).attempts > failed.attempts);
  });

  it('the delivery waits for a delayed answer', async () => {
    const delayMs = 10_000;
    page.setFaults({ delayMs });
    const sinceMs = performance.now();
    const id = await register();
    await arrived(id);
    assert.ok(performance.now() - sinceMs >= delayMs / HURRY);
    assert.deepEqual(await stateOf(id), { status: 'delivered', attempts: 1, reason: null });
  });

  it('keeps valid faults and refuses invalid ones', async () => {
    const faults: SimulatorFaults = {
      ...NO_FAULTS,
      failShare: 0.1,
      delayMs: 10,
      goneShare: 0.2,
      unheardShare: 0.3,
    };
    assert.equal(await act('faults', faults), 200);
    for (const wrong of [
      { failShare: 1.1 },
      { delayMs: -1 },
      { delayMs: 1e6 },
      { lostShare: '1' },
      { x: 1 },
    ]) {
      assert.equal(await act('faults', { ...faults, ...wrong }), 400);
    }
    assert.deepEqual(await (await fetch(`${page.url}/simulator/faults`)).json(), faults);
  });
});

describe('the requests that the simulator refuses', () => {
  const host = new URL(page.url).host;
  const json = 'application/json';
  let phone: string;
  before(async () => {
    phone = (await arrived(await register())).chat.phone;
  });
  const request = (method: string, headers: Record<string, string>, body: string) =>
    exchange(page.url, [
      `${method} /simulator/${method === 'GET' ? 'chats' : 'text'} HTTP/1.1\r\n` +
        Object.entries({ 'Content-Length': String(Buffer.byteLength(body)), ...headers })
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('') +
        `\r\n${body}`,
    ]);

  const REFUSALS: [what: string, status: number, headers: Record<string, string>, body?: string][] = [
    ['another page', 403, { Origin: 'https://evil.example', 'Content-Type': json }],
    ['another port of this machine', 403, { Origin: 'http://127.0.0.1:1', 'Content-Type': json }],
    // As browsers send it that leave the Origin out, and a form of another page.
    ['another site that names no origin', 403, { 'Sec-Fetch-Site': 'cross-site', 'Content-Type': json }],
    [
      'another origin of the site that names none',
      403,
      { 'Sec-Fetch-Site': 'same-site', 'Content-Type': json },
    ],
    ['a form of another site', 403, { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }, 'a=b'],
    ['a page without an origin', 403, { Origin: 'null', 'Content-Type': json }],
    ['a name that resolves here', 403, { Host: 'evil.example', 'Content-Type': json }],
    [
      'such a name as its own origin',
      403,
      { Host: 'evil.example', Origin: 'http://evil.example', 'Content-Type': json },
    ],
    ['a name that begins like ours', 403, { Host: 'localhost.evil.example', 'Content-Type': json }],
    ['an invalid host', 403, { Host: '[', 'Content-Type': json }],
    ['a form', 415, { 'Content-Type': 'text/plain' }],
    ['no content type', 415, {}],
    ['a body that is not JSON', 400, { 'Content-Type': json }, '{'],
    ['a body of another form', 400, { 'Content-Type': json }, '{"phone":1}'],
    ['a phone that is none', 400, { 'Content-Type': json }, '{"phone":"BAJA","body":"BAJA"}'],
    ['nothing', 400, { 'Content-Type': json }, ''],
    ['a body that is too long', 413, { 'Content-Type': json }, JSON.stringify({ body: 'x'.repeat(20_000) })],
  ];
  for (const [what, status, headers, body] of REFUSALS) {
    it(`${what}: ${status}, and nothing happens`, async () => {
      const suppressed = await suppressions();
      const stop = JSON.stringify({ phone, body: 'BAJA' });
      const { answers } = await request('POST', { Host: host, ...headers }, body ?? stop);
      assert.equal(answers[0]?.status, status, answers[0]?.body);
      assert.equal(await suppressions(), suppressed);
    });
  }

  it('takes the same requests from the page itself and from a program', async () => {
    const stop = JSON.stringify({ phone, body: 'hola' });
    for (const origin of [
      { Origin: `http://${host}` },
      { Origin: `http://${host}`, 'Sec-Fetch-Site': 'same-origin' },
      { 'Sec-Fetch-Site': 'none' },
      {},
    ] as Record<string, string>[]) {
      const { answers } = await request('POST', { Host: host, 'Content-Type': json, ...origin }, stop);
      assert.equal(answers[0]?.status, 200);
    }
  });

  for (const name of ['localhost', '127.0.0.1', '[::1]', 'localhost:1234']) {
    it(`answers under the host ${name}, with an answer that no cache keeps`, async () => {
      const { answers } = await request('GET', { Host: name }, '');
      assert.equal(answers[0]?.status, 200);
      assert.equal(answers[0]?.headers['cache-control'], 'no-store');
    });
  }

  it('refuses to be read under another host too', async () => {
    const { answers } = await request('GET', { Host: 'evil.example' }, '');
    assert.equal(answers[0]?.status, 403);
    assert.doesNotMatch(answers[0]?.body ?? '', /chats/);
  });

  for (const address of ['192.0.2.2', '::ffff:192.0.2.2', 'fd00::2', '10.127.0.1']) {
    it(`answers nobody at ${address}, whatever the Host header says`, async () => {
      for (const path of ['/simulator', '/simulator/chats']) {
        const { statusCode, body } = await page.from(address, path);
        assert.equal(statusCode, 403);
        assert.match(body, /this machine alone/);
      }
    });
  }

  for (const address of ['127.0.0.1', '127.8.0.1', '::1', '::ffff:127.0.0.1']) {
    it(`answers who is at ${address}`, async () => {
      assert.equal((await page.from(address, '/simulator')).statusCode, 200);
    });
  }
});

describe('the page', () => {
  it('the page has nothing inline, loads nothing from other hosts, and every file that it names exists', async () => {
    const answer = await fetch(`${page.url}/simulator`);
    const html = await answer.text();
    assert.match(answer.headers.get('Content-Security-Policy') ?? '', /^default-src 'self';(?!.*unsafe)/);
    assert.doesNotMatch(html, /\son\w+=|\sstyle=|<style|<script(?![^>]*\ssrc=)/i);
    const linked = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, path]) => path as string);
    // The one link, to another listener: test/browser/simulator.test.ts.
    const named = linked.filter((path) => path !== '/simulator/docs');
    assert.ok(named.length >= 4);
    for (const path of named) {
      const file = await fetch(new URL(path, page.url));
      assert.deepEqual([path.startsWith('/simulator/'), file.status], [true, 200], path);
      assert.doesNotMatch(
        await file.text(),
        /innerHTML|insertAdjacentHTML|https?:\/\/(?!www\.w3\.org)/,
        path,
      );
    }
  });

  it('the partners’ listener does not have the page', async () => {
    for (const path of ['/simulator', '/simulator/chats', '/simulator/faults']) {
      assert.equal((await fetch(service.url + path)).status, 404, path);
    }
  });
});
