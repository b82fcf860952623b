/** The stand-in for WhatsApp's API is as strict and as untidy as other tests assume. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import {
  buttonWebhook,
  preferenceWebhook,
  signature,
  startWhatsAppApi,
  statusWebhook,
  textWebhook,
} from '../../support/whatsapp-api.ts';
import { refusalOf } from '../../support/whatsapp-validation.ts';

const BODY = { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] };
const BUTTON = {
  type: 'button',
  sub_type: 'quick_reply',
  index: '0',
  parameters: [{ type: 'payload', payload: 'interested.1' }],
};
const TEMPLATE = { name: 'offer', language: { code: 'es' }, components: [BODY, BUTTON] };
const MESSAGE = {
  messaging_product: 'whatsapp',
  recipient_type: 'individual',
  to: '+573001234567',
  type: 'template',
  template: TEMPLATE,
  biz_opaque_callback_data: '1.1',
};
const APPROVED = new Map([['offer/es', { parameters: 1, buttons: 1 }]]);

const withTemplate = (changes: object) => ({ ...MESSAGE, template: { ...TEMPLATE, ...changes } });
const withButton = (changes: object) => withTemplate({ components: [BODY, { ...BUTTON, ...changes }] });
const withText = (parameter: unknown) =>
  withTemplate({ components: [{ type: 'body', parameters: [parameter] }, BUTTON] });

describe('requests to the stand-in', () => {
  it('API: the stand-in takes a template message, and refuses anything else with the code of the API', () => {
    assert.equal(refusalOf(MESSAGE, APPROVED), null);
    assert.equal(refusalOf(MESSAGE, null), null);
    const refused: [code: number, body: unknown][] = [
      [100, undefined],
      [100, [MESSAGE]],
      [100, { ...MESSAGE, extra: 1 }],
      [100, { ...MESSAGE, messaging_product: undefined }],
      [100, { ...MESSAGE, recipient_type: 'group' }],
      [100, { ...MESSAGE, biz_opaque_callback_data: 'x'.repeat(513) }],
      [100, { ...MESSAGE, biz_opaque_callback_data: 1 }],
      [131008, { ...MESSAGE, to: undefined }],
      [131009, { ...MESSAGE, to: 'Ana' }],
      [131009, { ...MESSAGE, to: 573001234567 }],
      [131047, { ...MESSAGE, type: 'text' }],
      [131047, { ...MESSAGE, type: 'interactive' }],
      [131051, { ...MESSAGE, type: 'fax' }],
      [131008, { ...MESSAGE, template: undefined }],
      [131008, withTemplate({ language: 'es' })],
      [131008, withTemplate({ name: undefined })],
      [132001, withTemplate({ name: 'Offer' })],
      [132001, withTemplate({ name: 'another' })],
      [132001, withTemplate({ language: { code: 'pt' } })],
      [132001, withTemplate({ language: { code: 'es-CO' } })],
      [132000, withTemplate({ components: [BUTTON] })],
      [100, withTemplate({ components: [BODY, BODY, BUTTON] })],
      [100, withTemplate({ components: [{ ...BODY, type: 'footer' }] })],
      [131008, withTemplate({ components: [{ type: 'body', parameters: [] }, BUTTON] })],
      [132012, withText({ type: 'number', text: '1' })],
      [131008, withText({ type: 'text', text: '' })],
      [131008, withText({ type: 'text', text: 1 })],
      [132012, withTemplate({ components: [BODY] })],
      [131009, withButton({ sub_type: 'url' })],
      [131009, withButton({ index: 0 })],
      [131009, withTemplate({ components: [BODY, BUTTON, BUTTON] })],
      [132012, withButton({ parameters: [] })],
      [131009, withButton({ parameters: [{ type: 'payload', payload: '' }] })],
      [100, withButton({ title: 'Me interesa' })],
    ];
    for (const [code, body] of refused) assert.equal(refusalOf(body, APPROVED), code, JSON.stringify(body));
  });
});

describe('webhooks of the stand-in', () => {
  it('API: webhooks have the form of the channel', () => {
    const at = new Date(1_790_000_000_000);
    const [change] = statusWebhook({
      id: 'wamid.1',
      status: 'failed',
      callback: '1.1',
      errors: [131026],
      at,
    }).entry[0]!.changes;
    assert.equal(change?.field, 'messages');
    assert.deepEqual((change?.value as { statuses: unknown }).statuses, [
      {
        id: 'wamid.1',
        status: 'failed',
        timestamp: '1790000000',
        recipient_id: '573001234567',
        biz_opaque_callback_data: '1.1',
        errors: [
          {
            code: 131026,
            title: 'Error 131026',
            message: 'Error 131026',
            error_data: { details: 'What 131026 means' },
          },
        ],
      },
    ]);
    const from = '573001234567';
    const tap = buttonWebhook({ from, payload: 'interested.1', messageId: 'wamid.1', id: 'in.1', at });
    assert.deepEqual((tap.entry[0]?.changes[0]?.value as { messages: unknown }).messages, [
      {
        from,
        id: 'in.1',
        timestamp: '1790000000',
        context: { id: 'wamid.1' },
        type: 'button',
        button: { payload: 'interested.1', text: 'Me interesa' },
      },
    ]);
    const text = textWebhook({ from, text: 'BAJA', id: 'in.2', at });
    assert.deepEqual((text.entry[0]?.changes[0]?.value as { messages: unknown }).messages, [
      { from, id: 'in.2', timestamp: '1790000000', type: 'text', text: { body: 'BAJA' } },
    ]);
    const preference = preferenceWebhook({ from, value: 'stop', at });
    assert.equal(preference.entry[0]?.changes[0]?.field, 'user_preferences');
  });

  it('API: webhooks are signed, and doubled and shuffled on demand', async () => {
    const api = await startWhatsAppApi();
    const secret = api.environment.WHATSAPP_APP_SECRET as string;
    const bodies: string[] = [];
    const receiver = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      const genuine = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
      bodies.push(body.toString());
      response.writeHead(request.headers['x-hub-signature-256'] === genuine ? 200 : 401).end();
    });
    await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
    after(() => Promise.all([api.close(), receiver.close()]));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const envelopes = (['sent', 'delivered', 'read'] as const).map((status) =>
      statusWebhook({ id: 'wamid.ñ', status }),
    );
    const sent = envelopes.map((envelope) => JSON.stringify(envelope));
    assert.deepEqual(await api.deliver(url, envelopes), [200, 200, 200]);
    assert.deepEqual(bodies.splice(0), sent);
    await api.deliver(url, envelopes, { copies: 2, shuffle: () => 0 });
    assert.notDeepEqual(bodies, [...sent, ...sent].toSorted());
    assert.deepEqual(bodies.toSorted(), [...sent, ...sent].toSorted());
    assert.equal(signature('x', secret), signature(Buffer.from('x'), secret));
  });
});
