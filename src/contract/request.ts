/** Reads the body and headers of a request (contract, "Endpoints"; D3, D4, D24, D36). */
import { isUtf8 } from 'node:buffer';
import type { Language } from '../base/language.ts';
import { hasMoreValues } from './count-values.ts';
import { MAX_APPLICATIONS, MAX_VALUES, type RequestProblem, UNCOUNTED_BYTES } from './texts.ts';

/** A failure of the whole request. `presentError` turns it into a status and a text. */
export class RequestError extends Error {
  readonly problem: RequestProblem;
  /** The language of the body's root name, where it was read; null: the headers decide. */
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

/** The key, or null without the header. Throws a `RequestError` where the header breaks D36's form. */
export function checkIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (!IDEMPOTENCY_KEY.test(header)) throw new RequestError('idempotency_key');
  return header;
}

/** Reads the elements and the language of a batch. Throws a `RequestError` as D3 says. */
export function readSubmittedBatch(body: Buffer): SubmittedBatch {
  const root = parseJson(body);
  if (typeof root !== 'object' || root === null || Array.isArray(root)) {
    throw new RequestError('not_an_object');
  }
  const { applications, aplicaciones } = root as Record<string, unknown>;
  const english = applications !== undefined && applications !== null;
  const elements = english ? applications : aplicaciones;
  const language = !english && elements !== undefined && elements !== null ? 'es' : 'en';
  if (!Array.isArray(elements)) throw new RequestError('no_applications', language);
  if (elements.length === 0) throw new RequestError('empty_batch', language);
  if (elements.length > MAX_APPLICATIONS) throw new RequestError('too_many', language);
  return { elements, language };
}

function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw new RequestError('not_utf8');
  if (body.length > UNCOUNTED_BYTES && hasMoreValues(body, MAX_VALUES)) {
    throw new RequestError('too_many_values');
  }
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new RequestError('not_json');
  }
}
