/** Requests to the operator API. */
import { printable } from '../../../src/ground/base/plain-text.ts';
import { browserClock } from '../clock.ts';
import { presence } from './presence.ts';
import { noteTime } from './service-time.ts';

/** The body of an answer that is no success; some have more fields. */
interface Failure {
  readonly error: string;
  readonly [field: string]: unknown;
}

/** An answer that is no success. `status` 0: there was no answer. */
export class AnswerError extends Error {
  readonly status: number;
  /** The body of the answer; null where it was no JSON. */
  readonly body: Failure | null;
  /** When the request may come again; null: nobody said. */
  readonly retryAfterSeconds: number | null;

  constructor(status: number, body: Failure | null, retryAfterSeconds: number | null = null) {
    super(body?.error ?? `status ${status}`);
    this.status = status;
    this.body = body;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A success: the body, and the entity tag where there is one. */
export interface Reply<Body> {
  readonly body: Body;
  readonly etag: string | null;
  /** When it was asked for, by the page's monotonic clock. */
  readonly sentAt: number;
}

const ANSWER_WITHIN_MS = 15_000;
const MOST_KEPT = 1_000;

export type Request = readonly [
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
];

/** Whom the page shows: the service refuses a request where the session is of somebody else. null: nobody. */
let shown: number | null = null;

/** Tells whom the page shows. */
export function showOperator(id: number | null): void {
  shown = id;
}

/** The id of the operator whom the page shows; null: nobody. */
export function shownOperator(): number | null {
  return shown;
}

/** The header that names the operator for whom a request is. */
export function asOperator(id: number | null): Readonly<Record<string, string>> {
  return id === null ? {} : { 'Operator-Id': `${id}` };
}

/** The last request that gave the session another cookie. */
let change: { readonly number: number; readonly isOver: Promise<unknown> } = {
  number: 0,
  isOver: Promise.resolve(),
};

/** Tells of a request that gives the session another cookie: the one before is over, and may come to a request late. */
export function changeCookie<T>(request: Promise<T>): Promise<T> {
  change = { number: change.number + 1, isOver: request.catch(() => {}) };
  return request;
}

/**
 * Asks the API below `/api` for the operator whom the page shows. Throws an `AnswerError` where the answer is no
 * success, or none comes in 15 seconds. What is refused because the cookie changed meanwhile is asked once more, with
 * the new one.
 */
export function ask<Body>(...request: Request): Promise<Reply<Body>> {
  return askFor<Body>(shown, request);
}

/** The same for nobody: the ways in, which somebody else than the page shows may take. */
export function askForNobody<Body>(...request: Request): Promise<Reply<Body>> {
  return askFor<Body>(null, request);
}

async function askFor<Body>(operator: number | null, request: Request): Promise<Reply<Body>> {
  const { number, isOver } = change;
  await isOver;
  try {
    return await send<Body>(operator, request);
  } catch (error) {
    if (!(error instanceof AnswerError) || error.status !== 401 || change.number === number) throw error;
    await change.isOver;
    return send<Body>(operator, request);
  }
}

async function send<Body>(
  operator: number | null,
  [method, path, body, headers = {}]: Request,
): Promise<Reply<Body>> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const sentAt = browserClock.monotonicMs();
  const response = await fetch(`/api${path}`, {
    method,
    // A decision arrives also where the tab is closed at once. Browsers keep little data of closed tabs.
    keepalive: text !== undefined && text.length <= MOST_KEPT,
    headers: {
      ...headers,
      ...presence(),
      ...asOperator(operator),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(text !== undefined && { body: text }),
    signal: browserClock.timeout(ANSWER_WITHIN_MS),
  }).catch(() => {
    throw new AnswerError(0, null);
  });
  noteTime(response);
  const answer = await response
    .text()
    .then(shownJson)
    .catch(() => null);
  if (!response.ok) throw new AnswerError(response.status, answer, secondsOf(response));
  return { body: answer as Body, etag: response.headers.get('ETag'), sentAt };
}

/** Names and other texts of strangers show what would turn or hide them, on every page: nobody has to think of it. */
function shownJson(text: string) {
  return JSON.parse(text, (_, value) => (typeof value === 'string' ? printable(value) : value));
}

function secondsOf({ headers }: Response): number | null {
  const text = headers.get('Retry-After');
  return text === null ? null : Number(text);
}
