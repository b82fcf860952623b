/**
 * Reads the owners of the simulator's phones from their applications: names, partner and income. Opens envelopes, and
 * writes nothing.
 */
import type { ApplicationId, BlindIndex } from '../../domain/application/ids.ts';
import type { Phone } from '../../domain/phone/phone.ts';
import type { Database } from '../../ground/postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { readPersonalData, SEALED_COLUMNS, type SealedRow } from '../applications/sql/personal-data.ts';

/** An applicant, with what the head of the chat shows. */
export interface Owner {
  readonly applicationId: ApplicationId;
  /** The blind index of the phone. */
  readonly phoneIndex: BlindIndex<'phone'>;
  readonly phone: Phone;
  readonly name: string;
  readonly idNumber: string;
  /** The declared monthly income. */
  readonly income: number;
  readonly currency: string;
  /** The partner's name for applicants. */
  readonly partner: string;
  /** When the phone was suppressed; null: it is not suppressed. */
  readonly suppressedAt: Date | null;
}

const READ = `
  SELECT a.id::float8 AS "applicationId", ${SEALED_COLUMNS}, a.income, a.currency, s.created_at AS "suppressedAt",
    coalesce(k.brand ->> 'partner', p.name) AS partner
  FROM applications_of($1::bigint[]) a
  JOIN partners p ON p.id = a.partner_id
  JOIN api_keys k ON k.id = a.api_key_id
  LEFT JOIN suppressions s ON s.phone_index = a.phone_index AND s.active
  ORDER BY a.id`;

/** The owners of these applications. Leaves out erased applicants, and those whose personal data does not open. */
export async function readOwners(
  database: Database,
  vault: Vault,
  ids: readonly ApplicationId[],
): Promise<Owner[]> {
  if (ids.length === 0) return [];
  type Row = SealedRow & Omit<Owner, 'phoneIndex' | 'phone' | 'name' | 'idNumber'>;
  const { rows } = await database.query<Row>(READ, [ids]);
  const persons = await readPersonalData(database, vault, rows, ['name', 'phone']);
  return persons.flatMap(({ row, person: { record } }) => {
    if (record?.phone == null || record.name == null || record.id_number == null) return [];
    const { phone, name, id_number: idNumber } = record;
    return [{ ...row, phoneIndex: row.phoneIndex!, phone, name, idNumber }];
  });
}
