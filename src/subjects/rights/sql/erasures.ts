/**
 * The erasures that were done, so that a restored older store can do them again (docs/subject.md, "Erase";
 * docs/backup.md). Reads and writes `erasures` and `erased_phones`.
 */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';

/** An application, and the seal id of its batch. Both together name it in every state of the store. */
interface ErasedApplication {
  readonly id: ApplicationId;
  readonly sealId: string;
}

/** An erasure as it is stored. */
export interface Erasure {
  readonly id: string;
  readonly at: Date;
  readonly applications: readonly ErasedApplication[];
  /** Blind indexes by the store's index key, each as the decimal text of a bigint. */
  readonly phones: readonly string[];
}

/** An erasure that is stored already stays as it is. */
const ADD = `
  INSERT INTO erasures (id, erased_at, application_ids, seal_ids) VALUES ($1, coalesce($2, now()), $3, $4)
  ON CONFLICT (id) DO NOTHING`;
const ADD_PHONES = `
  INSERT INTO erased_phones (erasure_id, phone_index) SELECT $1, u.phone FROM unnest($2::bigint[]) AS u(phone)
  ON CONFLICT DO NOTHING`;

/** Stores an erasure, in the transaction that does it; `at` null: now. */
export async function addErasure(
  session: Transaction,
  { id, at, applications, phones }: Omit<Erasure, 'at'> & { readonly at: Date | null },
): Promise<void> {
  const ids = applications.map((one) => one.id);
  await session.query(ADD, [id, at, ids, applications.map(({ sealId }) => sealId)]);
  await session.query(ADD_PHONES, [id, phones]);
}

const PHONES = 'SELECT phone_index AS phone FROM erased_phones WHERE erasure_id = $1';

/** Those of these phones that the store does not have under this erasure. */
export async function newPhones(
  session: Session,
  { id, phones }: Pick<Erasure, 'id' | 'phones'>,
): Promise<string[]> {
  const { rows } = await session.query<{ phone: string }>(PHONES, [id]);
  const known = new Set(rows.map(({ phone }) => phone));
  return phones.filter((phone) => !known.has(phone));
}

/** An erasure with its number. The numbers have the order in which erasures were stored. */
export interface NumberedErasure extends Erasure {
  readonly number: number;
}

const AFTER = `
  SELECT id, number::float8 AS number, erased_at AS at, application_ids, seal_ids,
    ARRAY(SELECT p.phone_index::text FROM erased_phones p WHERE p.erasure_id = e.id ORDER BY p.phone_index) AS phones
  FROM erasures e WHERE e.number > $1 ORDER BY e.number LIMIT $2`;

interface Row {
  readonly id: string;
  readonly number: number;
  readonly at: Date;
  readonly application_ids: readonly string[];
  readonly seal_ids: readonly string[];
  readonly phones: readonly string[];
}

/** The next erasures after a number, at most `most`, the oldest first. */
export async function readErasuresAfter(
  session: Session,
  after: number,
  most: number,
): Promise<NumberedErasure[]> {
  const { rows } = await session.query<Row>(AFTER, [after, most]);
  return rows.map(({ id, number, at, application_ids: ids, seal_ids: sealIds, phones }) => ({
    id,
    number,
    at,
    phones,
    applications: ids.map((one, n) => ({ id: toApplicationId(one), sealId: sealIds[n] ?? '' })),
  }));
}
