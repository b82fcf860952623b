/**
 * A stand-in for WhatsApp's Cloud API: a real HTTP server that accepts what the real one accepts, with faults on
 * demand.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from './http-answer.ts';
import { type MediaStore, mediaStore } from './whatsapp-media.ts';
import { type ApprovedTemplates, refusalOf } from './whatsapp-validation.ts';
import {
  type DeliveryOptions,
  deliverWebhooks,
  PHONE_NUMBER_ID,
  type WebhookBody,
} from './whatsapp-webhooks.ts';

export * from './whatsapp-webhooks.ts';
export type { Answer };

/** A message as the channel gets it. Replies have their own part in place of the template. */
export interface TemplateMessage {
  readonly to: string;
  readonly template: {
    readonly name: string;
    readonly language: { readonly code: string };
    readonly components: readonly object[];
  };
  readonly biz_opaque_callback_data?: string;
}

export interface AcceptedMessage {
  readonly id: string;
  /** Empty if the send had none. */
  readonly callback: string;
  readonly message: TemplateMessage;
  /** `performance.now()`. */
  readonly at: number;
}

/** The fault of a request that would be accepted. */
export interface Fault {
  /** Whether the message is accepted all the same. By default only if the answer is the usual one. */
  readonly accept?: boolean;
  /** The answer waits for this. */
  readonly held?: Promise<unknown>;
  /** The answer in place of the usual one: none for ever, the end of the connection, or this. */
  readonly answer?: 'never' | 'close' | Answer;
}

export interface WhatsAppApi {
  /** The variables that make the service send here. */
  readonly environment: Readonly<Record<string, string>>;
  /** The messages that would go out to phones, by callback: more than one for a callback is a double send. */
  readonly accepted: ReadonlyMap<string, readonly AcceptedMessage[]>;
  /** The phones that wrote in the last 24 hours: these take replies. */
  readonly wrote: Set<string>;
  /** The messages of persons that were marked as read, with a typing indicator, in order. */
  readonly readMarks: string[];
  readonly media: MediaStore;
  /** So far; `ends` are the requests that got all of the answer that they get, `closed` the connections that ended. */
  readonly seen: { requests: number; ends: number; connections: number; closed: number };
  /** One entry a request, in order, made before `fault` is asked. */
  readonly faults: Fault[];
  fault: ((message: TemplateMessage) => Fault | undefined) | null;
  /** A send's answer waits for this: for events that overtake the answer. */
  onAccept: ((message: AcceptedMessage) => void | Promise<void>) | null;
  /** This many of the next connections are closed before anything is read. */
  closeUnread: number;
  deliver(url: string, webhooks: readonly WebhookBody[], options?: DeliveryOptions): Promise<number[]>;
  close(): Promise<void>;
}

const ACCESS_TOKEN = 'EAAtestTokenOfTheStandIn';
const APP_SECRET = 'app-secret-of-the-stand-in';

/** An answer with the error body of the API. */
export function errorAnswer(code: number, status = 400, headers: Record<string, string> = {}): Answer {
  const message = `(#${code}) Refused by the stand-in`;
  const error = { message, type: 'OAuthException', code, error_data: { details: message }, fbtrace_id: 'A1' };
  return { status, headers, body: JSON.stringify({ error }) };
}

