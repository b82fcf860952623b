/** What goes on at a service while it is restarted: batches, chats and the feed, by clients that come again. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { anApplication } from '../support/service.ts';
import { buttonWebhook, personWebhook, type WebhookBody, type WhatsAppApi } from '../support/whatsapp-api.ts';
import { type Reply, textOf } from './chat.ts';
import { until } from './support.ts';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id: number };
}

/** Repeats `work` until it is stopped. A fault shows at the end, and at each look. */
function looping(work: () => Promise<unknown>) {
  let isOn = true;
  let fault: unknown;
  const over = (async () => {
    while (isOn) await work();
  })().catch((error) => {
    fault = error;
  });
  const look = () => {
    if (fault !== undefined) throw fault;
  };
  return {
    look,
    async end() {
      isOn = false;
      await over;
      look();
    },
  };
}

/**
 * Begins at once. `url` is the proxy's. A request that fails comes again, a batch with its `Idempotency-Key`;
 * `failures` has the statuses of those.
 */
export function trafficAt(url: string, apiKey: string, api: WhatsAppApi) {
  const registered: { readonly id: number; readonly phone: string }[] = [];
  const chatted: string[] = [];
  const events: Event[] = [];
  const failures: number[] = [];
  const served = (what: string, path: string, init: RequestInit = {}) =>
    until(what, async () => {
      const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json', ...init.headers };
      const response = await fetch(`${url}${path}`, { ...init, headers });
      const text = await response.text();
      if (response.status === 200) return JSON.parse(text);
      failures.push(response.status);
      return undefined;
    });

  async function batch(): Promise<void> {
    const applications = [anApplication(), anApplication(), anApplication()];
    const body = JSON.stringify({ applications });
    const headers = { 'Idempotency-Key': randomUUID() };
    const { results } = await served('a batch', '/PRO', { method: 'POST', headers, body });
    assert.equal(results.length, 3);
    for (const [index, { id }] of results.entries())
      registered.push({ id, phone: applications[index]?.phone as string });
  }

  const deliver = (body: WebhookBody) =>
    until('a webhook', async () => {
      const [status] = await api.deliver(`${url}/webhooks/whatsapp`, [body]);
      if (status !== 200) failures.push(status!);
      return status === 200;
    });
  const repliesTo = (phone: string) =>
    ([...api.accepted.values()].flat() as Reply[]).filter(
      ({ callback, message }) => callback.startsWith('r') && message.to.endsWith(phone.slice(1)),
    );

  /** The newest applicant taps on the offer and gives the consent. */
  async function chat(): Promise<void> {
    const { id, phone } = await until('an applicant', () => {
      const newest = registered.at(-1);
      return newest !== undefined && newest.phone !== chatted.at(-1) && newest;
    });
    api.wrote.add(phone);
    const from = phone.slice(1);
    const offer = await until(`the offer of ${id}`, () => api.accepted.get(`${id}.1`)?.[0]);
    const [button] = offer.message.template.components.slice(1) as { parameters: { payload: string }[] }[];
    await deliver(buttonWebhook({ from, payload: button!.parameters[0]!.payload, messageId: offer.id }));
    const question = await until('the question for the consent', () => repliesTo(phone)[0]);
    const yes = question.message.interactive?.action.buttons[0]?.reply;
    assert.ok(yes, textOf(question));
    const interactive = { type: 'button_reply', button_reply: yes };
    await deliver(
      personWebhook({ from, type: 'interactive', parts: { interactive }, messageId: question.id }),
    );
    await until('the next question', () => repliesTo(phone)[1]);
    chatted.push(phone);
  }

  async function read(): Promise<void> {
    const after = events.length === 0 ? '' : `?after=${events.at(-1)!.id}`;
    const page = await served('a page of events', `/PRO/events${after}`);
    events.push(...page.events);
  }

  const loops = [batch, batch, chat, read].map(looping);
  const counts = () => [registered.length / 3, chatted.length, events.length];
  return {
    ...{ registered, chatted, events, failures, repliesTo },
    /** Waits until more of everything is done. */
    async goesOn(): Promise<void> {
      const before = counts();
      await until('more of everything', () => {
        for (const { look } of loops) look();
        return counts().every((count, index) => count >= before[index]! + 2);
      });
    },
    async end(): Promise<void> {
      for (const { end } of loops) await end();
      await read();
    },
  };
}
