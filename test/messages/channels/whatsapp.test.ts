import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import type { WhatsAppConfig } from '../../../src/app/config/config.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import type { SendResult } from '../../../src/domain/message/channel.ts';
import { machineClock } from '../../../src/ground/base/clock.ts';
import { whatsappChannel } from '../../../src/subjects/messages/channels/whatsapp.ts';
import { ERROR_CODES } from '../../../src/subjects/messages/channels/whatsapp-errors.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type Answer,
  errorAnswer,
  type Fault,
  lostNumberAnswer,
  startWhatsAppApi,
} from '../../support/whatsapp-api.ts';
import { aMessage, NAME, PHONE } from './messages.ts';

const api = await startWhatsAppApi();
after(() => api.close());
beforeEach(() => {
  api.faults.length = 0;
});

const settings = readConfig(api.environment).whatsapp as WhatsAppConfig;
const LIMITS = { timeoutMs: 20_000, maxAnswerBytes: 1_000, idleMs: 4_000 };
const never = new AbortController().signal;

const channel = whatsappChannel(settings, machineClock, LIMITS);
const send = (message = aMessage()) => channel.send(message, never);

function answering(answer: Answer, message = aMessage()): Promise<SendResult> {
  api.faults.push({ answer });
  return send(message);
}

/** The error codes as the channel documents them, typed a second time: the text of each, and its consequence. */
const DOCUMENTED_CODES: readonly (readonly [kind: SendResult['kind'], code: number, says: string])[] = [
  ['retry', 2, 'temporary, down or overloaded'],
  ['retry', 4, 'the app made too many calls'],
  ['retry', 17, 'the token made too many calls'],
  ['retry', 341, 'the app reached a limit, down or throttled'],
  ['retry', 80007, 'the account made too many calls'],
  ['retry', 130429, 'too many messages a second'],
  ['retry', 131000, 'failed for an unknown reason'],
  ['retry', 131016, 'a service is unavailable for now'],
  ['retry', 131057, 'the account is in maintenance'],
  ['retry', 132069, 'the flow is throttled'],
  ['retry', 133004, 'the server is unavailable for now'],
  ['retry', 134101, 'the template is still being synchronised'],
  ['retry', 135000, 'failed for an unknown reason in the request'],
  ['pause_recipient', 131056, 'too many messages from this sender to this recipient'],
  ['wait', 131049, 'enough advertising for this recipient'],
  ['give_up', 100, 'a parameter is unknown or not valid'],
  ['give_up', 130403, 'the business blocked this recipient'],
  ['give_up', 130472, 'the recipient is part of an experiment'],
  ['give_up', 130497, 'the account may not write to this country'],
  ['give_up', 131008, 'a parameter is missing'],
  ['give_up', 131009, 'a value of a parameter is not valid'],
  ['give_up', 131021, 'the recipient is the sender'],
  ['give_up', 131026, 'the recipient cannot be reached'],
  ['give_up', 131030, 'the recipient is not on the list of a test number'],
  ['give_up', 131047, 'the last message of the recipient is older than 24 hours'],
  ['give_up', 131051, 'this type of message is not supported'],
  ['give_up', 131052, 'the file of a person cannot be fetched'],
  ['give_up', 131053, 'the file of a message cannot be taken'],
  ['opted_out', 131050, 'the recipient stopped marketing messages'],
  ['pause_template', 131058, 'this template is for test numbers only'],
  ['pause_template', 131063, 'the template is held back'],
  ['pause_template', 132000, 'another number of parameters'],
  ['pause_template', 132001, 'there is no such template in this language, or it is not approved'],
  ['pause_template', 132005, 'the translated text is too long'],
  ['pause_template', 132007, 'the content is against a policy'],
  ['pause_template', 132012, 'parameters of another form'],
  ['pause_template', 132015, 'paused for its quality'],
  ['pause_template', 132016, 'disabled for its quality'],
  ['pause_template', 132018, 'values that the template does not take'],
  ['pause_template', 132068, 'its flow is blocked'],
  ['pause_template', 134102, 'the template cannot be used'],
  ['pause_sender', 0, 'the app user cannot be authenticated'],
  ['pause_sender', 3, 'capability or permission is missing'],
  ['pause_sender', 10, 'permission is not granted or was removed'],
  ['pause_sender', 33, 'the number was deleted'],
  ['pause_sender', 102, 'the session is not valid'],
  ['pause_sender', 190, 'the token expired'],
  ...Array.from({ length: 100 }, (_, index) => ['pause_sender', 200 + index, 'permission'] as const),
  ['pause_sender', 368, 'blocked for violating a policy'],
  ['pause_sender', 131005, 'access is denied'],
  ['pause_sender', 131031, 'the account is locked'],
  ['pause_sender', 131037, "the number's display name is not approved"],
  ['pause_sender', 131042, 'payment is missing'],
  ['pause_sender', 131045, "the number's certificate is not right"],
  ['pause_sender', 131048, 'the number is held back for spam'],
  ['pause_sender', 131064, 'the account is held back for the categories of its templates'],
  ['pause_sender', 133000, 'a deregistration did not end'],
  ['pause_sender', 133005, 'the PIN of the number is wrong'],
  ['pause_sender', 133006, 'the number has to be verified again'],
  ['pause_sender', 133008, 'too many guesses of the PIN'],
  ['pause_sender', 133009, 'guesses of the PIN came too fast'],
  ['pause_sender', 133010, 'the number is not registered'],
  ['pause_sender', 133015, 'the number was just deleted'],
  ['pause_sender', 133016, 'registered and deregistered too often'],
  ['pause_sender', 134011, 'terms are not accepted'],
];

