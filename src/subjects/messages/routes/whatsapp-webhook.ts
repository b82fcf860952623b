/**
 * The route that WhatsApp's API calls: the handshake of its subscription, and its webhooks (docs/messages.md, "Setting
 * up WhatsApp"). Checks the signature of the raw body before anything else.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ChannelEvent } from '../../../domain/message/channel-event.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { UnavailableError } from '../../../ground/base/registration-failure.ts';
import { connectionOf } from '../../../wire/gate/front-door.ts';
import { inTime } from '../../../wire/gate/in-time.ts';

/** The secrets of the webhook, and what it does. */
export interface WebhookOptions {
  readonly clock: Clock;
  /** The key of the webhooks' signatures. */
  readonly appSecret: string;
  /** The token that proves the subscription. */
  readonly verifyToken: string;
  /**
   * Reads the body of a webhook, which may be anything. Never throws. `ignored` counts the parts that are no events.
   */
  readonly read: (body: Buffer) => { readonly events: readonly ChannelEvent[]; readonly ignored: number };
  /**
   * Resolves when every change by the events is committed, to counts for the log and the events that could not be
   * applied. Rejects if the channel should send the webhook again.
   */
  readonly apply: (events: readonly ChannelEvent[]) => Promise<{ readonly unapplied: readonly object[] }>;
}

/** The path, after the base path. */
export const WEBHOOK_PATH = '/webhooks/whatsapp';
/** The API documents webhooks of up to 3 MB. */
const MAX_WEBHOOK_BYTES = 3 * 1024 * 1024;
const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/** Adds the route. */
export function addWhatsAppWebhook(
  app: FastifyInstance,
  basePath: string,
  { clock, appSecret, verifyToken, read, apply }: WebhookOptions,
  log: Logger,
): void {
  const path = basePath + WEBHOOK_PATH;
  app.get(path, (request, reply) => {
    const query = request.query as Readonly<Record<string, unknown>>;
    const token = query['hub.verify_token'];
    const challenge = query['hub.challenge'];
    const isOurs = typeof token === 'string' && equal(digestOf(token), digestOf(verifyToken));
    if (query['hub.mode'] !== 'subscribe' || !isOurs || typeof challenge !== 'string') {
      return refuse(request, reply);
    }
    return reply.type('text/plain').send(challenge);
  });

  // Runs before the body is read, so that a request without a well-formed signature is refused at once.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    if (signatureOf(request) === null) return refuse(request, reply);
    // Anybody can send a well-formed signature, and then a body drop by drop. So this connection may have to give way.
    connectionOf(request.raw).mayGiveWay();
    return undefined;
  };
  app.post(path, { onRequest, bodyLimit: MAX_WEBHOOK_BYTES }, async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const expected = createHmac('sha256', appSecret).update(body).digest();
    const signature = signatureOf(request);
    if (signature === null || !equal(signature, expected)) return refuse(request, reply);
    if (!connectionOf(request.raw).keepPlace()) throw new UnavailableError('the connection gave way');
    const { events, ignored } = read(body);
    const counts = await inTime(clock, request.deadline, apply(events)).catch((cause) => {
      throw new UnavailableError('the webhook could not be applied', { cause });
    });
    const level = counts.unapplied.length === 0 ? 'info' : 'error';
    log[level]({ request_id: request.id, ...counts, ignored }, 'webhook');
    return reply.type('application/json').send(Buffer.from('{}'));
  });
}

/** Gives the same answer for every fault, so that an attacker learns nothing. */
function refuse(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.problem = 'forbidden';
  return reply.status(403).type('application/json').send(Buffer.from('{"error":"forbidden"}'));
}

function signatureOf(request: FastifyRequest): Buffer | null {
  const header = request.headers['x-hub-signature-256'];
  const [, hex] = SIGNATURE.exec(typeof header === 'string' ? header : '') ?? [];
  return hex === undefined ? null : Buffer.from(hex, 'hex');
}

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Compares two SHA-256 digests in constant time. */
function equal(left: Buffer, right: Buffer): boolean {
  return timingSafeEqual(left, right);
}