/** Listens on a free port of the loopback. Close it when the test is done. */
export async function startWhatsAppApi(
  options: { templates?: ApprovedTemplates } = {},
): Promise<WhatsAppApi> {
  const accepted = new Map<string, AcceptedMessage[]>();
  const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const server = createServer((request, response) => {
    response.once('finish', () => {
      api.seen.ends += 1;
    });
    void handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    api.seen.requests += 1;
    if (request.headers.authorization === `Bearer ${ACCESS_TOKEN}`) {
      if (await api.media.handle(request, response, base())) return;
    }
    const body = await readJson(request);
    const refusal = refusalOfHead(request);
    if (refusal !== null) return send(response, refusal);
    if (isReadMark(body)) {
      api.readMarks.push(body.message_id);
      return send(response, { status: 200, body: '{"success":true}' });
    }
    const code = refusalOf(body, options.templates ?? null, api.wrote);
    if (code !== null) return send(response, errorAnswer(code));
    const message = body as TemplateMessage;
    const { accept, held, answer } = api.faults.shift() ?? api.fault?.(message) ?? {};
    const usual = (accept ?? answer === undefined) ? await take(message) : null;
    await held;
    if (answer === 'never') {
      api.seen.ends += 1;
      return;
    }
    if (answer === 'close') {
      response.destroy();
      return;
    }
    send(response, answer ?? usual ?? errorAnswer(131000, 500));
  }

  async function take(message: TemplateMessage): Promise<Answer> {
    const callback = message.biz_opaque_callback_data ?? '';
    const taken = {
      id: `wamid.${accepted.size}.${crypto.randomUUID()}`,
      callback,
      message,
      at: performance.now(),
    };
    accepted.set(callback, [...(accepted.get(callback) ?? []), taken]);
    await api.onAccept?.(taken);
    return {
      status: 200,
      body: JSON.stringify({
        messaging_product: 'whatsapp',
        contacts: [{ input: message.to, wa_id: message.to.replace('+', '') }],
        messages: [{ id: taken.id, message_status: 'accepted' }],
      }),
    };
  }

  server.on('connection', (socket) => {
    api.seen.connections += 1;
    socket.once('close', () => {
      api.seen.closed += 1;
    });
    if (api.closeUnread > 0) {
      api.closeUnread -= 1;
      socket.resetAndDestroy();
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const api: WhatsAppApi = {
    environment: {
      CHANNEL: 'whatsapp',
      WHATSAPP_API_URL: `${base()}/v25.0`,
      WHATSAPP_PHONE_NUMBER_ID: PHONE_NUMBER_ID,
      WHATSAPP_ACCESS_TOKEN: ACCESS_TOKEN,
      WHATSAPP_APP_SECRET: APP_SECRET,
      WHATSAPP_VERIFY_TOKEN: 'verify-token-of-the-stand-in',
    },
    accepted,
    wrote: new Set(),
    readMarks: [],
    media: mediaStore(PHONE_NUMBER_ID, errorAnswer),
    seen: { requests: 0, ends: 0, connections: 0, closed: 0 },
    faults: [],
    fault: null,
    onAccept: null,
    closeUnread: 0,
    deliver: (url, webhooks, delivery) => deliverWebhooks(url, APP_SECRET, webhooks, delivery),
    close() {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
  return api;
}

/** Whether the body marks a message as read in the form of the API. */
function isReadMark(body: unknown): body is { message_id: string } {
  const mark = body as Record<string, unknown> | undefined;
  const typing = mark?.typing_indicator as { type?: unknown } | undefined;
  return (
    mark?.messaging_product === 'whatsapp' &&
    mark.status === 'read' &&
    typeof mark.message_id === 'string' &&
    typing?.type === 'text'
  );
}

/** The refusal of a request before its body is looked at. */
function refusalOfHead({ method, url, headers }: IncomingMessage): Answer | null {
  if (headers.authorization !== `Bearer ${ACCESS_TOKEN}`) return errorAnswer(190, 401);
  if (method !== 'POST' || url !== `/v25.0/${PHONE_NUMBER_ID}/messages`) return lostNumberAnswer();
  return headers['content-type'] === 'application/json' ? null : errorAnswer(100);
}

/** The API's answer for a number that does not exist, or that the token may not use. */
export function lostNumberAnswer(): Answer {
  const error = {
    message:
      "Unsupported post request. Object with ID '1' does not exist, cannot be loaded due to missing permissions",
    type: 'GraphMethodException',
    code: 100,
    error_subcode: 33,
    fbtrace_id: 'A1',
  };
  return { status: 400, body: JSON.stringify({ error }) };
}

/** undefined if the text is not JSON. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, { status, headers, body = '' }: Answer): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
}