describe('the request', () => {
  it('API: a send is one template message in the form of the API, and returns its id', async () => {
    const message = aMessage();
    const result = await send(message);
    const [taken] = api.accepted.get(message.callback) ?? [];
    assert.deepEqual(result, { kind: 'accepted', channelMessageId: taken?.id });
    assert.deepEqual(taken?.message, {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: PHONE,
      type: 'template',
      template: {
        name: 'ventanilla_offer',
        language: { code: 'es_CO' },
        components: [
          {
            type: 'body',
            parameters: [
              { type: 'text', text: NAME },
              { type: 'text', text: '$ 6.000.000' },
            ],
          },
          {
            type: 'button',
            sub_type: 'quick_reply',
            index: '0',
            parameters: [{ type: 'payload', payload: `interested.${message.applicationId}` }],
          },
          {
            type: 'button',
            sub_type: 'quick_reply',
            index: '1',
            parameters: [{ type: 'payload', payload: 'declined' }],
          },
        ],
      },
      biz_opaque_callback_data: message.callback,
    });
  });

  it('API: a template without parameters and buttons has no components; text beyond ASCII arrives unchanged', async () => {
    const plain = aMessage({ buttons: [], template: { name: 'x', language: 'pt_BR', parameters: [] } });
    assert.equal((await send(plain)).kind, 'accepted');
    assert.deepEqual(api.accepted.get(plain.callback)?.[0]?.message.template.components, []);
    const template = { name: 'x', language: 'es', parameters: ['Ñandú 🎉 \ud800 "\\'] };
    const exotic = aMessage({ buttons: [], template });
    assert.equal((await send(exotic)).kind, 'accepted');
    const sent = JSON.stringify(api.accepted.get(exotic.callback)?.[0]?.message.template.components);
    assert.match(sent, /Ñandú 🎉/);
  });

  it('connections are kept, also after refusals, and closed once idle', async () => {
    const before = api.seen.connections;
    api.faults.push({}, { answer: errorAnswer(131026) }, { answer: { status: 500 } });
    for (let sends = 0; sends < 5; sends++) await channel.send(aMessage(), never);
    assert.ok(api.seen.connections - before <= 1, `${api.seen.connections - before} connections`);

    const quiet = await startWhatsAppApi();
    after(() => quiet.close());
    const config = readConfig(quiet.environment).whatsapp as WhatsAppConfig;
    const brief = whatsappChannel(config, machineClock, { ...LIMITS, idleMs: 40 });
    await brief.send(aMessage(), never);
    await eventually('the idle connection to be closed', () => quiet.seen.closed === 1);
    await brief.send(aMessage(), never);
    assert.equal(quiet.seen.connections, 2);
  });
});

