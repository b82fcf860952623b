/** The events of conversations that a partner reads in its feed (D41, D47). */
import { CONVERSATION_EVENT_TYPES } from '../../src/domain/event/event.ts';
import type { StoredEvent } from './seen.ts';

interface Page {
  readonly events: readonly {
    readonly type: string;
    readonly data: { readonly id: number; readonly outcome?: string };
  }[];
  readonly next: string;
  readonly has_more: boolean;
}

/** All of them, in their order. `number` counts what was read. */
export async function readFeed(url: string, key: string, partnerId: number): Promise<StoredEvent[]> {
  const read: StoredEvent[] = [];
  for (let after: string | null = null; ; ) {
    const query = new URLSearchParams({ types: CONVERSATION_EVENT_TYPES.join(), limit: '500' });
    if (after !== null) query.set('after', after);
    const response = await fetch(`${url}/PRO/events?${query}`, { headers: { 'X-API-Key': key } });
    if (response.status !== 200) throw new Error(`the feed answers ${response.status}`);
    const page = (await response.json()) as Page;
    for (const { type, data } of page.events) {
      const told = data.outcome === undefined ? type : `${type} ${data.outcome}`;
      read.push({ partnerId, number: read.length + 1, applicationId: data.id, type: told });
    }
    if (!page.has_more) return read;
    after = page.next;
  }
}
