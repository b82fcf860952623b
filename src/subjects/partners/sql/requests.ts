/**
 * Writes, reads and deletes what is noted of partners' requests (docs/operators.md, "Requests"). Writes
 * `partner_requests` and the time of the last use in `key_totals`, by `note_requests` and `forget_requests`.
 */
import type { KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import { againAfterConflict, type Database, type Session } from '../../../ground/postgres/database.ts';

/** How many elements of a batch had which outcome. */
export interface ElementCounts {
  readonly registered: number;
  readonly duplicate: number;
  readonly overQuota: number;
  readonly invalid: number;
  readonly notAnObject: number;
}

/** A request of a partner that was answered. No personal data. */
export interface NotedRequest {
  /** X-Request-Id. */
  readonly requestId: string;
  readonly partnerId: PartnerId;
  readonly keyId: KeyId;
  readonly method: string;
  /** The route, as the program has it. */
  readonly route: string;
  readonly status: number;
  /** How long it took. */
  readonly ms: number;
  /** What was wrong with the request as a whole: a code; null: nothing. */
  readonly problem: string | null;
  /** The answer was one of before, by its Idempotency-Key. */
  readonly replayed: boolean;
  /** null: the request was no batch, or was refused as a whole. */
  readonly counts: ElementCounts | null;
  /** How many elements broke which rule: `field.rule`; null: none did. */
  readonly faults: Readonly<Record<string, number>> | null;
}

/** Requests with the milliseconds since their answer. */
export type NotedAgo = readonly (readonly [request: NotedRequest, agoMs: number])[];

const NOTE = `SELECT note_requests(${Array.from({ length: 17 }, (_, index) => `$${index + 1}`).join(', ')})`;

/** Adds requests, and says that these keys were used now. */
export async function noteRequests(
  session: Session,
  noted: NotedAgo,
  usedKeys: Iterable<KeyId>,
): Promise<void> {
  const column = <T>(of: (request: NotedRequest) => T) => noted.map(([request]) => of(request));
  const count = (name: keyof ElementCounts) => column(({ counts }) => counts?.[name] ?? null);
  const values = [
    ...[column(({ partnerId }) => partnerId), column(({ requestId }) => requestId)],
    ...[column(({ keyId }) => keyId), noted.map(([, agoMs]) => Math.round(agoMs))],
    ...[column(({ method }) => method), column(({ route }) => route)],
    ...[column(({ status }) => status), column(({ ms }) => Math.round(ms))],
    ...[column(({ problem }) => problem), column(({ replayed }) => replayed)],
    ...[count('registered'), count('duplicate'), count('overQuota'), count('invalid'), count('notAnObject')],
    column(({ faults }) => faults && JSON.stringify(faults)),
    [...usedKeys],
  ];
  await againAfterConflict(() => session.query({ name: 'note_requests', text: NOTE, values }));
}

/** A noted request as it is read. */
export interface StoredRequest extends NotedRequest {
  /** When its answer was sent. */
  readonly at: Date;
}

/** Served by the primary key. */
const LIST = `
  SELECT r.request_id AS "requestId", r.partner_id AS "partnerId", r.api_key_id AS "keyId", r.at, r.method, r.route, r.status,
    r.ms, r.problem, r.replayed, r.faults,
    CASE WHEN r.registered IS NOT NULL THEN json_build_object('registered', r.registered, 'duplicate', r.duplicate,
      'overQuota', r.over_quota, 'invalid', r.invalid, 'notAnObject', r.not_an_object) END AS counts
  FROM partner_requests r
  WHERE r.partner_id = $1 AND ($2::uuid IS NULL OR r.request_id < $2) AND ($3::uuid IS NULL OR r.request_id = $3)
  ORDER BY r.request_id DESC LIMIT $4`;

/** The requests of a partner before one (null: the newest ones), newest first; `only`: that one alone. */
export async function readRequests(
  session: Session,
  partnerId: PartnerId,
  {
    before,
    only,
    limit,
  }: { readonly before: string | null; readonly only: string | null; readonly limit: number },
): Promise<StoredRequest[]> {
  const { rows } = await session.query<StoredRequest & Record<string, unknown>>(LIST, [
    ...[partnerId, before, only, limit],
  ]);
  return rows;
}

/** Of a partner so many stay, if they are not older than seven days. */
export const MOST_KEPT = 100_000;
/** Other work waits for no more rows of one statement. */
const AT_ONCE = 5_000;

/** Deletes the requests of each partner that are too old or too many. Any number of processes may do this at once. */
export async function forgetRequests(database: Database, most = MOST_KEPT): Promise<void> {
  const { rows } = await database.query<{ id: PartnerId }>('SELECT id FROM partners ORDER BY id');
  for (const { id } of rows) {
    for (;;) {
      const forgotten = await database.query<{ count: number }>(
        'SELECT forget_requests($1, $2, $3)::float8 AS count',
        [id, most, AT_ONCE],
      );
      if ((forgotten.rows[0]?.count ?? 0) < AT_ONCE) break;
    }
  }
}
