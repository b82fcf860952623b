/**
 * Finds applications of the same partner and city within a day (docs/operators.md, "Neighbours"). The city is sealed
 * and has no index, so the envelopes of the partner's nearest batches are opened, within the bounds below. Reads
 * `batches`, and no city leaves this file.
 */
import {
  type ApplicationId,
  applicationIdAt,
  type BatchId,
  toBatchId,
} from '../../../../domain/application/ids.ts';
import { fold } from '../../../../domain/document/fold.ts';
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import type { Session } from '../../../../ground/postgres/database.ts';
import type { Vault } from '../../../../seal/vault.ts';
import { readPersonalData, SEALED_COLUMNS, type SealedRow } from '../personal-data.ts';
import { eachEnvelope } from '../read-envelopes.ts';
import { MOST_COUNTED, type Neighbours, readNeighbours } from './neighbours.ts';

/** How many batch numbers to each side are looked through for the partner's, which an index has. */
const REACH = 10_000;
/** The most batches of the partner to each side whose envelopes are opened: each has 100 applicants at most. */
const MOST_OPENED = 25;
/** Numbers of so many batches are in two partitions at most. */
const PARTITION = 8_388_608;

/** `count` and `applications` are of what was looked at. */
export interface SameCity extends Neighbours {
  /** How many applications were looked at. */
  readonly lookedAt: number;
  /** Whether these are all of the partner within a day. */
  readonly isWhole: boolean;
}

const OWN = `
  SELECT ${SEALED_COLUMNS}, a.partner_id AS "partnerId", a.created_at AS at
  FROM applications_of(ARRAY[$1::bigint]) AS a`;
const WITHIN_A_DAY = `b.created_at BETWEEN $4::timestamptz - interval '1 day' AND $4::timestamptz + interval '1 day'`;
/** An erased applicant has the ID number 0. */
const near = (order: 'DESC' | 'ASC') => `
  SELECT b.id, ARRAY(SELECT u.place::integer - 1 FROM unnest(b.id_numbers) WITH ORDINALITY AS u(number, place)
    WHERE u.number <> 0) AS positions
  FROM batches b WHERE b.id >= $1 AND b.id < $2 AND b.partner_id = $3 AND ${WITHIN_A_DAY}
  ORDER BY b.id ${order} LIMIT ${MOST_OPENED}`;
/** Whether the batch next to what was looked through is within a day too. */
const beyond = (order: 'DESC' | 'ASC') => `
  SELECT b.created_at BETWEEN $3::timestamptz - interval '1 day' AND $3::timestamptz + interval '1 day' AS "isWithin"
  FROM batches b WHERE b.id >= $1 AND b.id < $2 ORDER BY b.id ${order} LIMIT 1`;

const NONE: SameCity = { count: 0, applications: [], lookedAt: 0, isWhole: true };

/**
 * The nearest applications of the partner within a day whose city is the same, whatever its case and accents; none if
 * this one is erased or does not open. An envelope that does not open is left out.
 */
export async function ofSameCity(session: Session, vault: Vault, id: ApplicationId): Promise<SameCity> {
  type Row = SealedRow & { readonly partnerId: PartnerId; readonly at: Date };
  const { rows } = await session.query<Row>(OWN, [id]);
  const [own] = await readPersonalData(session, vault, rows, ['city']);
  const city = own?.person.record?.city;
  if (own === undefined || city == null) return NONE;
  const { batches, isWhole } = await nearestBatches(session, own.row);
  const folded = fold(city);
  const found: ApplicationId[] = [];
  let lookedAt = 0;
  await eachEnvelope(session, vault, [...batches.keys()], { fields: ['city'] }, (batch, columns) => {
    if (columns === null || columns === 'unknown_key') return;
    for (const position of batches.get(batch) ?? []) {
      const other = columns.city?.[position];
      const application = applicationIdAt(batch, position);
      if (typeof other !== 'string' || application === id) continue;
      lookedAt += 1;
      if (fold(other) === folded) found.push(application);
    }
  });
  const newest = found.sort((one, other) => other - one).slice(0, MOST_COUNTED);
  return { ...(await readNeighbours(session, newest)), lookedAt, isWhole };
}

/** The partner's batches that are opened, each with the positions of its applications. */
async function nearestBatches(
  session: Session,
  { batchId, partnerId, at }: { readonly batchId: BatchId; readonly partnerId: PartnerId; readonly at: Date },
): Promise<{ readonly batches: ReadonlyMap<BatchId, readonly number[]>; readonly isWhole: boolean }> {
  const own = Number(batchId);
  const batches = new Map<BatchId, readonly number[]>();
  let isWhole = true;
  const sides = [
    { from: own - REACH, before: own + 1, outer: own - REACH - PARTITION, order: 'DESC' },
    { from: own + 1, before: own + REACH, outer: own + REACH, order: 'ASC' },
  ] as const;
  for (const { from, before, outer, order } of sides) {
    const { rows } = await session.query<{ id: BatchId; positions: number[] }>(near(order), [
      ...[from, before, partnerId, at],
    ]);
    for (const { id, positions } of rows) batches.set(toBatchId(id), positions);
    const { rows: next } = await session.query<{ isWithin: boolean }>(beyond(order), [
      ...[outer, outer + PARTITION, at],
    ]);
    if (rows.length === MOST_OPENED || next[0]?.isWithin === true) isWhole = false;
  }
  return { batches, isWhole };
}
