/**
 * Messages of persons at a steady rate, in a process of its own: webhooks over keep-alive sockets, which cost little
 * CPU. It tells how long the service took to answer.
 */
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from './phase.ts';

export interface Webhooks {
  /** The address of the webhook. */
  readonly url: string;
  readonly appSecret: string;
  /** Who writes, one after the other. */
  readonly phones: readonly string[];
  readonly text: string;
  /** Messages in a second. */
  readonly perSecond: number;
  /** Messages in one webhook. */
  readonly together: number;
  readonly ms: number;
}

export interface WebhooksResult {
  readonly answered: number;
  /** Answers that were not 200, and broken connections. */
  readonly refused: number;
  /** When each webhook was answered with 200, in milliseconds since 1970; null: it was not. In the order of sending. */
  readonly answeredAt: readonly (number | null)[];
  /** Milliseconds to the answer; NaN where nothing was answered. */
  readonly p99: number;
  /** CPU of this process, in milliseconds. */
  readonly cpuMs: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 });
let serial = 0;
let next = 0;

serve<Webhooks, WebhooksResult>(async ({ url, appSecret, phones, text, perSecond, together, ms }) => {
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const times: number[] = [];
  const under: Promise<void>[] = [];
  const answeredAt: (number | null)[] = [];
  let refused = 0;
  const count = Math.floor((perSecond * ms) / (1000 * together));
  for (let sent = 0; sent < count; sent += 1) {
    const due = begun + (sent * 1000 * together) / perSecond;
    const waitMs = due - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    const some = Array.from({ length: together }, () => phones[next++ % phones.length]!);
    const body = bodyOf(some, text);
    const signature = createHmac('sha256', appSecret).update(body).digest('hex');
    const sentAt = performance.now();
    under.push(
      post(url, body, signature).then((status) => {
        if (status === 200) times.push(performance.now() - sentAt);
        else refused += 1;
        answeredAt[sent] = status === 200 ? performance.timeOrigin + performance.now() : null;
      }),
    );
  }
  await Promise.all(under);
  times.sort((a, b) => a - b);
  const { user, system } = process.cpuUsage(cpu);
  const p99 = times[Math.min(times.length - 1, Math.floor(times.length * 0.99))] ?? Number.NaN;
  return { answered: times.length, refused, answeredAt, p99, cpuMs: (user + system) / 1000 };
});

function bodyOf(phones: readonly string[], text: string): string {
  const messages = phones.map((phone) => ({
    ...{ from: phone.replace('+', ''), id: `wamid.in.${process.pid}.${++serial}` },
    ...{ timestamp: `${Math.floor(Date.now() / 1000)}`, type: 'text', text: { body: text } },
  }));
  const value = { messaging_product: 'whatsapp', metadata: { phone_number_id: '1' }, messages };
  return JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
  });
}

/** The status of the answer; 0 where there is none. */
function post(url: string, body: string, signature: string): Promise<number> {
  return new Promise((resolve) => {
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'X-Hub-Signature-256': `sha256=${signature}`,
      },
    });
    sent.on('response', (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', () => resolve(0)).end(body);
  });
}
