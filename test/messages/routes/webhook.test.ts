/** The channel's webhook: handshake, signature and bodies of any content (docs/messages.md, "Setting up WhatsApp"). */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import pino from 'pino';
import { namedFields } from '../../../src/domain/application/fields.ts';
import { toApplicationId, toMessageId } from '../../../src/domain/application/ids.ts';
import { formatCallback, interestPayload } from '../../../src/domain/message/outgoing-message.ts';
import { toPhone } from '../../../src/domain/phone/phone.ts';
import { machineClock } from '../../../src/ground/base/clock.ts';
import { openDatabase } from '../../../src/ground/postgres/open-database.ts';
import { PARTNER_LIMITS, partnerApi } from '../../../src/listeners/partner/partner-api.ts';
import { channelIndexOf } from '../../../src/seal/blind-indexes.ts';
import { ChannelEventIntake } from '../../../src/subjects/messages/intake/channel-event-intake.ts';
import { applyChannelEvents } from '../../../src/subjects/messages/intake/channel-events.ts';
import { Admission } from '../../../src/wire/gate/admission.ts';
import { exchange, head } from '../../gate/raw.ts';
import { setMessages } from '../../support/messages.ts';
import { openPatiently } from '../../support/open-patiently.ts';
import { anApplication, post, testService } from '../../support/service.ts';
import {
  buttonWebhook,
  deliverWebhooks,
  PHONE_NUMBER_ID,
  preferenceWebhook,
  signature,
  statusWebhook,
  textWebhook,
} from '../../support/whatsapp-webhooks.ts';

const APP_SECRET = 'the-secret-of-the-app';
const VERIFY_TOKEN = 'a-word-of-our-own';
const service = await testService({
  BASE_PATH: '/api/v1',
  CHANNEL: 'whatsapp',
  WHATSAPP_PHONE_NUMBER_ID: PHONE_NUMBER_ID,
  WHATSAPP_ACCESS_TOKEN: 'not-used-here',
  WHATSAPP_APP_SECRET: APP_SECRET,
  WHATSAPP_VERIFY_TOKEN: VERIFY_TOKEN,
  DELIVERY: 'off',
});
const { database } = service;
const url = `${service.url}/webhooks/whatsapp`;
const { apiKey } = await service.addPartner();

interface Person {
  readonly id: number;
  readonly digits: string;
}

/** Registers applicants and returns their ids. Their messages count as sent, so that only the test moves them. */
async function registered(count: number): Promise<Person[]> {
  const applications = Array.from({ length: count }, () => anApplication());
  const found: Person[] = [];
  for (let start = 0; start < count; start += 100) {
    const part = applications.slice(start, start + 100);
    const { body } = await post(`${service.url}/PRO`, apiKey, { applications: part });
    (body as { results: { id: number }[] }).results.forEach(({ id }, index) => {
      found.push({ id, digits: (part[index]?.phone as string).slice(1) });
    });
  }
  for (const { id } of found) {
    const channelMessageId = channelIndexOf(service.vault, `wamid.${id}`);
    await setMessages(database, [id], { status: 'accepted', attempts: 1, channelMessageId });
  }
  return found;
}

const send = (body: string | Uint8Array, headers: Record<string, string>) =>
  post(url, '', body, headers).then(({ status, text }) => ({ status, text }));
const signed = (body: string | Uint8Array) =>
  send(body, { 'X-Hub-Signature-256': signature(body, APP_SECRET) });

/** Everything that a webhook may write. */
async function state(): Promise<unknown> {
  const { rows } = await database.query(
    `SELECT (SELECT json_agg(m ORDER BY application_id) FROM messages m) AS messages,
      (SELECT json_agg(a.interested_at ORDER BY id) FROM applications a) AS interest,
      (SELECT count(*) FROM application_events) AS events,
      (SELECT json_agg(s ORDER BY phone_index) FROM suppressions s) AS suppressions,
      (SELECT json_agg(s.paused_at) FROM sender s) AS sender,
      (SELECT count(*) FROM paused_templates) AS templates`,
  );
  return rows[0];
}

const webhookLines = () => service.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'webhook');

