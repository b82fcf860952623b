/** Reads the partner's events, and its applications as they are now. */
import { sleep } from './clock.ts';
import { checkInteger, MAX_TIMER_MS } from './endpoint.ts';
import { AbortedError } from './errors.ts';
import type { EventPage, PartnerEvent } from './events.ts';
import type { ApplicationSearch, CallOptions, EventsOptions, SearchOptions } from './options.ts';
import { readState } from './read-answer.ts';
import { readPage } from './read-events.ts';
import { type Found, readFound } from './read-found.ts';
import { unexpected } from './read-json.ts';
import { type Endpoint, request } from './request.ts';
import type { ApplicationState } from './wire.ts';

const MAX_PAGE_SIZE = 500;

/** The events after a cursor, in order. Checks the options at once: throws `TypeError` or `RangeError`. */
export function readEvents(
  endpoint: Endpoint,
  options: EventsOptions,
): AsyncGenerator<PartnerEvent, void, undefined> {
  const { follow = false, signal, onRetry } = options;
  const limit = checkInteger('pageSize', options.pageSize ?? 100, 1, MAX_PAGE_SIZE);
  const pollMs = checkInteger('pollMs', options.pollMs ?? 10_000, 1, MAX_TIMER_MS);
  const url = urlInProduction(endpoint, 'events');
  url.searchParams.set('limit', String(limit));
  if (options.types !== undefined) url.searchParams.set('types', options.types.join(','));
  if (options.after != null) url.searchParams.set('after', options.after);
  const fetchPage = (): Promise<EventPage> =>
    request(endpoint, { url: url.href, read: readPage }, { signal, onRetry });
  return pages();

  async function* pages(): AsyncGenerator<PartnerEvent, void, undefined> {
    for (;;) {
      const { events, next, hasMore } = await fetchPage();
      for (const event of events) {
        if (signal?.aborted) throw new AbortedError(signal.reason);
        yield event;
      }
      url.searchParams.set('after', next);
      if (hasMore) continue;
      if (!follow) return;
      await sleep(endpoint.clock, pollMs, signal).catch((reason) => {
        throw new AbortedError(reason);
      });
    }
  }
}

/** The state of an application; null where the partner has no such application. */
export function readApplication(
  endpoint: Endpoint,
  id: number,
  options: CallOptions,
): Promise<ApplicationState | null> {
  const { href } = urlInProduction(endpoint, `applications/${checkInteger('id', id, 1)}`);
  return request<ApplicationState | null>(endpoint, { url: href, read: readState, missing: null }, options);
}

const MAX_FOUND = 100;

/** What a search finds, newest first. Checks its arguments at once: throws `TypeError` or `RangeError`. */
export function searchApplications(
  endpoint: Endpoint,
  { day, idNumber }: ApplicationSearch,
  options: SearchOptions,
): AsyncGenerator<ApplicationState, void, undefined> {
  const { signal, onRetry, onUnreadable } = options;
  const limit = checkInteger('pageSize', options.pageSize ?? MAX_FOUND, 1, MAX_FOUND);
  const asked = day === undefined ? idNumber : day;
  if (typeof asked !== 'string' || (day !== undefined && idNumber !== undefined)) {
    throw new TypeError('a search has either a day or an idNumber, as text');
  }
  const { href } = urlBelow(endpoint, 'applications/search');
  const fetchPage = (cursor: string | null): Promise<Found> => {
    const question = JSON.stringify({ id_number: idNumber, day, limit, cursor });
    const post = { body: new TextEncoder().encode(question) };
    return request(endpoint, { url: href, post, read: readFound }, { signal, onRetry });
  };
  return pages();

  async function* pages(): AsyncGenerator<ApplicationState, void, undefined> {
    for (let cursor: string | null = null; ; ) {
      const { applications, unreadable, next }: Found = await fetchPage(cursor);
      for (const id of unreadable) onUnreadable?.(id);
      for (const application of applications) {
        if (signal?.aborted) throw new AbortedError(signal.reason);
        yield application;
      }
      if (next === null) return;
      // A page that never advances would make a loop without a wait.
      if (next === cursor) throw unexpected('next');
      cursor = next;
    }
  }
}

/** A URL below that of the environment. Throws `TypeError` for the sandbox, which does not have the path. */
function urlInProduction(endpoint: Endpoint, path: string): URL {
  const url = urlBelow(endpoint, path);
  if (url.pathname.endsWith(`/DEV/${path}`)) {
    throw new TypeError('only /PRO has events and states of applications; the sandbox (/DEV) stores nothing');
  }
  return url;
}

function urlBelow(endpoint: Endpoint, path: string): URL {
  const url = new URL(endpoint.url);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
  return url;
}
