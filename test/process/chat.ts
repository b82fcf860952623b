/** A person in the chat of a service in a process of its own, over an HTTP peer that speaks as the channel does. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { UploadFile } from '../../src/domain/message/channel.ts';
import {
  type AcceptedMessage,
  buttonWebhook,
  type PersonMessage,
  personWebhook,
  textWebhook,
  type WebhookBody,
  type WhatsAppApi,
} from '../support/whatsapp-api.ts';
import { until } from './support.ts';

export interface Reply extends AcceptedMessage {
  readonly message: AcceptedMessage['message'] & {
    readonly text?: { readonly body: string };
    readonly interactive?: {
      readonly header?: { readonly document: { readonly id: string } };
      readonly body: { readonly text: string };
      readonly action: { readonly buttons: readonly { readonly reply: { id: string; title: string } }[] };
    };
  };
}

/** `url` is the service's at the time of a webhook; `from` the person's phone, without its plus. */
export function chatOf(api: WhatsAppApi, url: () => string, from: string) {
  let replies = 0;
  const deliver = async (body: WebhookBody) =>
    assert.deepEqual(await api.deliver(`${url()}/webhooks/whatsapp`, [body]), [200]);
  const sends = (message: PersonMessage) => deliver(personWebhook({ from, ...message }));
  return {
    deliver,
    says: (text: string) => deliver(textWebhook({ from, text })),
    /** The next reply, which the pattern has to fit. */
    async next(what: string, pattern: RegExp): Promise<Reply> {
      const taken = () => ([...api.accepted.values()].flat() as Reply[]).filter(isReply);
      const reply = await until(what, () => taken()[replies]);
      replies += 1;
      assert.match(textOf(reply), pattern);
      return reply;
    },
    taps(reply: Reply, index: number): Promise<void> {
      const button = reply.message.interactive?.action.buttons[index]?.reply;
      assert.ok(button, textOf(reply));
      const interactive = { type: 'button_reply', button_reply: button };
      return sends({ type: 'interactive', parts: { interactive }, messageId: reply.id });
    },
    /** The tap on "I am interested" under the offer of an application. */
    async begins(id: number): Promise<void> {
      const offer = await until('the offer', () => api.accepted.get(`${id}.1`)?.[0]);
      const [button] = offer.message.template.components.slice(1) as { parameters: { payload: string }[] }[];
      await deliver(buttonWebhook({ from, payload: button!.parameters[0]!.payload, messageId: offer.id }));
    },
    sendsFile(type: 'document' | 'image', { bytes, contentType, filename }: UploadFile): Promise<void> {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const file = { id: api.media.keep({ bytes, contentType }), mime_type: contentType, sha256 };
      return sends({ type, parts: { [type]: type === 'image' ? file : { ...file, filename } } });
    },
  };
}

function isReply({ callback }: Reply): boolean {
  return callback.startsWith('r');
}

export function textOf({ message: { text, interactive } }: Reply): string {
  return text?.body ?? interactive?.body.text ?? '';
}
