/** The channel's webhooks: their bodies, their signature, and a sender that is as untidy as the real one. */
import { createHmac } from 'node:crypto';
import type { ChannelStatus } from '../../src/domain/message/channel-event.ts';

export const PHONE_NUMBER_ID = '106540352242922';
const ACCOUNT_ID = '102290129340398';

export interface WebhookBody {
  readonly object: string;
  readonly entry: {
    readonly id: string;
    readonly changes: { readonly field: string; readonly value: object }[];
  }[];
}

export interface StatusEvent {
  /** The id in the answer to the send. */
  readonly id: string;
  readonly status: ChannelStatus;
  /** Absent if the send had none. */
  readonly callback?: string;
  /** Digits, in the channel's own form, which may differ from the phone of the send. */
  readonly recipient?: string;
  /** The channel's own id of the recipient. */
  readonly recipientUserId?: string;
  readonly at?: Date;
  /** Codes; the channel gives them with `failed`. */
  readonly errors?: readonly number[];
}

interface Inbound {
  /** The sender's phone: digits; absent for a person with a user name. */
  readonly from?: string;
  /** The channel's own id of the sender. */
  readonly userId?: string;
  /** The id of the inbound message. */
  readonly id?: string;
  readonly at?: Date;
}

export interface ButtonEvent extends Inbound {
  readonly payload: string;
  readonly title?: string;
  /** The id of the message with the button. */
  readonly messageId: string;
}

export interface TextEvent extends Inbound {
  readonly text: string;
  /** The id of the message that the text answers. */
  readonly messageId?: string;
}

/** Any message of a person: its type, and the parts of that type. */
export interface PersonMessage extends Inbound {
  readonly type: string;
  readonly parts: Readonly<Record<string, unknown>>;
  /** The id of the message that it answers. */
  readonly messageId?: string;
}

export interface PreferenceEvent {
  /** The phone: digits; absent for a person with a user name. */
  readonly from?: string;
  /** The channel's own id of the person. */
  readonly userId?: string;
  readonly value: 'stop' | 'resume';
  readonly at?: Date;
}

export function statusWebhook(...events: readonly StatusEvent[]): WebhookBody {
  return webhookBody('messages', {
    statuses: events.map(
      ({ id, status, callback, recipient = '573001234567', recipientUserId, at, errors }) => ({
        id,
        status,
        timestamp: seconds(at),
        recipient_id: recipient,
        ...(recipientUserId === undefined ? {} : { recipient_user_id: recipientUserId }),
        ...(callback === undefined ? {} : { biz_opaque_callback_data: callback }),
        ...(errors === undefined
          ? {}
          : {
              errors: errors.map((code) => ({
                code,
                title: `Error ${code}`,
                message: `Error ${code}`,
                error_data: { details: `What ${code} means` },
              })),
            }),
      }),
    ),
  });
}

/** Taps on the quick-reply button of a template message. */
export function buttonWebhook(...events: readonly ButtonEvent[]): WebhookBody {
  return webhookBody('messages', {
    messages: events.map((event) => ({
      ...inbound(event),
      context: { id: event.messageId },
      type: 'button',
      button: { payload: event.payload, text: event.title ?? 'Me interesa' },
    })),
  });
}

export function textWebhook(...events: readonly TextEvent[]): WebhookBody {
  return webhookBody('messages', {
    messages: events.map((event) => ({
      ...inbound(event),
      ...(event.messageId === undefined ? {} : { context: { id: event.messageId } }),
      type: 'text',
      text: { body: event.text },
    })),
  });
}

/** Messages of persons of any type: files, taps on interactive messages, rows of lists and others. */
export function personWebhook(...events: readonly PersonMessage[]): WebhookBody {
  return webhookBody('messages', {
    messages: events.map((event) => ({
      ...inbound(event),
      ...(event.messageId === undefined ? {} : { context: { id: event.messageId } }),
      type: event.type,
      ...event.parts,
    })),
  });
}

export function preferenceWebhook(...events: readonly PreferenceEvent[]): WebhookBody {
  return webhookBody('user_preferences', {
    user_preferences: events.map(({ from, userId, value, at }) => ({
      ...(from === undefined ? {} : { wa_id: from }),
      ...(userId === undefined ? {} : { user_id: userId }),
      detail: `User requested to ${value} marketing messages`,
      category: 'marketing_messages',
      value,
      timestamp: seconds(at),
    })),
  });
}

/** The value of X-Hub-Signature-256 for a body as it goes over the wire. */
export function signature(body: string | Uint8Array, appSecret: string): string {
  return `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;
}

export interface DeliveryOptions {
  /** How often each webhook is sent. */
  readonly copies?: number;
  /** Numbers from 0 to 1 that shuffle the order; without them the order is kept. */
  readonly shuffle?: () => number;
  /** How many are under way at once. */
  readonly concurrency?: number;
}

/** Posts each webhook, signed. Resolves to the HTTP statuses, in the order of sending. */
export async function deliverWebhooks(
  url: string,
  appSecret: string,
  webhooks: readonly WebhookBody[],
  { copies = 1, shuffle, concurrency = 1 }: DeliveryOptions = {},
): Promise<number[]> {
  const bodies = webhooks.flatMap((item) => Array<string>(copies).fill(JSON.stringify(item)));
  if (shuffle !== undefined) mix(bodies, shuffle);
  const statuses: number[] = [];
  let next = 0;
  const lane = async () => {
    while (next < bodies.length) {
      const turn = next++;
      const body = bodies[turn] as string;
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Hub-Signature-256': signature(body, appSecret) },
        body,
      });
      await response.arrayBuffer();
      statuses[turn] = response.status;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return statuses;
}

function mix(items: string[], random: () => number): void {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other] as string, items[last] as string];
  }
}

function webhookBody(field: string, value: object): WebhookBody {
  const metadata = { display_phone_number: '15550783881', phone_number_id: PHONE_NUMBER_ID };
  return {
    object: 'whatsapp_business_account',
    entry: [
      { id: ACCOUNT_ID, changes: [{ field, value: { messaging_product: 'whatsapp', metadata, ...value } }] },
    ],
  };
}

let serial = 0;

function inbound({ from, userId, id = `wamid.inbound.${++serial}`, at }: Inbound): object {
  return {
    ...(from === undefined ? {} : { from }),
    ...(userId === undefined ? {} : { from_user_id: userId }),
    id,
    timestamp: seconds(at),
  };
}

function seconds(at = new Date()): string {
  return String(Math.floor(at.getTime() / 1_000));
}
