/** A channel with many faults: faults of every class, and status events that come early, twice, late or not at all. */
import { createHash } from 'node:crypto';
import type { ChannelStatus } from '../../src/domain/message/channel-event.ts';
import { ERROR_CODES } from '../../src/subjects/messages/channels/whatsapp-errors.ts';
import {
  type AcceptedMessage,
  errorAnswer,
  type Fault,
  type StatusEvent,
  statusWebhook,
  type TemplateMessage,
  type WhatsAppApi,
} from './whatsapp-api.ts';

/** The fault of a send: of its request, or, with `failedWith`, of the message after the channel accepted it. */
interface FaultClass {
  readonly fault?: Fault;
  readonly failedWith?: number;
}

const SILENT = 'timeout after accept';
const RETRY_AFTER = { 'Retry-After': '1' };

export const FAULT_CLASSES: ReadonlyMap<string, FaultClass> = new Map<string, FaultClass>([
  [SILENT, { fault: { accept: true, answer: 'never' } }],
  ['connection lost after accept', { fault: { accept: true, answer: 'close' } }],
  ['connection lost before accept', { fault: { answer: 'close' } }],
  ['500 after accept', { fault: { accept: true, answer: { status: 500 } } }],
  ['502 before accept', { fault: { answer: { status: 502 } } }],
  ['503 with Retry-After', { fault: { answer: { status: 503, headers: RETRY_AFTER } } }],
  ['429', { fault: { answer: { status: 429, headers: RETRY_AFTER } } }],
  ...Object.entries(ERROR_CODES).map(
    ([action, [code = 0]]) => [`refused: ${action}`, { fault: { answer: errorAnswer(code) } }] as const,
  ),
  ['fails afterwards: retry', { failedWith: ERROR_CODES.retry[0] as number }],
  ['fails afterwards: give_up', { failedWith: ERROR_CODES.give_up[0] as number }],
]);

const MAX_EVENTS = 500;

export interface ChannelFaults {
  /** How often each class occurred. */
  readonly counts: ReadonlyMap<string, number>;
  /** Callbacks of accepted sends that an event reports as failed: these messages reached no phone. */
  readonly failed: ReadonlySet<string>;
  /** Sends the waiting events; the late ones only if asked for. Gives their number. */
  deliver(options: { late: boolean }): Promise<number>;
}

/**
 * Gives `share` of the sends a fault, each class equally often, and the same fault for the same message and attempt.
 * Events go to `webhookUrl`. A send without an answer holds its worker up for the channel's time limit; after
 * `silent` such sends the connection is closed instead.
 */
export function addFaults(
  apis: readonly WhatsAppApi[],
  webhookUrl: string,
  { share, silent }: { share: number; silent: number },
): ChannelFaults {
  const counts = new Map<string, number>();
  const failed = new Set<string>();
  let soon: StatusEvent[] = [];
  let late: StatusEvent[] = [];

  const classOf = (callback: string): string | undefined => {
    const lot = lotOf(callback, 0) / share;
    return lot < 1 ? [...FAULT_CLASSES.keys()][Math.floor(lot * FAULT_CLASSES.size)] : undefined;
  };
  const fault = ({ biz_opaque_callback_data: callback = '' }: TemplateMessage) => {
    const name = classOf(callback);
    if (name === undefined) return undefined;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (name === SILENT && count > silent) return { accept: true, answer: 'close' } as const;
    return FAULT_CLASSES.get(name)?.fault;
  };
  const onAccept = (api: WhatsAppApi) => async (message: AcceptedMessage) => {
    const failedWith = FAULT_CLASSES.get(classOf(message.callback) ?? '')?.failedWith;
    if (failedWith !== undefined) failed.add(message.callback);
    const events = eventsOf(message, failedWith);
    const when = lotOf(message.callback, 8);
    if (when < 0.05) await post(api, events);
    else if (when < 0.2) late.push(...events);
    else soon.push(...events);
  };
  for (const api of apis) {
    api.fault = fault;
    api.onAccept = onAccept(api);
  }

  /** Like the real channel, this one repeats events that were not accepted. */
  async function post(api: WhatsAppApi, events: readonly StatusEvent[]): Promise<void> {
    if (events.length === 0) return;
    const sent = api.deliver(webhookUrl, [statusWebhook(...events)]);
    const [status] = await sent.catch(() => [undefined]);
    if (status !== 200) soon.push(...events);
  }

  return {
    counts,
    failed,
    async deliver(options) {
      const events = options.late ? [...soon, ...late] : soon;
      soon = [];
      if (options.late) late = [];
      for (let start = 0; start < events.length; start += MAX_EVENTS) {
        await post(apis[0] as WhatsAppApi, events.slice(start, start + MAX_EVENTS));
      }
      return events.length;
    },
  };
}

/** A tenth of the messages that do not fail get no event; of the other messages a third of the events come twice. */
function eventsOf({ id, callback }: AcceptedMessage, failedWith: number | undefined): StatusEvent[] {
  const lot = lotOf(callback, 4);
  if (failedWith === undefined && lot < 0.1) return [];
  const fares: ChannelStatus[] =
    failedWith !== undefined ? ['sent', 'failed'] : lot < 0.4 ? ['sent'] : ['read', 'sent', 'delivered'];
  return fares.flatMap((status, index) => {
    const event = {
      id,
      callback,
      status,
      ...(status === 'failed' ? { errors: [failedWith as number] } : {}),
    };
    return lotOf(callback, 12 + index) < 0.33 ? [event, event] : [event];
  });
}

/** From 0 to 1, the same for the same callback and byte. */
function lotOf(callback: string, byte: number): number {
  return createHash('sha256').update(callback).digest().readUInt32BE(byte) / 2 ** 32;
}
