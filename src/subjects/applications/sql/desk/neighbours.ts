/**
 * Finds the other applications of the same phone or of the same ID number, by their blind indexes (D11, D49;
 * docs/operators.md, "Neighbours"). Reads the buckets by `look_up_person`, `applications_of` and `partners`.
 */
import { type ApplicationId, partitionOf, toApplicationId } from '../../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../../domain/application/lifecycle.ts';
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import type { Session } from '../../../../ground/postgres/database.ts';
import { requireIndexKey } from '../../../../seal/index-key.ts';
import type { Vault } from '../../../../seal/vault.ts';
import { byPartitions, lookUpParts } from '../partition-runs.ts';

/** What is shown of another application: no data of its person. */
interface Neighbour {
  readonly id: ApplicationId;
  readonly partner: { readonly id: PartnerId; readonly name: string };
  /** null: its stored data cannot be read. */
  readonly status: ApplicationStatus | null;
  readonly signedAt: Date | null;
  readonly createdAt: Date;
}

/** `count` counts no further than 100; `applications` are the newest 20. */
export interface Neighbours {
  readonly count: number;
  readonly applications: readonly Neighbour[];
}

export const MOST_COUNTED = 100;
const MOST_SHOWN = 20;
const INDEXES =
  'SELECT nullif(a.phone_index, 0) AS phone_index, nullif(a.id_number_index, 0) AS id_number_index FROM applications_of(ARRAY[$1::bigint]) AS a';
/** Separate statements, because on a cluster the buckets and the batches are on different machines. */
const LOOK_UP = `
  SELECT f.id, f.is_phone FROM (
    SELECT p.id, p.is_phone, row_number() OVER (PARTITION BY p.is_phone ORDER BY p.id DESC) AS number
    FROM look_up_person($2, $3, $4, $5, $6) AS p WHERE p.id <> $1
  ) AS f WHERE f.number <= ${MOST_COUNTED} ORDER BY f.id DESC`;
const READ = `
  SELECT a.id, a.partner_id, p.name AS partner_name, a.status, a.signed_at, a.created_at
  FROM applications_of($1) AS a JOIN partners p ON p.id = a.partner_id ORDER BY a.id DESC`;

/**
 * The other applications with the same phone and with the same ID number (D49); none if this one is erased. Throws an
 * `OtherIndexKeyError` if a `vault reindex` passed this process by.
 */
export async function ofSamePerson(
  session: Session,
  vault: Vault,
  id: ApplicationId,
): Promise<{ readonly samePhone: Neighbours; readonly sameIdNumber: Neighbours }> {
  const { rows } = await session.query<{ phone_index: string | null; id_number_index: string | null }>(
    INDEXES,
    [id],
  );
  const { phone_index: phone = null, id_number_index: idNumber = null } = rows[0] ?? {};
  // An erased applicant has no ID number, and nothing that leads to others.
  if (idNumber === null) return { samePhone: NONE, sameIdNumber: NONE };
  const samePhone: ApplicationId[] = [];
  const sameIdNumber: ApplicationId[] = [];
  for await (const part of lookUpParts(session)) {
    const values = [id, phone, idNumber, ...part];
    const { rows: found } = await session.query<{ id: string; is_phone: boolean }>(LOOK_UP, values);
    for (const one of found) (one.is_phone ? samePhone : sameIdNumber).push(toApplicationId(one.id));
    if (Math.min(samePhone.length, sameIdNumber.length) >= MOST_COUNTED) break;
  }
  await requireIndexKey(session, vault);
  return {
    samePhone: await readNeighbours(session, samePhone),
    sameIdNumber: await readNeighbours(session, sameIdNumber),
  };
}

const NONE: Neighbours = { count: 0, applications: [] };

/** What is shown of these applications, newest first. */
export async function readNeighbours(session: Session, ids: readonly ApplicationId[]): Promise<Neighbours> {
  const applications: Neighbour[] = [];
  for (const some of byPartitions(ids.slice(0, MOST_SHOWN), partitionOf)) {
    const { rows } = await session.query<{
      id: string;
      partner_id: PartnerId;
      partner_name: string;
      status: ApplicationStatus | null;
      signed_at: Date | null;
      created_at: Date;
    }>(READ, [some]);
    for (const row of rows) {
      applications.push({
        id: toApplicationId(row.id),
        partner: { id: row.partner_id, name: row.partner_name },
        status: row.status,
        signedAt: row.signed_at,
        createdAt: row.created_at,
      });
    }
  }
  return { count: Math.min(ids.length, MOST_COUNTED), applications };
}
