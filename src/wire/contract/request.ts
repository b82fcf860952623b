/** Reads the body and headers of a request (contract, "Endpoints"; D3, D4, D24, D36). Pure. */
import { isUtf8 } from 'node:buffer';
import type { Language } from '../../ground/base/language.ts';
import { MAX_APPLICATIONS, MAX_VALUES, type RequestProblem, UNCOUNTED_BYTES } from './texts.ts';

/** A failure of the whole request. `presentError` turns it into a status and a text. */
export class RequestError extends Error {
  readonly problem: RequestProblem;
  /** The language of the body's root name, if it was read; null: the headers decide. */
  readonly language: Language | null;
  constructor(problem: RequestProblem, language: Language | null = null) {
    super(problem);
    this.problem = problem;
    this.language = language;
  }
}

/** The root array and the language of a request body. */
interface SubmittedBatch {
  readonly elements: readonly unknown[];
  readonly language: Language;
}

const JSON_TYPE = /^\s*application\/json\s*(;|$)/i;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/** Throws a `RequestError` unless the header names JSON, with or without a charset (D3). */
export function checkContentType(header: string | undefined): void {
  if (header === undefined || !JSON_TYPE.test(header)) throw new RequestError('content_type');
}

/** The key, or null without the header. Throws a `RequestError` if the header breaks D36's form. */
export function checkIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (!IDEMPOTENCY_KEY.test(header)) throw new RequestError('idempotency_key');
  return header;
}

/**
 * Reads the elements and the language of a batch. `encoding`: the header `Content-Encoding`. Throws a `RequestError` as
 * D3 says.
 */
export function readSubmittedBatch(body: Buffer, encoding?: string): SubmittedBatch {
  const { applications, aplicaciones } = readObject(body, encoding, 'not_an_object');
  const english = applications !== undefined && applications !== null;
  const elements = english ? applications : aplicaciones;
  const language = !english && elements !== undefined && elements !== null ? 'es' : 'en';
  if (!Array.isArray(elements)) throw new RequestError('no_applications', language);
  if (elements.length === 0) throw new RequestError('empty_batch', language);
  if (elements.length > MAX_APPLICATIONS) throw new RequestError('too_many', language);
  return { elements, language };
}

/** The members of a body that has to be an object; else throws a `RequestError`, `wrong` for another JSON value. */
export function readObject(
  body: Buffer,
  encoding: string | undefined,
  wrong: RequestProblem,
): Readonly<Record<string, unknown>> {
  const root = parseJson(body, encoding);
  if (typeof root !== 'object' || root === null || Array.isArray(root)) throw new RequestError(wrong);
  return root as Record<string, unknown>;
}

function parseJson(body: Buffer, encoding: string | undefined): unknown {
  if (!isUtf8(body)) throw new RequestError(isCompressed(body, encoding) ? 'compressed' : 'not_utf8');
  if (body.length > UNCOUNTED_BYTES && hasMoreValues(body, MAX_VALUES)) {
    throw new RequestError('too_many_values');
  }
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    if (isCompressed(body, encoding)) throw new RequestError('compressed');
    throw new RequestError(startsWith(body, BYTE_ORDER_MARK) ? 'byte_order_mark' : 'not_json');
  }
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];

/** Whether an unreadable body is compressed, by its header or by its first bytes. */
function isCompressed(body: Buffer, encoding = 'identity'): boolean {
  const isPlain = ['', 'identity'].includes(encoding.trim().toLowerCase());
  return !isPlain || startsWith(body, GZIP) || startsWith(body, ZSTD);
}

function startsWith(body: Buffer, bytes: readonly number[]): boolean {
  return bytes.every((byte, index) => body[index] === byte);
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * True if the JSON text has more than `max` values, arrays and objects included, at any depth. So `max` limits the
 * depth too. For bytes that are not JSON the result may be true or false.
 */
export function hasMoreValues(json: Buffer, max: number): boolean {
  // The outermost value. Every other value follows a comma or is the first in an array or object.
  let values = 1;
  let isOpened = false;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index]!;
    switch (byte) {
      case OPENING_BRACKET:
      case OPENING_BRACE:
        if (values > max) return true;
        values += 1;
        isOpened = true;
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        if (isOpened) values -= 1;
        isOpened = false;
        break;
      case COMMA:
        values += 1;
        if (values > max) return true;
        break;
      case QUOTE:
        isOpened = false;
        index = endOfText(json, index + 1);
        break;
      default:
        if (byte > SPACE) isOpened = false;
    }
  }
  return values > max;
}

function endOfText(json: Buffer, start: number): number {
  for (let index = start; index < json.length; index++) {
    const byte = json[index];
    if (byte === BACKSLASH) index += 1;
    else if (byte === QUOTE) return index;
  }
  return json.length;
}
