/** What a partner reads of its own applications: its events in order, and one application (D41). */
import { toApplicationId } from '../../applications/rules/ids.ts';
import type { Pace } from '../../applications/sql/envelope.ts';
import {
  type PartnerApplication,
  readPartnerApplication,
} from '../../applications/sql/partner-application.ts';
import { OverloadError, UnavailableError } from '../../base/registration-failure.ts';
import type { Database } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import type { EventId, PartnerEvent } from '../rules/event.ts';
import { readEventPage } from '../sql/partner-events.ts';

export type { Pace, PartnerApplication };

interface Store {
  readonly database: Database;
  readonly vault: Vault;
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
 * The partner's events after a cursor, or without a cursor from the oldest that is kept. Calls `pace` before each part of
 * the work, with its cost. Throws `UnavailableError` if the database does not answer, or this process does not have the
 * data key of an event's applicant, and what `pace` throws.
 */
export async function partnerFeed(
  { database, vault }: Store,
  partnerId: number,
  { after: cursor, limit }: { readonly after: string | null; readonly limit: number },
  pace?: Pace,
): Promise<Feed> {
  const after = cursor === null ? null : vault.eventNumber(partnerId, cursor);
  if (cursor !== null && after === null) return { kind: 'bad_cursor' };
  const page = await readEventPage(database, vault, partnerId, after, limit, pace).catch(unavailable);
  if (page === null) return { kind: 'gone' };
  const { events, next, hasMore } = page;
  return { kind: 'page', events, next: vault.eventId(partnerId, next), hasMore };
}

/**
 * The partner's application with this id; null where the partner has none, and for a text that is no id. Throws
 * `UnavailableError` if the database does not answer, or the stored application is damaged.
 */
export async function partnerApplication(
  { database, vault }: Store,
  partnerId: number,
  id: string,
): Promise<PartnerApplication | null> {
  if (!/^[1-9]\d{0,15}$/.test(id) || !Number.isSafeInteger(Number(id))) return null;
  const application = await readPartnerApplication(database, vault, partnerId, toApplicationId(id)).catch(
    unavailable,
  );
  // This error's message goes into the log, so that operators learn which application is damaged.
  if (application === 'unreadable')
    throw new UnavailableError(`the stored data of application ${id} cannot be read`);
  return application;
}

function unavailable(cause: unknown): never {
  if (cause instanceof UnavailableError || cause instanceof OverloadError) throw cause;
  throw new UnavailableError("the partner's applications could not be read", { cause });
}
