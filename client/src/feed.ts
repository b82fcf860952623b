/** Reads the partner's events and the state of an application. */
import { sleep } from './clock.ts';
import { checkInteger, MAX_TIMER_MS } from './endpoint.ts';
import { AbortedError } from './errors.ts';
import type { EventPage, PartnerEvent } from './events.ts';
import type { CallOptions, EventsOptions } from './options.ts';
import { readState } from './read-answer.ts';
import { readPage } from './read-events.ts';
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
  const url = urlBelow(endpoint, 'events');
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
  const { href } = urlBelow(endpoint, `applications/${checkInteger('id', id, 1)}`);
  return request<ApplicationState | null>(endpoint, { url: href, read: readState, missing: null }, options);
}

/** A URL below that of the environment. Throws `TypeError` for the sandbox, which stores nothing to ask for. */
function urlBelow(endpoint: Endpoint, path: string): URL {
  const url = new URL(endpoint.url);
  url.pathname = url.pathname.replace(/\/$/, '');
  if (url.pathname.endsWith('/DEV')) {
    throw new TypeError('only /PRO has events and states of applications; the sandbox (/DEV) stores nothing');
  }
  url.pathname += `/${path}`;
  return url;
}
