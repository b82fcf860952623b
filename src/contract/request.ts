/** Reads the body of a request: bytes to elements and language (contract, "Endpoints"; D3, D4, D24, D36). */
import { isUtf8 } from 'node:buffer';
import type { Language } from '../domain/language.ts';
import { hasMoreValues } from './count-values.ts';
import { MAX_APPLICATIONS, MAX_VALUES, type RequestProblem, UNCOUNTED_BYTES } from './texts.ts';

/** A failure of the whole request; the presenter gives it its status and text. */
export class RequestError extends Error {
  readonly problem: RequestProblem;
  /** What the request itself says of the language, where it came so far; null leaves it to the headers. */
  readonly language: Language | null;
  constructor(problem: RequestProblem, language: Language | null = null) {
    super(problem);
    this.problem = problem;
    this.language = language;
  }
}

/** What a batch says of itself. */
export interface SubmittedBatch {
  readonly elements: readonly unknown[];
  readonly language: Language;
}

const JSON_TYPE = /^\s*application\/json\s*(;|$)/i;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/** Throws unless the header says JSON, with or without a charset (D3). */
export function checkContentType(header: string | undefined): void {
  if (header === undefined || !JSON_TYPE.test(header)) throw new RequestError('content_type');
}

/** Throws where the header is there and breaks D36's form. */
export function checkIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null;
  if (!IDEMPOTENCY_KEY.test(header)) throw new RequestError('idempotency_key');
  return header;
}

/** The elements of the batch and the language of the answer; throws `RequestError` by D3. */
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
