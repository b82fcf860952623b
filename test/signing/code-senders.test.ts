/** The ways of codes, against HTTP peers of the test (D46). */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, beforeEach, describe, it } from 'node:test';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { whatsappChannel } from '../../src/subjects/messages/channels/whatsapp.ts';
import { channelCodes } from '../../src/subjects/signing/senders/channel-codes.ts';
import { smsCodes } from '../../src/subjects/signing/senders/sms.ts';
import { CODE_WAY, SMS_API_URL, TSA_URL } from '../../src/subjects/signing/settings.ts';
import { Simulator } from '../../src/subjects/simulator/channel.ts';

const CODE = { phone: toPhone('+573005550101'), code: '048213', language: 'es', lender: 'Acme' } as const;
/** The code, who asks, for what, where it goes, and that nobody else may have it. */
const SAYS = /^048213 es tu clave para firmar el contrato con Acme\. .*solo en el chat.*10 minutos.*Nunca/;
const SIGNAL = new AbortController().signal;

interface Heard {
  readonly url: string;
  readonly authorization: string;
  readonly type: string;
  readonly body: string;
}

const heard: Heard[] = [];
let answer: (response: ServerResponse) => void;
const server = createServer(async (request: IncomingMessage, response) => {
  let body = '';
  for await (const part of request) body += part;
  const { url = '', headers } = request;
  heard.push({ url, authorization: headers.authorization ?? '', type: headers['content-type'] ?? '', body });
  answer(response);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
after(() => {
  server.closeAllConnections();
  server.close();
});
const json = (status: number, body: unknown) => (response: ServerResponse) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
beforeEach(() => {
  heard.length = 0;
  answer = json(201, { sid: 'SM1', status: 'queued' });
});

describe('SMS', () => {
  const settings = { apiUrl, accountSid: 'AC1', authToken: 'token', from: '+15005550006' };

  it('D46: is a form with the account, and the text is in the language of the contract', async () => {
    assert.deepEqual(await smsCodes(settings, machineClock).send(CODE, SIGNAL), {
      kind: 'sent',
      messageId: 'SM1',
    });
    const [request] = heard;
    assert.equal(request?.url, '/2010-04-01/Accounts/AC1/Messages.json');
    assert.equal(request?.authorization, `Basic ${btoa('AC1:token')}`);
    assert.equal(request?.type, 'application/x-www-form-urlencoded');
    const form = new URLSearchParams(request?.body);
    assert.deepEqual([form.get('To'), form.get('From')], ['+573005550101', '+15005550006']);
    assert.match(form.get('Body') ?? '', SAYS);
    const service = `MG${'a'.repeat(32)}`;
    await smsCodes({ ...settings, from: service }, machineClock).send({ ...CODE, language: 'pt' }, SIGNAL);
    const second = new URLSearchParams(heard[1]?.body);
    assert.deepEqual([second.get('MessagingServiceSid'), second.get('From')], [service, null]);
    assert.match(second.get('Body') ?? '', /é a senha/);
  });

  it('D46: a refusal is its code or status, and never the text, which may hold the phone', async () => {
    const table: readonly (readonly [(response: ServerResponse) => void, 'failed' | 'later', string])[] = [
      [
        json(400, { code: 21211, message: 'The number +573005550101 is not valid', status: 400 }),
        ...(['failed', '21211'] as const),
      ],
      [(response) => void response.writeHead(401).end('<html>'), 'failed', 'http_401'],
      // These pass, so the code is sent again.
      [json(429, { code: 20429, message: 'Too many', status: 429 }), 'later', '20429'],
      [json(500, 'x'), 'later', 'http_500'],
      [json(503, {}), 'later', 'http_503'],
    ];
    for (const [how, kind, reason] of table) {
      answer = how;
      assert.deepEqual(await smsCodes(settings, machineClock).send(CODE, SIGNAL), { kind, reason });
    }
  });

  it('D46: a code that may have gone out counts as sent, one that surely did not is sent later; every wait ends', async () => {
    answer = () => {};
    // Long enough for a busy machine to open the connection: before that, nothing went out.
    const limits = { timeoutMs: 2_000, maxAnswerBytes: 1_024, idleMs: 1_000 };
    assert.deepEqual(await smsCodes(settings, machineClock, limits).send(CODE, SIGNAL), {
      kind: 'sent',
      messageId: null,
    });
    const nobody = smsCodes({ ...settings, apiUrl: 'http://127.0.0.1:1' }, machineClock);
    assert.deepEqual(await nobody.send(CODE, SIGNAL), { kind: 'later', reason: 'ECONNREFUSED' });
    assert.deepEqual(await nobody.send(CODE, AbortSignal.abort()), { kind: 'later', reason: 'aborted' });
  });
});

describe('the channel', () => {
  it('D46: WhatsApp gets its authentication template, with the code in the text and in the button', async () => {
    answer = json(200, { messages: [{ id: 'wamid.1' }] });
    const channel = whatsappChannel({ apiUrl, phoneNumberId: '123', accessToken: 'secret' }, machineClock);
    const { codeWay, sendCode } = channel;
    assert.ok(codeWay !== undefined && sendCode !== undefined);
    const sender = channelCodes({ codeWay, sendCode }, 'ventanilla_code');
    assert.equal(sender.way, 'channel');
    assert.deepEqual(await sender.send({ ...CODE, language: 'pt' }, SIGNAL), {
      kind: 'sent',
      messageId: 'wamid.1',
    });
    assert.deepEqual(JSON.parse(heard[0]?.body ?? ''), {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '+573005550101',
      type: 'template',
      template: {
        name: 'ventanilla_code',
        language: { code: 'pt_BR' },
        components: [
          { type: 'body', parameters: [{ type: 'text', text: '048213' }] },
          { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: '048213' }] },
        ],
      },
    });
    answer = json(400, { error: { code: 132001, message: 'template does not exist' } });
    const failed = await sender.send(CODE, SIGNAL);
    assert.equal(failed.kind, 'failed');
    answer = json(429, { error: { code: 130429, message: 'too fast' } });
    assert.deepEqual(await sender.send(CODE, SIGNAL), { kind: 'later', reason: '130429' });
    assert.doesNotMatch(JSON.stringify(failed), /048213|573005550101/);
  });

  it('D46: the simulator shows the code on a second phone', async () => {
    const simulator = new Simulator(async () => {}, machineClock);
    after(() => simulator.close());
    const sender = channelCodes(simulator, 'ventanilla_code');
    assert.equal(sender.way, 'simulator');
    const sent = await sender.send(CODE, SIGNAL);
    assert.ok(sent.kind === 'sent' && sent.messageId?.startsWith('simulated.'));
    assert.match(simulator.codes.of(CODE.phone).at(-1)?.text ?? '', SAYS);
  });
});

describe('the settings', () => {
  const around = { dataDir: '/data', ownDatabase: true };

  it('D46: with the operator’s own database no way is guessed', () => {
    assert.equal(CODE_WAY.read(undefined, around), 'none');
    assert.equal(CODE_WAY.read(undefined, { ...around, ownDatabase: false }), 'simulator');
    assert.throws(() => CODE_WAY.read('email', around), /must be one of: sms, channel, simulator, none/);
  });

  it('D46: the token goes to https or to this machine alone', () => {
    assert.equal(SMS_API_URL.read(undefined, around), 'https://api.twilio.com');
    assert.equal(SMS_API_URL.read('http://127.0.0.1:9/', around), 'http://127.0.0.1:9');
    assert.throws(() => SMS_API_URL.read('http://sms.example', around), /must begin with https/);
    for (const text of ['x', 'ftp://a', 'https://user:pass@a.example']) {
      assert.throws(() => TSA_URL.read(text, around), RangeError);
    }
  });
});
