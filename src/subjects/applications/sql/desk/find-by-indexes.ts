/**
 * Finds applications by the blind indexes of phones and of an ID number (D11, D49; docs/operators.md, "Find"). Reads
 * `batches` and the look-up buckets by `look_up_person`.
 */
import { type ApplicationId, type BlindIndex, toApplicationId } from '../../../../domain/application/ids.ts';
import type { Database } from '../../../../ground/postgres/database.ts';
import { toBigint } from '../../../../seal/blind-indexes.ts';
import { requireIndexKey } from '../../../../seal/index-key.ts';
import type { Vault } from '../../../../seal/vault.ts';
import { lookUpParts } from '../partition-runs.ts';

/** $1 and $2: a phone and an ID number; NULL: none. $6: the most. */
const LOOK_UP = `
  SELECT DISTINCT p.id FROM look_up_person($1, $2, $3, $4, $5) AS p ORDER BY p.id DESC LIMIT $6`;

/**
 * The newest applications with one of these phones or this ID number, highest id first, at most `most`. Throws an
 * `OtherIndexKeyError` if a `vault reindex` passed this process by, because nothing would be found.
 */
export async function findByIndexes(
  database: Database,
  vault: Vault,
  asked: {
    readonly phones: readonly BlindIndex<'phone'>[];
    /** null: none. */
    readonly idNumber: BlindIndex<'id_number'> | null;
  },
  most: number,
): Promise<ApplicationId[]> {
  const phones = [...new Set(asked.phones.map(toBigint))];
  // The ID number goes with the first phone: a scan of the newest batches takes most of the time.
  const looks = [
    [phones[0] ?? null, asked.idNumber && toBigint(asked.idNumber)],
    ...phones.slice(1).map((phone) => [phone, null]),
  ];
  const found = new Set<ApplicationId>();
  for await (const part of lookUpParts(database)) {
    for (const look of looks) {
      const { rows } = await database.query<{ id: string }>(LOOK_UP, [...look, ...part, most]);
      for (const { id } of rows) found.add(toApplicationId(id));
    }
    if (found.size >= most) break;
  }
  await requireIndexKey(database, vault);
  return [...found].sort((one, other) => Number(other) - Number(one)).slice(0, most);
}
