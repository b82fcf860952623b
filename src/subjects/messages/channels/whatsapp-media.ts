/**
 * Fetches and uploads files through WhatsApp's Cloud API (docs/messages.md, "Replies"). To fetch a person's file takes
 * two requests: one for its address, which is good for five minutes, and one to that address. Both carry the token, so
 * the address is checked first (`isMediaAddress`).
 */
import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { MediaChannel, MediaResult, UploadFile, UploadResult } from '../../../domain/message/channel.ts';
import type { MessageReason } from '../../../domain/message/reasons.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { type PostLimits, postOnce } from './post-once.ts';
import { parseJson } from './whatsapp-answers.ts';
import { failureOfError, readApiError } from './whatsapp-errors.ts';

// First part: one GET, whose answer is read up to a limit while it comes. It follows no redirect, because another host
// must not get the headers.

/** How a GET is sent, and its limits. */
interface GetOptions {
  readonly clock: Clock;
  /** From the call to the last byte of the answer. */
  readonly timeoutMs: number;
  /** The most bytes of the answer's body that are kept. */
  readonly maxBytes: number;
}

/** What became of one GET. */
export type GetResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly contentType: string | null;
      readonly body: Buffer;
    }
  /** The body is longer than the limit. The rest is not read. */
  | { readonly kind: 'too_large'; readonly status: number }
  | { readonly kind: 'failed'; readonly reason: MessageReason };

/**
 * The most interim answers (100 to 199) before an answer. A flood of them would keep the event loop from all other
 * work.
 */
const MAX_INTERIM_ANSWERS = 10;

/** Sends the GET. Never throws. Resolves within the limits, or at once if the signal aborts. */
export function getOnce(
  url: URL,
  headers: Readonly<Record<string, string>>,
  { clock, timeoutMs, maxBytes }: GetOptions,
  signal: AbortSignal,
): Promise<GetResult> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ kind: 'failed', reason: 'aborted' });
    const open = url.protocol === 'https:' ? https.request : http.request;
    // The body must not be compressed, because a compressed one could grow beyond every limit.
    const request = open(url, { agent: false, headers: { ...headers, 'Accept-Encoding': 'identity' } });
    const settle = (result: GetResult) => {
      timer.cancel();
      signal.removeEventListener('abort', abort);
      resolve(result);
      request.destroy();
    };
    const fail = (reason: MessageReason) => settle({ kind: 'failed', reason });
    const abort = () => fail('aborted');
    const timer = clock.after(timeoutMs, () => fail('timeout'));
    signal.addEventListener('abort', abort, { once: true });
    request.on('error', () => fail('connection_lost'));
    let interim = 0;
    request.on('information', () => {
      interim += 1;
      if (interim > MAX_INTERIM_ANSWERS) fail('interim_answers');
    });
    request.on('response', async (response) => settle(await readAnswer(response, maxBytes)));
    request.end();
  });
}

async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<GetResult> {
  const { statusCode: status = 0, headers } = response;
  if (Number(headers['content-length']) > maxBytes) return { kind: 'too_large', status };
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response) {
      length += chunk.length;
      if (length > maxBytes) return { kind: 'too_large', status };
      chunks.push(chunk);
    }
  } catch {
    return { kind: 'failed', reason: 'connection_lost' };
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') return { kind: 'failed', reason: 'unknown' };
  return {
    kind: 'answered',
    status,
    contentType: headers['content-type'] ?? null,
    body: Buffer.concat(chunks),
  };
}

interface MediaSettings {
  readonly apiUrl: string;
  readonly phoneNumberId: string;
  readonly accessToken: string;
}

/** Enough for a file of 100 MB on a slow line. An upload has the same time. */
const MEDIA_TIMEOUT_MS = 60_000;
/** The hosts that WhatsApp's API names in the addresses of files, beside its own. */
const MEDIA_HOSTS: ReadonlySet<string> = new Set(['lookaside.fbsbx.com']);
const MEDIA_ID = /^[A-Za-z0-9][\w.-]{0,255}$/;

/**
 * The methods of a channel for files. `limits` hold for answers that are JSON, and `fileTimeoutMs` for a whole file.
 */
