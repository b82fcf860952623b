/**
 * Finds the ids of a partner's own applications, highest first: those of a day, and those with an ID number (D56).
 * Reads `batches` and the look-up buckets. A request looks at a bounded number of batches and still goes on later.
 */
import {
  type ApplicationId,
  applicationIdAt,
  type BatchId,
  type BlindIndex,
  batchAndPositionOf,
  batchesOfPartition,
  partitionOfBatch,
  toApplicationId,
  toBatchId,
} from '../../../domain/application/ids.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { DAY_MS } from '../../../ground/base/clock.ts';
import { type Database, onlyRow } from '../../../ground/postgres/database.ts';
import { toBigint } from '../../../seal/blind-indexes.ts';
import { requireIndexKey } from '../../../seal/index-key.ts';
import type { Vault } from '../../../seal/vault.ts';
import { fitting } from './application-search.ts';
import { EARLIER_MS, firstBatchAt } from './batch-times.ts';
import { lookUpParts } from './partition-runs.ts';

/** What a page is asked for. */
export interface OwnAsked {
  readonly partnerId: PartnerId;
  /** Only applications with lower ids; null: from the newest on. */
  readonly before: ApplicationId | null;
  readonly limit: number;
}

/** The ids of a page, highest first. `next`: only lower ids are left; null: nothing is left. */
export interface OwnPage {
  readonly ids: readonly ApplicationId[];
  readonly next: ApplicationId | null;
}

/** The most batches of the partner that a statement compares with an ID number, and that a request looks at. */
const BATCHES = 10_000;
const MOST_BATCHES = 100_000;
/** What a statement counts as, at least: a store may have many partitions without a batch of the partner. */
const LEAST_COUNTED = 1_000;
/** The most applications of one statement that were found by blind index, of all partners. */
const LOOKED_UP = 200;

/**
 * The newest batches of the partner $3 from $1 on and before $2, of one partition, and in them the applications below
 * the id $4. $5 and $6: registered from then on and before then; $7: the ID number; NULL: any. $8: the most.
 * `last`: what is below this batch was not looked at; NULL: everything was.
 */
const OWN = `
  WITH seen AS MATERIALIZED (
    SELECT b.id FROM batches b WHERE b.partner_id = $3 AND b.id >= $1 AND b.id < $2
    ORDER BY b.id DESC LIMIT CASE WHEN $7::bigint IS NULL THEN $8 ELSE ${BATCHES} END
  ), own AS MATERIALIZED (
    SELECT b.id, b.id_numbers FROM batches b
    WHERE b.id = ANY (ARRAY(SELECT s.id FROM seen s)) AND b.id >= $1 AND b.id < $2
      AND ($5::timestamptz IS NULL OR b.created_at >= $5 AND b.created_at < $6)
      AND ($7::bigint IS NULL OR $7 = ANY (b.id_numbers))
    ORDER BY b.id DESC LIMIT $8
  ), counted AS (
    SELECT (SELECT count(*) FROM own) = $8 AS is_full, count(*) AS batches, min(id) AS last FROM seen
  )
  SELECT ARRAY(
    SELECT application_id_at(o.id, p.position)
    FROM own o CROSS JOIN LATERAL generate_series(0, cardinality(o.id_numbers) - 1) AS p(position)
    WHERE application_id_at(o.id, p.position) < $4 AND o.id_numbers[p.position + 1] IS NOT NULL
      AND ($7::bigint IS NULL OR o.id_numbers[p.position + 1] = $7)
    ORDER BY 1 DESC LIMIT $8)::text[] AS ids,
    CASE WHEN c.is_full THEN (SELECT min(id) FROM own)
      WHEN c.batches = CASE WHEN $7::bigint IS NULL THEN $8 ELSE ${BATCHES} END THEN c.last END AS last,
    c.batches::integer
  FROM counted c`;

interface Looked {
  readonly ids: string[];
  readonly last: BatchId | null;
  readonly batches: number;
}

interface Narrowed {
  readonly from?: Date;
  readonly before?: Date;
  readonly idNumber?: string;
}

/** Walks down the batches of a range, statement by statement, until a page is full or it has looked at enough. */
class OwnWalk {
  readonly ids: ApplicationId[] = [];
  /** Only lower ids are left to look at. */
  place: number;
  #looked = 0;
  readonly #database: Database;
  readonly #asked: OwnAsked;