describe('the meaning of an answer', () => {
  it('API: every error code has its consequence with any HTTP status, and no message is taken', async () => {
    for (const [kind, code, says] of DOCUMENTED_CODES) {
      for (const status of [400, 500]) {
        const result = await answering(errorAnswer(code, status));
        assert.equal(result.kind, kind, `${code} with ${status}: ${says}`);
        assert.equal(result.kind !== 'accepted' && result.reason, String(code));
      }
    }
  });

  it('API: the table has exactly the documented codes, each once', () => {
    const sorted = (codes: number[]) => codes.toSorted((a, b) => a - b);
    assert.deepEqual(
      sorted(Object.values(ERROR_CODES).flat()),
      sorted(DOCUMENTED_CODES.map(([, code]) => code)),
    );
  });

  it('a number that is deleted or not ours pauses the sender, with and without the subcode', async () => {
    assert.deepEqual(await answering(lostNumberAnswer()), { kind: 'pause_sender', reason: '100.33' });
    const old = JSON.parse(lostNumberAnswer().body as string);
    old.error.type = 'OAuthException';
    assert.deepEqual(await answering({ status: 400, body: JSON.stringify(old) }), {
      kind: 'pause_sender',
      reason: '100.33',
    });
    const { error_subcode: _, ...fresh } = JSON.parse(lostNumberAnswer().body as string).error;
    assert.deepEqual(await answering({ status: 400, body: JSON.stringify({ error: fresh }) }), {
      kind: 'pause_sender',
      reason: '100',
    });
    old.error.error_subcode = 2494010;
    assert.deepEqual(await answering({ status: 400, body: JSON.stringify(old) }), {
      kind: 'give_up',
      reason: '100',
    });
  });

  it('API: the pair limit waits 4^n seconds, at most an hour; the marketing cap waits a day', async () => {
    const waits: unknown[] = [];
    for (const attempt of [1, 2, 3, 5, 6, 8]) {
      const result = await answering(errorAnswer(131056), aMessage({ attempt }));
      waits.push(result.kind === 'pause_recipient' && result.afterMs);
    }
    assert.deepEqual(waits, [4_000, 16_000, 64_000, 1_024_000, 3_600_000, 3_600_000]);
    assert.deepEqual(await answering(errorAnswer(131049)), {
      kind: 'wait',
      reason: '131049',
      afterMs: 86_400_000,
    });
  });

  it('an answer without a known code is a retry only where surely nothing was sent', async () => {
    const retryAfter = { 'Retry-After': '7' };
    const cases: [answer: Answer, kind: string, reason: string][] = [
      [errorAnswer(999_999, 400), 'retry', '999999'],
      [errorAnswer(999_999, 429), 'retry', '999999'],
      [errorAnswer(999_999, 500), 'uncertain', '999999'],
      [errorAnswer(999_999, 200), 'uncertain', '999999'],
      [errorAnswer(1, 400), 'retry', '1'],
      [errorAnswer(1, 500), 'uncertain', '1'],
      ...[301, 302, 307, 400, 401, 403, 404, 408, 413, 429, 501, 505, 511].map(
        (status): [Answer, string, string] => [{ status }, 'retry', `http_${status}`],
      ),
      ...[200, 202, 204, 500, 502, 503, 504, 599].map((status): [Answer, string, string] => [
        { status },
        'uncertain',
        `http_${status}`,
      ]),
      [{ status: 503, headers: retryAfter }, 'retry', 'http_503'],
      [{ status: 503, headers: { 'Retry-After': 'soon' } }, 'uncertain', 'http_503'],
      [{ status: 500, headers: retryAfter }, 'uncertain', 'http_500'],
      [{ status: 307, headers: { Location: `${settings.apiUrl}/x` } }, 'retry', 'http_307'],
      ...[
        '<html>',
        '{',
        'null',
        '[]',
        '"x"',
        '{"error":null}',
        '{"messages":{}}',
        '{"messages":[null]}',
      ].flatMap((body): [Answer, string, string][] => [
        [{ status: 200, body }, 'uncertain', 'http_200'],
        [{ status: 429, body }, 'retry', 'http_429'],
      ]),
      // A code must be a number; an id must be short and printable.
      [{ status: 500, body: '{"error":{"code":"131026"}}' }, 'uncertain', 'http_500'],
      ...['', 'a b', 'wamid\u0000', 'wamidé', 'x'.repeat(257), 7, null].map(
        (id): [Answer, string, string] => [
          { status: 200, body: JSON.stringify({ messages: [{ id }] }) },
          'uncertain',
          'http_200',
        ],
      ),
    ];
    for (const [answer, kind, reason] of cases) {
      const result = await answering(answer);
      const { kind: got, reason: why } = result as { kind: string; reason?: string };
      assert.deepEqual([got, why], [kind, reason], JSON.stringify(answer));
    }
  });

  it('a success needs only the id, neither message_status nor contacts', async () => {
    const body = JSON.stringify({ messaging_product: 'whatsapp', messages: [{ id: 'wamid.HBg=' }] });
    assert.deepEqual(await answering({ status: 200, body }), {
      kind: 'accepted',
      channelMessageId: 'wamid.HBg=',
    });
  });

  it('Retry-After delays a retry, at most an hour, and never shortens a wait of our own', async () => {
    const inAMinute = new Date(Date.now() + 60_500).toUTCString();
    const cases: [header: string, code: number, min: number | undefined, max?: number][] = [
      ['7', 130429, 7_000],
      ['3600', 130429, 3_600_000],
      ['3601', 130429, 3_600_000],
      ['99999999999999999999', 130429, 3_600_000],
      [inAMinute, 130429, 50_000, 61_000],
      ['Fri, 01 Jan 2100 00:00:00 GMT', 130429, 3_600_000],
      ['0', 130429, undefined],
      ['-5', 130429, undefined],
      ['1.5e3', 130429, undefined],
      ['later', 130429, undefined],
      ['Thu, 01 Jan 2015 00:00:00 GMT', 130429, undefined],
      ['7', 131056, 16_000],
      ['17', 131056, 17_000],
      ['7', 131049, 86_400_000],
      ['7', 190, undefined],
      ['7', 131026, undefined],
      ['9', 999_999, 9_000],
    ];
    // A date is by the clock of the API, which may differ from the clock of this process (D39).
    const elsewhere = {
      Date: 'Sat, 05 Mar 2033 10:00:00 GMT',
      'Retry-After': 'Sat, 05 Mar 2033 10:00:30 GMT',
    };
    assert.deepEqual(await answering(errorAnswer(130429, 429, elsewhere), aMessage()), {
      kind: 'retry',
      reason: '130429',
      afterMs: 30_000,
    });
    for (const [header, code, min, max = min] of cases) {
      const result = await answering(
        errorAnswer(code, 429, { 'Retry-After': header }),
        aMessage({ attempt: 2 }),
      );
      const { afterMs } = result as { afterMs?: number };
      const said = `${code} with ${header}: ${afterMs}`;
      if (min === undefined || max === undefined) assert.equal(afterMs, undefined, said);
      else assert.ok(afterMs !== undefined && afterMs >= min && afterMs <= max, said);
    }
  });
});

