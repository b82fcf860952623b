/** Finds the newest application of a phone that has no open one. Reads the look-up buckets and `applications_of`. */
import {
  type ApplicationId,
  type BlindIndex,
  partitionOf,
  toApplicationId,
} from '../../../domain/application/ids.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { readIndex, toBigint } from '../../../seal/blind-indexes.ts';
import { byPartitions, lookUpParts } from './partition-runs.ts';

type PhoneIndex = BlindIndex<'phone'>;

const LOOK_UP = 'SELECT id FROM look_up($1::bigint[], NULL, $2, $3, $4) AS id ORDER BY id DESC LIMIT 1000';
/** A bucket may name an application whose batch is deleted. */
const OF_PHONES = `
  SELECT DISTINCT ON (a.phone_index) ${readIndex('a.phone_index')} AS phone, a.id::float8 AS id
  FROM applications_of($1) a WHERE a.phone_index = ANY ($2::bigint[]) ORDER BY a.phone_index, a.id DESC`;

/** The newest application of each of these phones that has any. It looks at every batch once at most. */
export async function newestOf(
  session: Session,
  phones: readonly PhoneIndex[],
): Promise<Map<PhoneIndex, ApplicationId>> {
  const found = new Map<PhoneIndex, ApplicationId>();
  for await (const part of lookUpParts(session)) {
    const missing = phones.filter((phone) => !found.has(phone)).map(toBigint);
    if (missing.length === 0) break;
    const { rows } = await session.query<{ id: string }>(LOOK_UP, [missing, ...part]);
    const ids = rows.map(({ id }) => toApplicationId(id));
    // Newest partitions first, so the first application of a phone is its newest.
    for (const some of byPartitions(ids, partitionOf)) {
      const { rows: of } = await session.query<{ phone: PhoneIndex; id: ApplicationId }>(OF_PHONES, [
        some,
        missing,
      ]);
      for (const { phone, id } of of) if (!found.has(phone)) found.set(phone, id);
    }
  }
  return found;
}
