/**
 * Lists a partner's events for operators (docs/operations.md, "Events of partners"; D41). `sql/event-list.ts` reads the
 * store.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { EventId } from '../../../domain/event/event.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { eventIdOf, eventNumberOf } from '../../../seal/event-ids.ts';
import { requirePartner } from '../../partners/uses/partners.ts';
import { readEventsBefore, readStoredEvents } from '../sql/event-list.ts';
import type { StoredEvent } from '../sql/partner-events.ts';

/** An event without the ID number. A field that the type does not have is null. */
export interface ListedEvent extends Omit<StoredEvent, 'partnerId' | 'number' | 'outcome'> {
  readonly id: EventId;
}

/** A part that is left out does not narrow the list. */
interface EventQuery {
  /** The id of an event. */
  readonly after?: string | undefined;
  readonly since?: Date | undefined;
  readonly application?: ApplicationId | undefined;
}

/**
 * The partner's events that are kept and fit every part of the query, newest first. Throws `OperatorError` if there is
 * no such partner, or `after` is not the id of one of its events.
 */
export async function* listPartnerEvents(
  context: OperatorContext,
  partnerId: PartnerId,
  { after, since, application }: EventQuery,
): AsyncGenerator<ListedEvent, void, undefined> {
  const { database, vault } = context;
  await requirePartner(context, partnerId);
  const number = after === undefined ? 0 : eventNumberOf(vault, partnerId, after);
  if (number === null) throw new OperatorError(`this is not the ID of an event of partner ${partnerId}`);
  const filter = { after: number, since: since ?? null, applicationId: application ?? null };
  for await (const row of readStoredEvents(database, partnerId, filter)) yield listed(vault, row);
}

/** A page of a partner's events, newest first. The next one is before the number `next`; null: this is the last one. */
export async function partnerEventPage(
  { database, vault }: Pick<OperatorContext, 'database' | 'vault'>,
  partnerId: PartnerId,
  before: number | null,
  limit: number,
): Promise<{ events: ListedEvent[]; next: number | null }> {
  const rows = await readEventsBefore(database, partnerId, before, limit + 1);
  const page = rows.slice(0, limit);
  return {
    events: page.map((row) => listed(vault, row)),
    next: rows.length > limit ? page.at(-1)!.number : null,
  };
}

function listed(
  vault: OperatorContext['vault'],
  { partnerId, number, outcome, ...event }: StoredEvent,
): ListedEvent {
  return { id: eventIdOf(vault, partnerId, number), ...event };
}
