/**
 * Reads a page of a partner's feed: its events in order, after a cursor (D41; docs/events.md, "The feed").
 * `sql/partner-events.ts` reads the store.
 */
import type { EventId, PartnerEvent, PartnerEventType } from '../../../domain/event/event.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { asUnavailable } from '../../../ground/base/registration-failure.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { eventIdOf, eventNumberOf } from '../../../seal/event-ids.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { Pace } from '../../applications/sql/read-envelopes.ts';
import { readEventPage } from '../sql/partner-events.ts';

export type { Pace };

interface Store {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** `bad_cursor`: the service gave no such cursor to this partner. `gone`: events after the cursor are deleted. */
export type Feed = FeedPage | { readonly kind: 'bad_cursor' | 'gone' };

/** A page of the feed. `next` is the cursor of the next page, also where there are no more events yet. */
interface FeedPage {
  readonly kind: 'page';
  readonly events: readonly PartnerEvent[];
  readonly next: EventId;
  readonly hasMore: boolean;
}

/**
 * The partner's events of these types after a cursor, or without a cursor from the oldest that is kept. Calls `pace`
 * before each part of the work, with its cost. Throws `UnavailableError` if the database does not answer, or this
 * process does not have the data key of an event's applicant, and what `pace` throws.
 */
export async function partnerFeed(
  store: Store,
  partnerId: PartnerId,
  {
    after: cursor,
    limit,
    types,
  }: { readonly after: string | null; readonly limit: number; readonly types: readonly PartnerEventType[] },
  pace?: Pace,
): Promise<Feed> {
  const after = cursor === null ? null : eventNumberOf(store.vault, partnerId, cursor);
  if (cursor !== null && after === null) return { kind: 'bad_cursor' };
  const page = await readEventPage(store, partnerId, after, limit, { types, pace }).catch(
    asUnavailable("the partner's applications could not be read"),
  );
  if (page === null) return { kind: 'gone' };
  const { events, next, hasMore } = page;
  return { kind: 'page', events, next: eventIdOf(store.vault, partnerId, next), hasMore };
}
