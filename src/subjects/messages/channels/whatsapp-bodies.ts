/** The bodies of requests to WhatsApp's Cloud API. */

import type { OutgoingCode } from '../../../domain/message/code-channel.ts';
import type { OutgoingMessage } from '../../../domain/message/outgoing-message.ts';
import type { OutgoingReply, ReplyDocument, ReplyList } from '../../../domain/message/reply.ts';

/** A template message. */
export function templateBody(message: OutgoingMessage): object {
  const { template } = message;
  const body = {
    type: 'body',
    parameters: template.parameters.map((text) => ({ type: 'text', text })),
  };
  // The approved template fixes the labels. A send fixes only the payload that a tap returns.
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
export function codeBody({ phone, code, template, language }: OutgoingCode): object {
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
 * A reply without faults (`replyFaults`): a text, an interactive message with buttons (under a document, where there is
 * one) or with a list, or a document with the text as its caption.
 */
export function replyBody(reply: OutgoingReply): object {
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
  if (document !== undefined)
    return { type: 'document', document: { ...documentOf(document), caption: text } };
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
export function readBody(channelMessageId: string): object {
  return {
    messaging_product: 'whatsapp',
    status: 'read',
    message_id: channelMessageId,
    typing_indicator: { type: 'text' },
  };
}
