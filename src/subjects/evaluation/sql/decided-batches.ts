/**
 * Walks over the stored batches, newest first, and reads what was decided: facts, partner and policy (D51). Reads
 * `batches` and `policies`; needs no key. A statement names one partition (docs/scale.md).
 */
import {
  type BatchId,
  batchesOfPartition,
  partitionOfBatch,
  toBatchId,
} from '../../../domain/application/ids.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Card } from '../../../domain/scorecard/card.ts';
import { onlyRow, type Session } from '../../../ground/postgres/database.ts';
import { firstBatchAt } from '../../applications/sql/batch-times.ts';
import { partitionsDown, partitionsEnd } from '../../applications/sql/partition-runs.ts';
import { POLICY_AS_JSON, type PolicyRow, storedPolicyOf } from '../../policies/sql/policies.ts';

/** A batch as it was decided. */
export interface DecidedBatch {
  readonly id: BatchId;
  readonly partnerId: PartnerId;
  readonly policyId: number;
  /** The day of the registration in UTC, `YYYY-MM-DD`. */
  readonly day: string;
  /** The same with its hour, `YYYY-MM-DDTHH`. */
  readonly hour: string;
  /** In base64; `DecidedFacts` reads them. */
  readonly facts: string;
}

/** Batches of a statement: a megabyte of facts. */
const PAGE = 250;

/** Numbers of batches and their times go up together but for a few seconds, so the walk ends soon after `since`. */
const READ = `
  SELECT b.id, b.partner_id AS "partnerId", b.policy_id AS "policyId",
    to_char(b.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
    to_char(b.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24') AS hour, encode(b.facts, 'base64') AS facts
  FROM batches b WHERE b.id >= $1 AND b.id < $2 ORDER BY b.id DESC LIMIT ${PAGE}`;

/** Pages of batches, newest first, that were registered on or after the day `since`; null: all. */
export async function* decidedBatches(
  session: Session,
  since: string | null,
): AsyncGenerator<readonly DecidedBatch[], void, undefined> {
  for await (const { from, before } of partitionsDown(session)) {
    const read = (end: BatchId) => session.query<DecidedBatch>(READ, [from, end]);
    // The next page is on its way while one is counted.
    for (let page = read(before); ; ) {
      const { rows } = await page;
      const isLast = rows.length < PAGE;
      if (!isLast) {
        page = read(rows.at(-1)!.id);
        // Whoever takes no more pages does not hear of its failure.
        page.catch(() => {});
      }
      const wanted = since === null ? rows : rows.filter(({ day }) => day >= since);
      if (wanted.length > 0) yield wanted;
      // All of a page are older: so are all that follow.
      else if (since !== null && rows.length > 0) return;
      // The driver's timer holds the result of a statement for long, so the memory would grow with the pages.
      rows.length = 0;
      if (isLast) break;
    }
  }
}

const DAY_BEFORE = "SELECT to_char((now() AT TIME ZONE 'UTC')::date - $1::integer, 'YYYY-MM-DD') AS day";

/** The day so many days ago, `YYYY-MM-DD` in UTC, by the database's clock. */
export async function dayBefore(session: Session, days: number): Promise<string> {
  return onlyRow((await session.query<{ day: string }>(DAY_BEFORE, [days])).rows).day;
}

const ACTIVATED = 'SELECT at FROM policy_activations WHERE id = $1';

/** When an activation was. */
export async function activatedAt(session: Session, activationId: number): Promise<Date> {
  return onlyRow((await session.query<{ at: Date }>(ACTIVATED, [activationId])).rows).at;
}

const READ_UP = `${READ.slice(0, READ.indexOf('ORDER BY'))} ORDER BY b.id LIMIT $3`;

/** A page of batches in the order of their numbers. All before the number `next` have passed. */
export interface Page {
  readonly batches: readonly DecidedBatch[];
  readonly next: number;
}

/**
 * A page looks at so many numbers a batch: where PostgreSQL knows little of a new partition, it reads all of them and
 * sorts.
 */
const MOST_GAPS = 100;
/** A partition that was closed early has millions of numbers without a batch. */
const NEXT = 'SELECT b.id::float8 FROM batches b WHERE b.id >= $1 AND b.id < $2 ORDER BY b.id LIMIT 1';

/** Pages of at most `most` batches in the order of their numbers, from the number `from` to the one before `before`. */
export async function* batchesBetween(
  session: Session,
  from: number,
  before: number,
  most = PAGE,
): AsyncGenerator<Page, void, undefined> {
  for (let next = from; next < before; ) {
    const partition = batchesOfPartition(partitionOfBatch(toBatchId(next)));
    const stop = Math.min(before, Number(partition.before));
    const end = Math.min(stop, next + most * MOST_GAPS);
    const { rows: batches } = await session.query<DecidedBatch>(READ_UP, [next, end, most]);
    next = batches.length < most ? end : Number(batches.at(-1)!.id) + 1;
    if (batches.length === 0 && next < stop)
      next = (await session.query<{ id: number }>(NEXT, [next, stop])).rows[0]?.id ?? stop;
    yield { batches, next };
  }
}

/** Pages of batches in the order of their numbers, from the first one on that was registered at a time or later. */
export async function* batchesFrom(
  session: Session,
  at: Date,
): AsyncGenerator<readonly DecidedBatch[], void, undefined> {
  const end = await partitionsEnd(session);
  for await (const { batches } of batchesBetween(session, await firstBatchAt(session, at), end))
    if (batches.length > 0) yield batches;
}

const PARTNERS = 'SELECT p.id, p.name FROM partners p WHERE p.id = ANY ($1::integer[])';

/** The names of partners, by their id. */
export async function readPartnerNames(
  session: Session,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const { rows } = await session.query<{ id: number; name: string }>(PARTNERS, [ids]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

const CARDS = `SELECT ${POLICY_AS_JSON} AS policy FROM policies p`;

/** The cards of all policies that have decided, by their stored id. */
export async function readCards(session: Session): Promise<Map<number, Card>> {
  const { rows } = await session.query<{ policy: PolicyRow }>(CARDS);
  return new Map(rows.map(({ policy }) => [policy.id, storedPolicyOf(policy).card]));
}
