/**
 * Lists the stored events of a partner for operators, without personal data (docs/operations.md, "Events of partners").
 * Reads `partner_events` and `partner_event_totals`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { EVENT_COLUMNS, type StoredEvent } from './partner-events.ts';

/** Most events of one statement. */
const CHUNK = 500;
/** How many numbers one statement looks at, because a filter may fit few of many events. */
const WINDOW = 100_000;

/** null: does not narrow the list. */
interface EventFilter {
  /** Only events with a higher number. */
  readonly after: number;
  readonly since: Date | null;
  readonly applicationId: ApplicationId | null;
}

const LAST = 'SELECT last::float8 FROM partner_event_totals WHERE partner_id = $1';

const PAGE = `
  SELECT ${EVENT_COLUMNS} FROM partner_events e
  WHERE e.partner_id = $1 AND e.number < $2 AND e.number >= $2 - ${WINDOW} AND e.number > $3
    AND ($4::timestamptz IS NULL OR e.at >= $4) AND ($5::bigint IS NULL OR e.application_id = $5)
  ORDER BY e.number DESC LIMIT ${CHUNK}`;

const BEFORE = `
  SELECT ${EVENT_COLUMNS} FROM partner_events e
  WHERE e.partner_id = $1 AND ($2::bigint IS NULL OR e.number < $2) ORDER BY e.number DESC LIMIT $3`;

/** The newest events of a partner before a number, or of all (null), newest first. */
export async function readEventsBefore(
  database: Database,
  partnerId: PartnerId,
  before: number | null,
  limit: number,
): Promise<StoredEvent[]> {
  return (await database.query<StoredEvent>(BEFORE, [partnerId, before, limit])).rows;
}

/** The events that fit every part of the filter, newest first. */
export async function* readStoredEvents(
  database: Database,
  partnerId: PartnerId,
  { after, since, applicationId }: EventFilter,
): AsyncGenerator<StoredEvent, void, undefined> {
  const { rows: totals } = await database.query<{ last: number }>(LAST, [partnerId]);
  let before = (totals[0]?.last ?? 0) + 1;
  while (before > after + 1) {
    const values: unknown[] = [partnerId, before, after, since, applicationId];
    const { rows }: { rows: StoredEvent[] } = await database.query<StoredEvent>(PAGE, values);
    yield* rows;
    before = rows.length === CHUNK ? rows.at(-1)!.number : before - WINDOW;
  }
}
