/**
 * Reads partner events for the feed and the pushes, with the ids that partners see, with the ID numbers from the
 * envelopes (D41, D47) and with the reasons of decisions (D50). Reads `partner_events`, `partner_event_totals`,
 * `batches` and `policies`.
 */
import { type ApplicationId, batchAndPositionOf, partitionOf } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import {
  type ConversationEnd,
  type IncomeOutcome,
  type PartnerEvent,
  type PartnerEventType,
  UNASKED_EVENT_TYPES,
} from '../../../domain/event/event.ts';
import type { OutcomeType } from '../../../domain/message/notify.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { readWhole } from '../../../ground/postgres/unresolved.ts';
import { readIndex } from '../../../seal/blind-indexes.ts';
import { eventIdOf } from '../../../seal/event-ids.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type DecidedRow, decidedColumns, readReasons } from '../../applications/sql/decided-reasons.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';
import { readPersonalData, refuseUnknownKey, type SealedRow } from '../../applications/sql/personal-data.ts';
import type { Pace } from '../../applications/sql/read-envelopes.ts';

/** Names an event of a partner. */
interface EventKey {
  readonly partnerId: PartnerId;
  readonly number: number;
}

/** An event as it is stored. The last five are null if its type has no such field. */
export interface StoredEvent {
  readonly partnerId: PartnerId;
  readonly number: number;
  readonly at: Date;
  readonly applicationId: ApplicationId;
  readonly type: PartnerEventType;
  readonly from: ApplicationStatus | null;
  readonly to: ApplicationStatus | null;
  readonly reasonCode: ReasonCode | null;
  readonly message: OutcomeType | null;
  readonly outcome: IncomeOutcome | ConversationEnd | null;
}

/** The columns of a `StoredEvent`, of `partner_events e`. */
export const EVENT_COLUMNS = `e.partner_id AS "partnerId", e.number::float8, e.at, e.application_id::float8 AS "applicationId",
  e.type, e.from_status AS "from", e.to_status AS "to", e.reason_code AS "reasonCode", e.message_type AS message, e.outcome`;

const READ = `
  SELECT ${EVENT_COLUMNS} FROM unnest($1::integer[], $2::bigint[]) AS g(partner_id, number)
  JOIN partner_events e ON e.partner_id = g.partner_id AND e.number = g.number
  ORDER BY e.partner_id, e.number`;

