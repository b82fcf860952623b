/**
 * Reads and extends the record of what operators did and read: a chain of rows, in which each MAC covers the row
 * before. Reads and writes `operator_events` and `operator_events_head`. docs/audit.md ("The chain") has the rule.
 */
import { type Database, onlyRow, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import type { ChainKeys } from '../chain-keys.ts';

/** An act, or a reading of personal data. It holds no personal data. */
export interface Act {
  /** The command, without its values. */
  readonly act: string;
  /** What was changed, by its id, such as `key 3`. */
  readonly target?: string;
  readonly applicationId?: number;
  readonly reason?: string;
}

/** The act of an operator who reads personal data at the desk (`operator_events_reveals` is its index). */
export const REVEAL = 'application reveal';

/** A row as it is stored. */
export interface OperatorEvent {
  readonly id: number;
  readonly at: Date;
  readonly actor: string;
  readonly act: string;
  readonly target: string | null;
  readonly applicationId: number | null;
  readonly reason: string | null;
}

/** A row with its place in the chain. */
export interface ChainedEvent extends OperatorEvent {
  /** The time in microseconds, as the MAC covers it. */
  readonly atText: string;
  readonly keyNumber: number;
  readonly mac: Buffer;
}

/** The end of the chain; the id is 0 if the chain is empty. */
export interface ChainHead {
  readonly id: number;
  readonly mac: Buffer;
}

const UTC = `AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
const LOCK_HEAD = `SELECT event_id AS id, mac, to_char(clock_timestamp() ${UTC} AS now FROM operator_events_head FOR UPDATE`;
/** A separate statement, so that it sees what was committed before the lock. */
const IS_END = `
  SELECT ($1::bigint = 0 OR EXISTS (SELECT FROM operator_events e WHERE e.id = $1 AND e.mac = $2))
    AND NOT EXISTS (SELECT FROM operator_events e WHERE e.id > $1 AND e.id <= $1::bigint + $3::bigint)
    AND $1::bigint + $3::bigint <= ${Number.MAX_SAFE_INTEGER} AS "isEnd"`;
/** The first row that has so many free ids behind it. */
const WITH_ROOM = `
  SELECT o.id, o.mac FROM (
    SELECT e.id, e.mac, lead(e.id, 1, ${Number.MAX_SAFE_INTEGER}::bigint + 1) OVER (ORDER BY e.id) AS next
    FROM operator_events e) AS o
  WHERE o.next - o.id > $1 ORDER BY o.id LIMIT 1`;
const READ_HEAD = 'SELECT event_id::float8 AS id, mac FROM operator_events_head';
const MOVE_HEAD = 'UPDATE operator_events_head SET event_id = $1, mac = $2';
const ADD = `
  INSERT INTO operator_events (id, at, actor, act, target, application_id, reason, key_number, mac)
  SELECT g.id, $2::timestamptz, $3, g.act, g.target, g.application_id, g.reason, $8, g.mac
  FROM unnest($1::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[], $9::bytea[])
    AS g(id, act, target, application_id, reason, mac)`;
const COLUMNS = `e.id::float8, e.at, to_char(e.at ${UTC} AS "atText", e.actor, e.act, e.target,
  e.application_id::float8 AS "applicationId", e.reason, e.key_number AS "keyNumber", e.mac`;
const AFTER = `SELECT ${COLUMNS} FROM operator_events e WHERE e.id > $1 ORDER BY e.id LIMIT $2`;
const NEWEST = `
  SELECT ${COLUMNS} FROM operator_events e WHERE e.id < $1 AND ($3::bigint IS NULL OR e.application_id = $3)
  ORDER BY e.id DESC LIMIT $2`;

/** The MAC of a row after the row with the MAC `before`; null if this process has no such key. */
export function macOf(
  keys: ChainKeys,
  before: Buffer,
  event: Omit<ChainedEvent, 'at' | 'mac'>,
): Buffer | null {
  const { id, atText, actor, act, target, applicationId, reason, keyNumber } = event;
  const text = JSON.stringify([id, atText, actor, act, target, applicationId, reason, keyNumber]);
  return keys.mac(keyNumber, before, text);
}

/**
 * Adds acts to the end of the chain, in the caller's transaction. Until that transaction ends, other commands wait for
 * the head, so this should be its last step.
 */
export async function addOperatorEvents(
  session: Transaction,
  keys: ChainKeys,
  actor: string,
  acts: readonly Act[],
): Promise<void> {
  const { rows } = await session.query<{ id: string; mac: Buffer; now: string }>(LOCK_HEAD);
  const head = await freeEnd(session, onlyRow(rows), acts.length);
  let { mac } = head;
  const events = acts.map(({ act, target = null, applicationId = null, reason = null }, index) => {
    const id = Number(head.id) + index + 1;
    const keyNumber = keys.newest;
    mac = macOf(keys, mac, {
      id,
      atText: head.now,
      actor,
      act,
      target,
      applicationId,
      reason,
      keyNumber,
    }) as Buffer;
    return { id, act, target, applicationId, reason, mac };
  });
  const column = <K extends keyof (typeof events)[number]>(name: K) => events.map((event) => event[name]);
  await session.query(ADD, [
    ...[column('id'), head.now, actor, column('act'), column('target'), column('applicationId')],
    ...[column('reason'), keys.newest, column('mac')],
  ]);
  await session.query(MOVE_HEAD, [events.at(-1)?.id ?? head.id, mac]);
}

/**
 * The head, or the row where the chain can go on if somebody has inserted rows behind the head or moved it: a wrong row
 * must not end the record. `audit verify` shows it.
 */
async function freeEnd<Head extends { readonly id: string; readonly mac: Buffer }>(
  session: Transaction,
  head: Head,
  count: number,
): Promise<Head> {
  const end = (await session.query<{ isEnd: boolean }>(IS_END, [head.id, head.mac, count])).rows;
  if (onlyRow(end).isEnd) return head;
  const [row] = (await session.query<{ id: string; mac: Buffer }>(WITH_ROOM, [count])).rows;
  return row === undefined ? { ...head, id: '0', mac: Buffer.alloc(32) } : { ...head, ...row };
}

/** The end of the chain, as the store remembers it. Throws an `Error` if the store remembers none. */
export async function readChainHead(session: Session): Promise<ChainHead> {
  return onlyRow((await session.query<{ id: number; mac: Buffer }>(READ_HEAD)).rows);
}

/** The next rows of the chain after an id, `limit` at most. */
export async function readEventsAfter(
  database: Database,
  id: number,
  limit: number,
): Promise<ChainedEvent[]> {
  return (await database.query<ChainedEvent>(AFTER, [id, limit])).rows;
}

/** Whether anything is recorded: the chain depends on the index key. */
export async function hasOperatorEvents(session: Session): Promise<boolean> {
  return (await session.query('SELECT FROM operator_events LIMIT 1')).rows.length > 0;
}

const OFTEN = `
  SELECT ceil(extract(epoch FROM min(n.at) + interval '1 hour' - clock_timestamp()))::integer AS seconds,
    count(*)::integer AS count
  FROM (
    SELECT e.at FROM operator_events e
    WHERE e.actor = $1 AND e.act = '${REVEAL}'
      AND e.at BETWEEN clock_timestamp() - interval '1 hour' AND clock_timestamp() + interval '1 minute'
    ORDER BY e.at DESC LIMIT $2 + 1) AS n`;

/**
 * Null if the actor has revealed `most` applications or fewer within the last hour, as the record has it; else the
 * seconds until the first of these is an hour old.
 */
export async function revealedTooOften(
  session: Session,
  actor: string,
  most: number,
): Promise<number | null> {
  const { rows } = await session.query<{ seconds: number; count: number }>(OFTEN, [actor, most]);
  const { seconds, count } = onlyRow(rows);
  return count <= most ? null : Math.max(1, seconds);
}

const PAGE = 500;

/** All rows, or those of an application, newest first; memory is bounded. */
export async function* readNewestEvents(
  database: Database,
  applicationId: number | null,
): AsyncGenerator<OperatorEvent, void, undefined> {
  for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined; ) {
    const values: unknown[] = [before, PAGE, applicationId];
    const events: ChainedEvent[] = (await database.query<ChainedEvent>(NEWEST, values)).rows;
    yield* events;
    before = events.length === PAGE ? events.at(-1)?.id : undefined;
  }
}
