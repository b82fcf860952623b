/** A service with open conversations, and a stand-in of the channel that takes every reply. */
import { createHmac, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { anApplication } from '../test/support/service.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

const BATCH = 100;
const BEGUN_WITHIN_MS = 300_000;

export interface Person {
  readonly id: number;
  readonly phone: string;
}

export interface ConversationStage {
  readonly service: ServiceProcess;
  /** The address of the webhook, and the secret that signs its bodies. */
  readonly webhook: string;
  readonly appSecret: string;
  readonly persons: readonly Person[];
  /** One webhook with one message of each of these persons. Resolves to the time at which it is answered. */
  tell(persons: readonly Person[], content: (person: Person) => object): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a service, registers so many applicants, and lets each of them tap: all are asked for the consent. */
export async function openConversations(conversations: number): Promise<ConversationStage> {
  const appSecret = randomBytes(16).toString('hex');
  const secret = () => randomBytes(32).toString('base64');
  const peer = await startPeer();
  const service = await startServiceProcess({
    DELIVERY: 'on',
    LOG_LEVEL: 'error',
    CHANNEL: 'whatsapp',
    DATA_KEYS: `1:${secret()}`,
    INDEX_KEY: secret(),
    API_KEY_PEPPER: secret(),
    WHATSAPP_API_URL: `http://127.0.0.1:${(peer.address() as AddressInfo).port}`,
    WHATSAPP_PHONE_NUMBER_ID: '1',
    WHATSAPP_ACCESS_TOKEN: 'token',
    WHATSAPP_APP_SECRET: appSecret,
    WHATSAPP_VERIFY_TOKEN: 'verify',
    // This is about replies: they all go out, and the templates wait.
    MESSAGES_PER_SECOND: '1000',
    RECIPIENTS_PER_DAY: '1',
  });
  const webhook = `${service.url.replace(/\/PRO$/, '')}/webhooks/whatsapp`;
  let serial = 0;
  const tell = async (some: readonly Person[], content: (person: Person) => object): Promise<number> => {
    const timestamp = `${Math.floor(Date.now() / 1000)}`;
    const messages = some.map((person) => ({
      ...{ from: person.phone.replace('+', ''), id: `wamid.in.${++serial}`, timestamp },
      ...content(person),
    }));
    const value = { messaging_product: 'whatsapp', metadata: { phone_number_id: '1' }, messages };
    const body = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
    });
    const signature = createHmac('sha256', appSecret).update(body).digest('hex');
    const headers = { 'Content-Type': 'application/json', 'X-Hub-Signature-256': `sha256=${signature}` };
    // As the channel does: what was not answered with 200 comes again.
    for (;;) {
      const status = await fetch(webhook, { method: 'POST', headers, body })
        .then(async (response) => {
          await response.arrayBuffer();
          return response.status;
        })
        .catch(() => 0);
      if (status === 200) return performance.now();
      await sleep(500);
    }
  };
  const stop = async () => {
    await service.stop();
    peer.close();
  };
  try {
    const persons = await register(service, conversations);
    console.log(`${persons.length} applications are registered`);
    await begin(service, persons, tell);
    console.log(`${persons.length} conversations are open`);
    return { service, webhook, appSecret, persons, tell, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startPeer() {
  const peer = createServer((request, response) => {
    request.resume().on('end', () => {
      const messages = [{ id: `wamid.${randomBytes(12).toString('hex')}`, message_status: 'accepted' }];
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ messaging_product: 'whatsapp', messages }));
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => peer.once('listening', resolve));
  return peer;
}

async function register({ url, apiKey }: ServiceProcess, conversations: number): Promise<Person[]> {
  const persons: Person[] = [];
  while (persons.length < conversations) {
    const applications = Array.from({ length: BATCH }, () => anApplication());
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ applications }),
    });
    const { results } = (await response.json()) as { results: { id: number; status: string }[] };
    for (const [index, { id, status }] of results.entries()) {
      if (status !== 'rejected') persons.push({ id, phone: applications[index]!.phone as string });
    }
  }
  return persons.slice(0, conversations);
}

async function begin(
  { admin }: ServiceProcess,
  persons: readonly Person[],
  tell: ConversationStage['tell'],
): Promise<void> {
  for (let from = 0; from < persons.length; from += BATCH) {
    await tell(persons.slice(from, from + BATCH), ({ id }) => ({
      type: 'button',
      button: { payload: `interested.${id}`, text: 'Me interesa' },
    }));
  }
  const open = "SELECT count(*)::integer AS n FROM conversations WHERE place = 'data_consent'";
  const until = performance.now() + BEGUN_WITHIN_MS;
  for (;;) {
    const n = (await admin.query<{ n: number }>(open)).rows[0]?.n ?? 0;
    if (n >= persons.length) return;
    if (performance.now() > until) throw new Error(`only ${n} conversations began`);
    await sleep(500);
  }
}