describe('secrets', () => {
  it('no answer of the API brings the token or personal data into a result', async () => {
    const echo = { message: `${settings.accessToken} ${PHONE} ${NAME}`, type: settings.accessToken };
    const hostile: Fault[] = [
      { answer: { status: 400, body: JSON.stringify({ error: { ...echo, code: 131026 } }) } },
      { answer: { status: 400, body: JSON.stringify({ error: { ...echo, code: 1 } }) } },
      { answer: { status: 400, body: JSON.stringify({ error: { ...echo, code: settings.accessToken } }) } },
      { answer: { status: 200, body: JSON.stringify({ messages: [{ id: `${NAME} ${PHONE}` }] }) } },
      { answer: { status: 503, body: PHONE, headers: { 'Retry-After': settings.accessToken } } },
      { answer: 'close' },
    ];
    const results: SendResult[] = [];
    for (const fault of hostile) {
      api.faults.push(fault);
      results.push(await send());
    }
    const text = JSON.stringify(results);
    for (const word of [settings.accessToken, PHONE.slice(3), 'Zoraida', 'Wyxbrand']) {
      assert.ok(!text.includes(word), text);
    }
  });

  it('a token that cannot be sent is refused at the start, and the error does not show the token', () => {
    assert.throws(
      () => whatsappChannel({ ...settings, accessToken: 'hunter2\r\nHost: x' }, machineClock, LIMITS),
      (error: Error) => !error.message.includes('hunter2'),
    );
  });

  it('API: a wrong token and a wrong number pause the sender with the code of the API', async () => {
    const wrong = whatsappChannel({ ...settings, accessToken: 'other' }, machineClock, LIMITS);
    assert.deepEqual(await wrong.send(aMessage(), never), { kind: 'pause_sender', reason: '190' });
    const lost = whatsappChannel({ ...settings, phoneNumberId: '1' }, machineClock, LIMITS);
    assert.deepEqual(await lost.send(aMessage(), never), { kind: 'pause_sender', reason: '100.33' });
  });
});
