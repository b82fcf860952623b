/**
 * Sends messages, replies, codes and read marks through WhatsApp's Cloud API over the network, one in each request
 * (docs/messages.md, "Channels"). `channels/whatsapp-answers.ts` says what an answer means.
 */
import type { Channel, OutgoingCode } from '../../../domain/message/channel.ts';
import type { OutgoingMessage } from '../../../domain/message/outgoing-message.ts';
import {
  type OutgoingReply,
  type ReplyDocument,
  type ReplyList,
  replyFaults,
} from '../../../domain/message/reply.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { type PostLimits, postOnce } from './post-once.ts';
import { resultOf } from './whatsapp-answers.ts';
import { whatsappMedia } from './whatsapp-media.ts';

interface WhatsAppSettings {
  /** The address with the API's version, without a slash at the end. */
  readonly apiUrl: string;
  readonly phoneNumberId: string;
  readonly accessToken: string;
}

const LIMITS: PostLimits = { timeoutMs: 10_000, maxAnswerBytes: 64 * 1_024, idleMs: 4_000 };
/** A reply waits for its read mark, so a slow mark is given up. */
const READ_WITHIN_MS = 2_000;

/**
 * The channel WhatsApp. The API has no key for idempotent sends, so a result is `retry` only if the message was surely
 * not sent; see `resultOf`. A result contains neither the token nor personal data. Throws if a setting cannot be part
 * of a request.
 */
export function whatsappChannel(
  settings: WhatsAppSettings,
  clock: Clock,
  limits: PostLimits = LIMITS,
): Channel {
  const url = new URL(`${settings.apiUrl}/${settings.phoneNumberId}/messages`);
  const headers = { Authorization: `Bearer ${settings.accessToken}`, 'Content-Type': 'application/json' };
  const options = { ...limits, clock };
  const post = postOnce(url, headers, options);
  const mark = postOnce(url, headers, { ...options, timeoutMs: Math.min(limits.timeoutMs, READ_WITHIN_MS) });
  return {
    async send(message, signal) {
      return resultOf(await post(JSON.stringify(templateBody(message)), signal), message.attempt);
    },
    async sendReply(reply, signal) {
      if (replyFaults(reply).length > 0) return { kind: 'give_up', reason: 'unsendable' };
      return resultOf(await post(JSON.stringify(replyBody(reply)), signal), reply.attempt);
    },
    async markRead(channelMessageId, signal) {
      await mark(JSON.stringify(readBody(channelMessageId)), signal);
    },
    codeWay: 'channel',
    async sendCode(code, signal) {
      return resultOf(await post(JSON.stringify(codeBody(code)), signal), 1);
    },
    ...whatsappMedia(settings, clock, limits),
  };
}

// Second part: the bodies of the requests.

/** A template message. */
function templateBody(message: OutgoingMessage): object {
  const { template } = message;
  const body = {
    type: 'body',
    parameters: template.parameters.map((text) => ({ type: 'text', text })),
  };
  // The approved template fixes the labels. The message only sets the payload that a tap returns.
  const buttons = message.buttons.map(({ payload }, index) => ({
    type: 'button',
    sub_type: 'quick_reply',
    index: String(index),
    parameters: [{ type: 'payload', payload }],
  }));
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: message.phone,
    type: 'template',
    template: {
      name: template.name,
      language: { code: template.language },
      components: [...(template.parameters.length === 0 ? [] : [body]), ...buttons],
    },
    biz_opaque_callback_data: message.callback,
  };
}

/** An authentication template with a button that copies the code: the code stands in the text and in the button. */
function codeBody({ phone, code, template, language }: OutgoingCode): object {
  const parameters = [{ type: 'text', text: code }];
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: phone,
    type: 'template',
    template: {
      name: template,
      language: { code: language },
      components: [
        { type: 'body', parameters },
        { type: 'button', sub_type: 'url', index: '0', parameters },
      ],
    },
  };
}

/**
 * A reply without faults (`replyFaults`): a text, an interactive message with buttons (below a document, if there is
 * one) or with a list, or a document or a picture with the text as its caption.
 */
function replyBody(reply: OutgoingReply): object {
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: reply.phone,
    ...partsOf(reply),
    biz_opaque_callback_data: reply.callback,
  };
}

function partsOf({ text, buttons, list, document }: OutgoingReply): object {
  if (list !== undefined) return { type: 'interactive', interactive: listOf(text, list) };
  if (buttons.length > 0) {
    const interactive = {
      type: 'button',
      ...(document && { header: { type: 'document', document: documentOf(document) } }),
      body: { text },
      action: {
        buttons: buttons.map(({ title, payload }) => ({ type: 'reply', reply: { id: payload, title } })),
      },
    };
    return { type: 'interactive', interactive };
  }
  const caption = text === '' ? {} : { caption: text };
  if (document?.isPicture) return { type: 'image', image: { id: document.mediaId, ...caption } };
  if (document !== undefined) return { type: 'document', document: { ...documentOf(document), ...caption } };
  return { type: 'text', text: { body: text, preview_url: false } };
}

function listOf(text: string, { button, rows }: ReplyList): object {
  const choices = rows.map(({ title, payload, description }) => ({
    id: payload,
    title,
    ...(description !== undefined && { description }),
  }));
  return { type: 'list', body: { text }, action: { button, sections: [{ rows: choices }] } };
}

function documentOf({ mediaId, filename }: ReplyDocument): object {
  return { id: mediaId, filename };
}

/** Marks a person's message as read. The typing indicator ends with the answer, or after 25 seconds. */
function readBody(channelMessageId: string): object {
  return {
    messaging_product: 'whatsapp',
    status: 'read',
    message_id: channelMessageId,
    typing_indicator: { type: 'text' },
  };
}
