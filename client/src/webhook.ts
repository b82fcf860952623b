/** Verifies that a pushed event comes from the service, as the Standard Webhooks specification says. */
import { machineClock } from './clock.ts';
import { WebhookError } from './errors.ts';
import type { PushedEvent } from './events.ts';
import { readPushed } from './read-events.ts';

/** The headers of a request: a `Headers`, or an object with names in any case, such as Node's `request.headers`. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options for verifying a push. */
export interface VerifyOptions {
  /** How far the time of the push may be from now; default 300. */
  toleranceSeconds?: number;
  /** Default: this machine's clock. */
  now?: Date;
}

const SECRET_PREFIX = 'whsec_';
const SIGNATURE_VERSION = 'v1,';
const encoder = new TextEncoder();

/**
 * Resolves to the event that the service pushed with this request. `body` is the body as it came, byte for byte: a body
 * that was parsed and written again has other bytes. `secret` is the text that begins with `whsec_`; after a rotation
 * give the new one and the old one.
 *
 * Rejects with a `WebhookError` where the request is no push of the service: answer 400. Rejects with a `TypeError` or
 * `RangeError` where an argument is wrong. The service pushes an event again when it got no answer in time, so remember
 * the `id` of each event and skip one that you have.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<PushedEvent> {
  const { toleranceSeconds = 300, now = new Date(machineClock.nowMs()) } = options;
  if (!(toleranceSeconds >= 0)) throw new RangeError('toleranceSeconds must be 0 or more');
  if (Number.isNaN(now.getTime())) throw new RangeError('now must be a valid date');
  const keys = (typeof secret === 'string' ? [secret] : secret).map(keyOf);
  if (keys.length === 0) throw new TypeError('verifyWebhook needs a secret');
  const bytes = bytesOf(body);

  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signatures = header(headers, 'webhook-signature');
  checkTime(timestamp, now, toleranceSeconds);
  const head = encoder.encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);

  const candidates = signatures.split(' ').filter((one) => one.startsWith(SIGNATURE_VERSION));
  let fits = false;
  for (const key of keys) {
    const expected = await sign(key, signed);
    for (const one of candidates) if (isEqual(one, expected)) fits = true;
  }
  if (!fits) {
    throw new WebhookError(
      'signature_mismatch',
      'no signature fits: the secret is another one, the body is not the one that was sent, or the request is forged',
    );
  }
  return eventIn(bytes);
}

/** Never quotes the secret. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const isWhole = typeof secret === 'string' && /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret);
  if (!isWhole)
    throw new TypeError(`the secret must be as it was issued: ${SECRET_PREFIX} and base64, without spaces`);
  try {
    return Uint8Array.from(atob(secret.slice(SECRET_PREFIX.length)), (char) => char.charCodeAt(0));
  } catch {
    throw new TypeError('the secret must be as it was issued; a part of it is missing');
  }
}

function bytesOf(body: string | Uint8Array): Uint8Array {
  if (typeof body === 'string') return encoder.encode(body);
  // `instanceof` would refuse bytes of another realm, such as those of a test runner.
  if (Object.prototype.toString.call(body) === '[object Uint8Array]') return body;
  throw new TypeError('body must be the text or the bytes of the request, before anything parses them');
}

function header(headers: WebhookHeaders, name: string): string {
  const value = isGetter(headers)
    ? headers.get(name)
    : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = typeof value === 'string' ? value : (value?.join(' ') ?? '');
  if (text === '') throw new WebhookError('header_missing', `the request has no header ${name}`);
  return text;
}

function isGetter(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

function checkTime(timestamp: string, now: Date, toleranceSeconds: number): void {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookError('header_malformed', 'the header webhook-timestamp is not a number of seconds');
  }
  const ageSeconds = now.getTime() / 1_000 - Number(timestamp);
  if (ageSeconds > toleranceSeconds) {
    throw new WebhookError(
      'too_old',
      `the push is more than ${toleranceSeconds} seconds old: somebody sent it again, or this machine's clock is ahead`,
    );
  }
  if (ageSeconds < -toleranceSeconds) {
    throw new WebhookError(
      'too_new',
      `the push is more than ${toleranceSeconds} seconds in the future: this machine's clock is behind`,
    );
  }
}

/** The signature as it stands in the header. */
async function sign(secret: Uint8Array<ArrayBuffer>, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['sign']);
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
  return SIGNATURE_VERSION + btoa(String.fromCharCode(...mac));
}

/** Takes equally long wherever two texts of one length differ, so that the time tells nothing about the signature. */
function isEqual(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let index = 0; index < expected.length; index += 1) {
    difference |= given.charCodeAt(index) ^ expected.charCodeAt(index);
  }
  return difference === 0;
}

function eventIn(bytes: Uint8Array): PushedEvent {
  try {
    return readPushed(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    throw new WebhookError('not_an_event', 'a signature fits, but the body is not an event');
  }
}