  constructor(database: Database, asked: OwnAsked) {
    this.#database = database;
    this.#asked = asked;
    this.place = asked.before ?? Number.MAX_SAFE_INTEGER;
  }

  get isOver(): boolean {
    return this.ids.length > this.#asked.limit || this.#looked >= MOST_BATCHES;
  }

  /** The batches from `least` on and before `end`, newest first. */
  async down(least: number, end: number, { from, before, idNumber }: Narrowed): Promise<void> {
    this.#goOnBelow(end);
    while (end > least && !this.isOver) {
      const partition = batchesOfPartition(partitionOfBatch(toBatchId(end - 1)));
      const first = Math.max(least, Number(partition.from));
      const { partnerId, limit } = this.#asked;
      const values = [first, end, partnerId, this.place, from, before, idNumber, limit + 1 - this.ids.length];
      const { rows } = await this.#database.query<Looked>(OWN, values);
      const { ids, last, batches } = onlyRow(rows);
      this.add(ids.map(toApplicationId), Math.max(batches, LEAST_COUNTED));
      end = last === null ? first : Number(last);
      this.#goOnBelow(end);
    }
  }

  /** What a look that cost as much as so many batches has found. */
  add(ids: readonly ApplicationId[], batches: number): void {
    this.#looked += batches;
    this.ids.push(...ids);
  }

  #goOnBelow(batch: number): void {
    this.place = Math.min(this.place, applicationIdAt(toBatchId(batch), 0));
  }

  /** `isDone`: nothing is left below `place`. */
  page(isDone: boolean): OwnPage {
    const { limit } = this.#asked;
    const next = isDone ? null : toApplicationId(this.place);
    return { ids: this.ids.slice(0, limit), next: this.ids.length > limit ? this.ids[limit - 1]! : next };
  }
}

/** The partner's applications that were registered on this day (UTC). The batches of other days are not read. */
export async function ownOfDay(database: Database, day: string, asked: OwnAsked): Promise<OwnPage> {
  const start = Date.parse(`${day}T00:00:00Z`);
  const least = await firstBatchAt(database, new Date(start - EARLIER_MS));
  const end =
    asked.before === null
      ? await firstBatchAt(database, new Date(start + DAY_MS + EARLIER_MS))
      : batchAbove(asked.before);
  const walk = new OwnWalk(database, asked);
  await walk.down(least, end, { from: new Date(start), before: new Date(start + DAY_MS) });
  return walk.page(walk.place <= applicationIdAt(toBatchId(least), 0));
}

const LOOK_UP = `
  SELECT id FROM look_up(NULL, ARRAY[$1::bigint], $2, $3, true) AS id WHERE id < $4 ORDER BY id DESC LIMIT ${LOOKED_UP}`;

/**
 * The partner's applications with this ID number. Throws an `OtherIndexKeyError` if a `vault reindex` passed this
 * process by, because nothing would be found, and an `UnavailableError` if the buckets were emptied meanwhile.
 */
export async function ownOfIdNumber(
  database: Database,
  vault: Vault,
  index: BlindIndex<'id_number'>,
  asked: OwnAsked,
): Promise<OwnPage> {
  const idNumber = toBigint(index);
  const walk = new OwnWalk(database, asked);
  let isDone = false;
  for await (const [from, before, areInBuckets] of lookUpParts(database)) {
    if (!areInBuckets)
      await walk.down(Number(from), Math.min(Number(before), batchAbove(walk.place)), { idNumber });
    else isDone = await lookUpOwn(database, walk, { idNumber, from, before }, asked.partnerId);
    if (walk.isOver) break;
  }
  await requireIndexKey(database, vault);
  return walk.page(isDone);
}

/** Looks in the buckets. True: there is nothing more. */
async function lookUpOwn(
  database: Database,
  walk: OwnWalk,
  { idNumber, from, before }: { readonly idNumber: string; readonly from: string; readonly before: string },
  partnerId: PartnerId,
): Promise<boolean> {
  while (!walk.isOver) {
    const { rows } = await database.query<{ id: string }>(LOOK_UP, [idNumber, from, before, walk.place]);
    const found = rows.map(({ id }) => toApplicationId(id));
    walk.add(await fitting(database, found, { partnerId }), BATCHES);
    if (found.length < LOOKED_UP) return true;
    walk.place = found.at(-1)!;
  }
  return false;
}

/** The number above the batch of an application. */
function batchAbove(id: number): number {
  return Number(batchAndPositionOf(toApplicationId(id)).batchId) + 1;
}