/** What a reader of events needs. */
interface EventSource {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** These events, by partner and number. An event that was deleted for its age is left out. */
export async function readPartnerEvents(
  store: EventSource,
  keys: readonly EventKey[],
): Promise<PartnerEvent[]> {
  const { rows } = await store.database.query<StoredEvent>(READ, [
    keys.map(({ partnerId }) => partnerId),
    keys.map(({ number }) => number),
  ]);
  return asTold(store, rows);
}

/** A page of a partner's events, oldest first. */
export interface EventPage {
  readonly events: readonly PartnerEvent[];
  /** The number that the next page comes after. */
  readonly next: number;
  readonly hasMore: boolean;
}

/**
 * The counts and the events are of one moment. Events up to `forgotten` are deleted. Without a row of counts the
 * partner has no events yet. Between two events there are at most a few of other types than $4.
 */
const READ_PAGE = `
  SELECT t.last::float8, t.forgotten::float8, e.* FROM partner_event_totals t LEFT JOIN LATERAL (
    SELECT ${EVENT_COLUMNS} FROM partner_events e
    WHERE e.partner_id = $1 AND e.number > greatest($2::bigint, t.forgotten)
      AND e.type = ANY ($4::partner_event_type[])
    ORDER BY e.number LIMIT $3
  ) AS e ON true
  WHERE t.partner_id = $1 ORDER BY e.number`;

interface PageOptions {
  /** By default the types that a partner gets without asking. */
  readonly types?: readonly PartnerEventType[];
  /** As in `eachEnvelope`. */
  readonly pace?: Pace | undefined;
}

/**
 * The first `limit` of the partner's events of these types after a number, or after null from the oldest that is kept.
 * Each set of types has its own order without gaps: if a page has all events of its types, the next page comes after
 * every event, of whatever type. Returns null if events after the number are deleted, or if the number is above the
 * newest one: an older copy of the store was restored.
 */
export async function readEventPage(
  store: EventSource,
  partnerId: PartnerId,
  after: number | null,
  limit: number,
  { types = UNASKED_EVENT_TYPES, pace }: PageOptions = {},
): Promise<EventPage | null> {
  type Row = StoredEvent & { readonly last: number; readonly forgotten: number };
  const { rows } = await store.database.query<Row>(READ_PAGE, [partnerId, after, limit + 1, types]);
  const { last, forgotten } = rows[0] ?? { last: 0, forgotten: 0 };
  if (after !== null && (after < forgotten || after > last)) return null;
  const found = rows.filter((row) => row.number !== null);
  const page = found.slice(0, limit);
  const hasMore = found.length > limit;
  const next = hasMore ? page.at(-1)!.number : Math.max(last, after ?? 0, forgotten);
  return { events: await asTold(store, page, pace), next, hasMore };
}

/**
 * A separate statement, because on a cluster these rows are on other machines than the events. `applications_of` would
 * read more columns, in six times the time. With $2 the planner finds the partitions and their index.
 */
const READ_PERSONS = `
  SELECT g.id::float8, b.partner_id AS "partnerId", b.id AS "batchId", position_of(g.id) AS position,
    ${readIndex('b.phones[position_of(g.id) + 1]')} AS "phoneIndex",
    ${readIndex('b.id_numbers[position_of(g.id) + 1]')} AS "idNumberIndex",
    ${decidedColumns('position_of(g.id)')}
  FROM unnest($1::bigint[]) AS g(id) JOIN batches b ON b.id = batch_of(g.id) AND b.id = ANY ($2::bigint[])`;

/**
 * Adds the ids, the ID numbers and the reasons. The ID number is null if it cannot be read, or if the applicant is
 * another partner's; so are the reasons none. Throws `UnknownDataKeyError` if this process does not have the data key
 * of one.
 */
async function asTold(
  { database, vault, clock }: EventSource,
  events: readonly StoredEvent[],
  pace?: Pace,
): Promise<PartnerEvent[]> {
  if (events.length === 0) return [];
  type PersonRow = SealedRow & DecidedRow & Pick<StoredEvent, 'partnerId'> & { readonly id: ApplicationId };
  const ids = [...new Set(events.map(({ applicationId }) => applicationId))];
  const rows: PersonRow[] = [];
  for (const some of byPartitions(ids, partitionOf)) {
    const batchIds = [...new Set(some.map((id) => batchAndPositionOf(id).batchId))];
    const read = async () => (await database.query<PersonRow>(READ_PERSONS, [some, batchIds])).rows;
    rows.push(...(await readWhole(database, clock, read, (found) => found.length === some.length)));
  }
  const persons = await readPersonalData(database, vault, rows, ['id_number'], pace);
  refuseUnknownKey(persons);
  const keyOf = (partnerId: PartnerId, id: ApplicationId) => `${partnerId}:${id}`;
  const idNumbers = new Map(
    persons.map(({ row, person }) => [keyOf(row.partnerId, row.id), person.record?.id_number ?? null]),
  );
  const changed = new Set(
    events.flatMap(({ type, applicationId }) =>
      type === 'application.status_changed' ? [applicationId] : [],
    ),
  );
  const decided = rows.filter(({ id }) => changed.has(id));
  const reasons = await readReasons(database, decided);
  const codes = new Map(
    decided.map((row, index) => [keyOf(row.partnerId, row.id), reasons[index]!.map(({ code }) => code)]),
  );
  return events.map((row) => {
    const key = keyOf(row.partnerId, row.applicationId);
    return eventOf(vault, row, { idNumber: idNumbers.get(key) ?? null, reasonCodes: codes.get(key) ?? [] });
  });
}

interface OfApplication {
  readonly idNumber: string | null;
  readonly reasonCodes: readonly string[];
}

function eventOf(vault: Vault, row: StoredEvent, { idNumber, reasonCodes }: OfApplication): PartnerEvent {
  const { partnerId, number, at, applicationId, from, to, reasonCode } = row;
  const common = { id: eventIdOf(vault, partnerId, number), partnerId, number, at, applicationId, idNumber };
  switch (row.type) {
    case 'application.status_changed':
      return { ...common, type: row.type, from: from!, to: to!, reasonCode: reasonCode!, reasonCodes };
    case 'application.interested':
      return { ...common, type: row.type };
    case 'message.failed':
      return { ...common, type: row.type, message: row.message! };
    case 'conversation.started':
    case 'documents.received':
    case 'contract.signed':
    case 'contract.withdrawn':
      return { ...common, type: row.type };
    case 'income.verified':
      return { ...common, type: row.type, outcome: row.outcome as IncomeOutcome };
    case 'conversation.ended':
      return { ...common, type: row.type, outcome: row.outcome as ConversationEnd };
  }
}