describe('the handshake', () => {
  const query = (values: Record<string, string>) => `${url}?${new URLSearchParams(values)}`;
  const good = {
    'hub.mode': 'subscribe',
    'hub.verify_token': VERIFY_TOKEN,
    'hub.challenge': '1158201444',
  };

  it('returns the challenge unchanged, as plain text, to a caller that knows the token', async () => {
    const response = await fetch(query(good));
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain/);
    assert.equal(await response.text(), '1158201444');
  });

  const { 'hub.verify_token': _, ...withoutToken } = good;
  const BAD: [what: string, target: string][] = [
    ['nothing', url],
    ['another token', query({ ...good, 'hub.verify_token': `${VERIFY_TOKEN}x` })],
    ['an empty token', query({ ...good, 'hub.verify_token': '' })],
    ['no token', query(withoutToken)],
    ['the token twice', `${query(good)}&hub.verify_token=${VERIFY_TOKEN}`],
    ['another mode', query({ ...good, 'hub.mode': 'unsubscribe' })],
  ];
  for (const [what, target] of BAD) {
    it(`${what}: 403`, async () => {
      const response = await fetch(target);
      assert.deepEqual([response.status, await response.text()], [403, '{"error":"forbidden"}']);
    });
  }
});

describe('the signature', () => {
  it('a bad or missing signature gets 403 with one body, and nothing is written or read', async () => {
    const [one] = await registered(1);
    const { id, digits } = one as { id: number; digits: string };
    const body = JSON.stringify(statusWebhook({ id: `wamid.${id}`, status: 'read' }));
    const stop = JSON.stringify(textWebhook({ from: digits, text: 'BAJA' }));
    const good = signature(body, APP_SECRET);
    const hmac = (algorithm: string) => createHmac(algorithm, APP_SECRET).update(body).digest('hex');
    const table: [what: string, header: string | null, sent?: string | Uint8Array][] = [
      ['none', null],
      ['empty', ''],
      ['of another secret', signature(body, `${APP_SECRET}x`)],
      ['of another body', signature(stop, APP_SECRET)],
      ['of the body with a blank', good, `${body} `],
      ['of the whole of a truncated body', good, body.slice(0, -1)],
      ['of no body', good, ''],
      ['truncated', good.slice(0, -1)],
      ['too long', `${good}0`],
      ['without algorithm', good.slice('sha256='.length)],
      ['of another algorithm', `sha1=${hmac('sha1')}`],
      ['under another name', `sha1=${hmac('sha256')}`],
      ['of a longer hash', `sha512=${hmac('sha512')}`],
      ['not hex', `sha256=${'z'.repeat(64)}`],
      ['in base64', `sha256=${Buffer.from(good.slice(7), 'hex').toString('base64')}`],
      ['not JSON and unsigned', `sha256=${'0'.repeat(64)}`, '{'],
    ];
    const before = await state();
    const lines = webhookLines().length;
    for (const [what, header, sent = body] of table) {
      const answer = await send(sent, header === null ? {} : { 'X-Hub-Signature-256': header });
      assert.deepEqual(answer, { status: 403, text: '{"error":"forbidden"}' }, what);
    }
    assert.deepEqual(await state(), before);
    assert.equal(webhookLines().length, lines);
    assert.equal((await signed(body)).status, 200);
    assert.notDeepEqual(await state(), before);
  });

  it('a malformed signature is refused before the body arrives', async () => {
    const path = new URL(url).pathname;
    const request = head('POST', path, { 'Content-Length': 1_000_000 });
    // A service that waits for the body gives up after 9 seconds, with another answer.
    const { answers } = await exchange(url, [request], { timeoutMs: 30_000 });
    assert.equal(answers[0]?.status, 403);
  });

  it('any changed byte breaks the signature', async () => {
    const body = Buffer.from(JSON.stringify(statusWebhook({ id: 'wamid.x', status: 'sent' })));
    const header = { 'X-Hub-Signature-256': signature(body, APP_SECRET) };
    const run = fc.asyncProperty(
      fc.nat(body.length - 1),
      fc.integer({ min: 1, max: 255 }),
      async (at, change) => {
        const changed = Buffer.from(body);
        changed[at] = (changed[at] as number) ^ change;
        assert.equal((await send(changed, header)).status, 403);
      },
    );
    await fc.assert(run, { numRuns: 40 });
  });
});