export function whatsappMedia(
  { apiUrl, phoneNumberId, accessToken }: MediaSettings,
  clock: Clock,
  limits: PostLimits,
  fileTimeoutMs = MEDIA_TIMEOUT_MS,
): MediaChannel {
  const headers = { Authorization: `Bearer ${accessToken}` };
  // Random, so that the bytes of a file cannot contain it.
  const boundary = `ventanilla-${randomUUID()}`;
  const post = postOnce(
    new URL(`${apiUrl}/${phoneNumberId}/media`),
    { ...headers, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    { ...limits, clock, timeoutMs: fileTimeoutMs },
  );
  const lookUp = (mediaId: string, signal: AbortSignal) => {
    const url = new URL(`${apiUrl}/${encodeURIComponent(mediaId)}`);
    url.searchParams.set('phone_number_id', phoneNumberId);
    const { timeoutMs, maxAnswerBytes: maxBytes } = limits;
    return getOnce(url, headers, { clock, timeoutMs, maxBytes }, signal);
  };
  return {
    async fetchMedia(mediaId, { maxBytes }, signal) {
      if (!MEDIA_ID.test(mediaId)) return { kind: 'gone' };
      const fetchOnce = async () => {
        const found = addressOf(await lookUp(mediaId, signal), apiUrl);
        if (found.kind !== 'address') return found;
        if (found.size !== null && found.size > maxBytes) return { kind: 'too_large' } as const;
        const got = await getOnce(found.url, headers, { clock, timeoutMs: fileTimeoutMs, maxBytes }, signal);
        return mediaOf(got, found.sha256);
      };
      const first = await fetchOnce();
      // The address may have expired between the two requests. A new one tells whether the file is really gone.
      return first.kind === 'gone' ? fetchOnce() : first;
    },
    async uploadMedia(file, signal) {
      return uploadOf(await post(multipart(file, boundary), signal));
    },
  };
}

/** Whether the token may go to this address: to the API itself, and over TLS to the hosts of its files. */
export function isMediaAddress(url: URL, apiUrl: string): boolean {
  if (url.username !== '' || url.password !== '') return false;
  if (url.origin === new URL(apiUrl).origin) return true;
  return url.protocol === 'https:' && url.port === '' && MEDIA_HOSTS.has(url.hostname);
}

interface Address {
  readonly kind: 'address';
  readonly url: URL;
  readonly sha256: string | null;
  /** The size in bytes, as the API claims. */
  readonly size: number | null;
}

function addressOf(got: GetResult, apiUrl: string): Address | MediaResult {
  if (got.kind === 'failed') return { kind: 'retry', reason: got.reason };
  if (got.kind === 'too_large') return { kind: 'retry', reason: 'unknown' };
  const answer = objectOf(parseJson(got.body.toString('utf8')));
  if (got.status !== 200) return refusedLookUp(got.status, answer);
  const url = typeof answer.url === 'string' && URL.canParse(answer.url) ? new URL(answer.url) : null;
  if (url === null) return { kind: 'retry', reason: 'unknown' };
  if (!isMediaAddress(url, apiUrl)) return { kind: 'retry', reason: 'foreign_host' };
  const size = Number(answer.file_size);
  return {
    kind: 'address',
    url,
    sha256: sha256Of(answer.sha256),
    size: Number.isSafeInteger(size) ? size : null,
  };
}

/** Code 100 with subcode 33 says, as a 404 does, that there is no such file. */
function refusedLookUp(status: number, answer: Readonly<Record<string, unknown>>): MediaResult {
  const error = readApiError(answer.error);
  if (status === 404 || (error?.code === 100 && error.subcode === 33)) return { kind: 'gone' };
  return { kind: 'retry', reason: error === null ? `http_${status}` : `${error.code}` };
}

function mediaOf(got: GetResult, sha256: string | null): MediaResult {
  if (got.kind === 'failed') return { kind: 'retry', reason: got.reason };
  if (got.status === 404 || got.status === 410) return { kind: 'gone' };
  if (got.status !== 200) return { kind: 'retry', reason: `http_${got.status}` };
  if (got.kind === 'too_large') return { kind: 'too_large' };
  return { kind: 'media', bytes: got.body, contentType: got.contentType, sha256 };
}

/** Reads a SHA-256, which the API writes in hex or in base64; null for any other value. */
export function sha256Of(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  if (/^[0-9a-f]{64}$/i.test(value)) return value.toLowerCase();
  return /^[A-Za-z0-9+/]{43}=$/.test(value) ? Buffer.from(value, 'base64').toString('hex') : null;
}

/** An upload may be repeated: what a failed one has left at the API has an id that nobody knows. */
function uploadOf(posted: Awaited<ReturnType<ReturnType<typeof postOnce>>>): UploadResult {
  if (posted.kind !== 'answered') return { kind: 'retry', reason: posted.reason };
  const answer = objectOf(parseJson(posted.body));
  const isSuccess = posted.status >= 200 && posted.status < 300;
  if (isSuccess && typeof answer.id === 'string' && MEDIA_ID.test(answer.id)) {
    return { kind: 'uploaded', mediaId: answer.id };
  }
  const error = readApiError(answer.error);
  const reason: MessageReason = error === null ? `http_${posted.status}` : `${error.code}`;
  const isFinal = error !== null && failureOfError(error, 1)?.kind === 'give_up';
  return { kind: isFinal ? 'refused' : 'retry', reason };
}

function multipart({ bytes, contentType, filename }: UploadFile, boundary: string): Buffer {
  const part = (name: string, head: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${head}\r\n\r\n`;
  const type = quoted(contentType);
  const file = `; filename="${quoted(filename)}"\r\nContent-Type: ${type}`;
  return Buffer.concat([
    Buffer.from(
      `${part('messaging_product', '')}whatsapp\r\n${part('type', '')}${type}\r\n${part('file', file)}`,
    ),
    bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
}

/** Quotes a value as RFC 7578 and browsers do, so that the value cannot end its quotes or its line. */
function quoted(value: string): string {
  return value.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