describe('signed webhooks', () => {
  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('', '\u0000', '\ud800', 'x'.repeat(5_000), -1, 1e308, 2 ** 53, '99999999999'),
  );
  const orOdd = (...usual: unknown[]) =>
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: odd });
  const status = fc.record(
    {
      id: orOdd('wamid.a', 'wamid.b'),
      status: orOdd('sent', 'delivered', 'read', 'failed', 'deleted'),
      timestamp: orOdd('1795000000', 0, '9999999999'),
      biz_opaque_callback_data: orOdd('1.1', '999999999999999.9999', '0.0'),
      recipient_user_id: orOdd('CO.1', 'CO.2'),
      errors: orOdd([{ code: 131026 }], [{ code: 131049 }], [{ code: 1e300 }], [null], []),
    },
    { requiredKeys: [] },
  );
  const message = fc.record(
    {
      from_user_id: orOdd('CO.1', 'CO.2'),
      from: orOdd('573000000000', '5215512345678'),
      timestamp: orOdd('1795000000'),
      type: orOdd('text', 'button', 'interactive', 'image'),
      text: orOdd({ body: 'BAJA' }, { body: 'hola\u0000' }),
      button: orOdd({ payload: 'interested.1', text: 'x' }, { payload: '\u0000' }),
      interactive: orOdd({ button_reply: { id: 'interested.999999999999999', title: 'x' } }),
      context: orOdd({ id: 'wamid.a' }, { id: '\u0000' }),
    },
    { requiredKeys: [] },
  );
  const preference = fc.record(
    {
      user_id: orOdd('CO.1'),
      wa_id: orOdd('573000000000'),
      value: orOdd('stop', 'resume'),
      timestamp: orOdd('1795000000'),
    },
    { requiredKeys: [] },
  );
  const listOf = (item: fc.Arbitrary<unknown>) =>
    fc.oneof(fc.array(fc.oneof(item, odd), { maxLength: 5 }), odd);
  const change = fc.record(
    {
      field: orOdd('messages', 'user_preferences', 'account_update'),
      value: fc.record(
        {
          metadata: orOdd({ phone_number_id: PHONE_NUMBER_ID }, { phone_number_id: '1' }),
          contacts: listOf(fc.record({ wa_id: orOdd('573000000000'), user_id: orOdd('CO.1') })),
          statuses: listOf(status),
          messages: listOf(message),
          user_preferences: listOf(preference),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  );
  const envelope = fc.record({
    object: fc.oneof(
      { weight: 5, arbitrary: fc.constant('whatsapp_business_account') },
      { weight: 1, arbitrary: odd },
    ),
    entry: listOf(fc.record({ changes: listOf(change) })),
  });

  it('every signed webhook gets 200', async () => {
    const any = fc.oneof(
      envelope.map((value) => JSON.stringify(value)),
      fc.json(),
      fc.string(),
      fc.uint8Array({ maxLength: 200 }),
    );
    await fc.assert(
      fc.asyncProperty(any, async (body) => {
        assert.deepEqual(await signed(body), { status: 200, text: '{}' });
      }),
      { numRuns: 250 },
    );
    assert.equal((await signed('['.repeat(1_000_000))).status, 200);
    await database.query('UPDATE sender SET paused_at = NULL');
  });

  it('an event that no database would take is skipped, and the rest of the webhook is applied', async () => {
    const [one] = (await registered(1)) as [{ id: number; digits: string }];
    const id = (odd: string) => statusWebhook({ id: odd, status: 'read' });
    const written = (timestamp: unknown) => {
      const text = JSON.stringify(textWebhook({ from: '573000000001', text: 'BAJA' }));
      return JSON.parse(text.replace(/"timestamp":"\d+"/, `"timestamp":${JSON.stringify(timestamp)}`));
    };
    const odd = [
      id('wamid.\u0000'),
      id('w'.repeat(5_000)),
      id(''),
      written('9'.repeat(15)),
      written(-1),
      written(1.5),
    ];
    const good = statusWebhook({ id: `wamid.${one.id}`, status: 'read' });
    const entry = [...odd, good].flatMap((item) => item.entry);
    assert.equal((await signed(JSON.stringify({ ...good, entry }))).status, 200);
    const { statuses, texts, moved, ignored } = webhookLines().at(-1);
    assert.deepEqual({ statuses, texts, moved, ignored }, { statuses: 1, texts: 0, moved: 1, ignored: 6 });
  });

  it('1000 events in one webhook, doubled and mixed with those of other messages, are applied', async () => {
    const people = await registered(500);
    const statuses = people.flatMap(({ id }) => [
      { id: `wamid.${id}`, status: 'delivered' as const, callback: formatCallback(toMessageId(`${id}`), 1) },
      { id: `wamid.${id}`, status: 'sent' as const, callback: formatCallback(toMessageId(`${id}`), 1) },
    ]);
    const read = statusWebhook(
      ...people.slice(0, 100).map(({ id }) => ({ id: `wamid.${id}`, status: 'read' as const })),
    );
    const answered = await deliverWebhooks(url, APP_SECRET, [statusWebhook(...statuses), read], {
      copies: 3,
      concurrency: 3,
    });
    assert.deepEqual(new Set(answered), new Set([200]));
    const { rows } = await database.query(
      'SELECT status, count(*)::integer AS count FROM messages WHERE application_id = ANY ($1) GROUP BY 1 ORDER BY 1',
      [people.map(({ id }) => id)],
    );
    assert.deepEqual(rows, [
      { status: 'delivered', count: 400 },
      { status: 'read', count: 100 },
    ]);
    const line = webhookLines().find(({ statuses }) => statuses === 1_000);
    assert.deepEqual([line.taps, line.texts, line.preferences, line.ignored], [0, 0, 0, 0]);
  });

  it('every kind of event does its work, and the log has counts without any text of a person', async () => {
    const [one, two, three] = (await registered(3)) as [
      { id: number; digits: string },
      { id: number; digits: string },
      { id: number; digits: string },
    ];
    const from = service.log.length;
    const tap = buttonWebhook({
      from: one.digits,
      payload: interestPayload(toApplicationId(one.id)),
      messageId: `wamid.${one.id}`,
    });
    const reply = JSON.parse(JSON.stringify(tap).replaceAll('wamid.', 'wamid.reply.'));
    const [inner] = reply.entry[0].changes[0].value.messages;
    Object.assign(inner, {
      type: 'interactive',
      from: two.digits,
      interactive: {
        type: 'button_reply',
        button_reply: { id: interestPayload(toApplicationId(two.id)), title: 'Me interesa' },
      },
    });
    const envelopes = [
      tap,
      reply,
      textWebhook({ from: two.digits, text: ' Baja.' }, { from: one.digits, text: 'Quetzalcoatl' }),
      preferenceWebhook({ from: three.digits, value: 'stop' }),
      statusWebhook({ id: `wamid.${three.id}`, status: 'failed', errors: [131026] }),
    ];
    await deliverWebhooks(url, APP_SECRET, envelopes, { copies: 2 });
    const { rows } = await database.query(
      `SELECT a.interested_at IS NOT NULL AS interested, m.status, m.reason, s.source,
        (SELECT count(*)::integer FROM application_events e WHERE e.application_id = a.id) AS events
      FROM applications a JOIN messages m ON m.application_id = a.id
      LEFT JOIN suppressions s ON s.phone_index = a.phone_index AND s.active WHERE a.id = ANY ($1) ORDER BY a.id`,
      [[one.id, two.id, three.id]],
    );
    const accepted = { status: 'accepted', reason: null };
    assert.deepEqual(rows, [
      { interested: true, ...accepted, source: null, events: 1 },
      { interested: true, ...accepted, source: 'keyword', events: 1 },
      { interested: false, status: 'failed', reason: '131026', source: 'channel', events: 0 },
    ]);
    const lines = service.log.slice(from).join('');
    for (const word of [
      one.digits,
      two.digits,
      three.digits,
      'Quetzalcoatl',
      'Baja',
      VERIFY_TOKEN,
      APP_SECRET,
    ]) {
      assert.ok(!lines.includes(word), word);
    }
    assert.equal(webhookLines().length, new Set(webhookLines().map(({ request_id }) => request_id)).size);
  });

  it('a person without a phone in the webhook is found by the id of the status, of the contact, or by the answer', async () => {
    const people = (await registered(4)) as [Person, Person, Person, Person];
    const [byStatus, byContact, byAnswer, byTap] = people;
    const user = ({ id }: Person) => `CO.${id}`;
    await signed(
      JSON.stringify(
        statusWebhook({ id: `wamid.${byStatus.id}`, status: 'delivered', recipientUserId: user(byStatus) }),
      ),
    );
    const named = JSON.parse(JSON.stringify(textWebhook({ from: byContact.digits, text: 'hola' })));
    named.entry[0].changes[0].value.contacts = [{ wa_id: byContact.digits, user_id: user(byContact) }];
    await signed(JSON.stringify(named));
    const nameless = JSON.parse(JSON.stringify(preferenceWebhook({ value: 'stop' })));
    nameless.entry[0].changes[0].value.contacts = [{ user_id: user(byContact) }];
    for (const body of [
      textWebhook({ userId: user(byStatus), text: 'BAJA' }),
      nameless,
      textWebhook({ messageId: `wamid.${byAnswer.id}`, text: 'BAJA' }),
      buttonWebhook({
        userId: user(byTap),
        payload: interestPayload(toApplicationId(byTap.id)),
        messageId: `wamid.${byTap.id}`,
      }),
    ]) {
      assert.equal((await signed(JSON.stringify(body))).status, 200);
      assert.equal(webhookLines().at(-1).ignored, 0);
    }
    const { rows } = await database.query(
      `SELECT a.interested_at IS NOT NULL AS interested, s.source FROM applications a
      LEFT JOIN suppressions s ON s.phone_index = a.phone_index AND s.active WHERE a.id = ANY ($1) ORDER BY a.id`,
      [people.map(({ id }) => id)],
    );
    assert.deepEqual(rows, [
      { interested: false, source: 'keyword' },
      { interested: false, source: 'channel' },
      { interested: false, source: 'keyword' },
      { interested: true, source: null },
    ]);
  });

  it('events of another number or field are ignored and counted', async () => {
    const [one] = (await registered(1)) as [{ id: number; digits: string }];
    const text = JSON.stringify(statusWebhook({ id: `wamid.${one.id}`, status: 'read' }));
    const before = await state();
    for (const other of [
      text.replace(PHONE_NUMBER_ID, '999'),
      text.replace('"field":"messages"', '"field":"message_template_status_update"'),
      text.replace('whatsapp_business_account', 'page'),
      text.replace('"status":"read"', '"status":"warning"'),
    ]) {
      assert.notEqual(other, text);
      assert.equal((await signed(other)).status, 200);
      assert.equal(webhookLines().at(-1).ignored, 1);
    }
    assert.deepEqual(await state(), before);
  });

  it('a body over 3 MiB gets 413', async () => {
    const body = `"${'x'.repeat(3 * 1024 * 1024)}"`;
    assert.equal((await signed(body)).status, 413);
  });
});

it('without a database a webhook gets 500, so that the channel sends it again', async () => {
  const dead = openDatabase(
    { host: '127.0.0.1', port: 1, user: 'x', database: 'x' },
    { max: 1, onError: () => {}, clock: machineClock },
  );
  const app = partnerApi({
    clock: machineClock,
    limits: PARTNER_LIMITS,
    basePath: '',
    fields: namedFields('messaging'),
    log: pino({ level: 'silent' }),
    logFailure: () => {},
    authenticate: async () => null,
    admission: new Admission({ limit: 1, clock: machineClock, tell: () => {} }),
    ingest: () => Promise.reject(new Error('not here')),
    quota: () => Promise.reject(new Error('not here')),
    feed: () => Promise.reject(new Error('not here')),
    application: () => Promise.reject(new Error('not here')),
    search: () => Promise.reject(new Error('not here')),
    webhook: {
      clock: machineClock,
      appSecret: APP_SECRET,
      verifyToken: VERIFY_TOKEN,
      read: () => ({
        events: [{ kind: 'text', from: toPhone('+573000000000'), body: 'BAJA', at: new Date(0) }],
        ignored: 0,
      }),
      apply: (events) => applyChannelEvents({ database: dead, vault: service.vault }, events),
    },
  });
  after(async () => {
    await app.close();
    await dead.end();
  });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const response = await fetch(`${address}/webhooks/whatsapp`, {
    method: 'POST',
    headers: { 'X-Hub-Signature-256': signature('{}', APP_SECRET) },
    body: '{}',
  });
  assert.equal(response.status, 500);
  assert.deepEqual(Object.keys((await response.json()) as object), ['error']);
});

it('webhooks have connections of their own: batches that hold all others delay none, and a burst needs few statements', async () => {
  const own = openPatiently(service.databaseUrl, 2);
  const held = await Promise.all(Array.from({ length: 10 }, () => database.connect()));
  const intake = new ChannelEventIntake({ database: own, vault: service.vault, clock: machineClock });
  let statements = 0;
  own.on('acquire', () => (statements += 1));
  try {
    const bursts = Array.from({ length: 200 }, (_, index) =>
      intake.apply([
        {
          kind: 'text',
          from: toPhone(`+57319000${String(index).padStart(4, '0')}`),
          body: 'BAJA',
          at: new Date(0),
        },
      ]),
    );
    const counts = await Promise.all(bursts);
    assert.deepEqual(new Set(counts.map(({ texts }) => texts)), new Set([1]));
    assert.equal(
      counts.reduce((sum, { suppressed }) => sum + suppressed, 0),
      200,
    );
    assert.ok(statements < 20, `${statements} statements`);
  } finally {
    for (const client of held) client.release();
    await own.end();
  }
});

it('the route does not exist with another channel', async () => {
  const plain = await testService();
  for (const method of ['GET', 'POST']) {
    assert.equal((await fetch(`${plain.url}/webhooks/whatsapp`, { method })).status, 404, method);
  }
});
