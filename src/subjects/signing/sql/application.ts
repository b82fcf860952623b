/**
 * Reads what a contract needs from its application: the person, the partner, the brand and the status. Reads
 * `applications_of` and opens the person's data from the envelope.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { Brand } from '../../../domain/partner/brand.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Phone } from '../../../domain/phone/phone.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import { UnknownDataKeyError } from '../../../ground/base/registration-failure.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { readPersonalData, SEALED_COLUMNS, type SealedRow } from '../../applications/sql/personal-data.ts';

/** The application with its person. */
export interface ContractApplication {
  readonly status: ApplicationStatus;
  readonly partner: { readonly id: PartnerId; readonly name: string; readonly country: Country };
  readonly brand: Brand;
  readonly debt: { readonly amount: number; readonly currency: string };
  readonly person: {
    readonly name: string;
    readonly idNumber: string;
    readonly city: string;
    readonly phone: Phone | null;
  };
}

const READ = `
  SELECT ${SEALED_COLUMNS}, a.status, json_build_object('id', p.id, 'name', p.name, 'country', p.country) AS partner,
    k.brand, a.debt_amount AS amount, a.currency
  FROM applications_of(ARRAY[$1::bigint]) a
  JOIN partners p ON p.id = a.partner_id
  JOIN api_keys k ON k.id = a.api_key_id`;

/**
 * The application. Null if there is none, if its person is erased, or if its data cannot be read. Throws
 * `UnknownDataKeyError` if this process lacks the data key: then the work waits.
 */
export async function readForContract(
  session: Session,
  vault: Vault,
  id: ApplicationId,
): Promise<ContractApplication | null> {
  type Row = SealedRow &
    ContractApplication['debt'] &
    Pick<ContractApplication, 'status' | 'partner' | 'brand'>;
  const { rows } = await session.query<Row>(READ, [id]);
  const [found] = await readPersonalData(session, vault, rows, ['name', 'id_number', 'city', 'phone']);
  if (found === undefined) return null;
  const { row, person } = found;
  const { status, partner, brand, amount, currency } = row;
  if (person.fault === 'unknown_key') throw new UnknownDataKeyError();
  const { record } = person;
  if (record?.name == null || record.id_number == null || status === null) return null;
  return {
    status,
    partner,
    brand,
    debt: { amount, currency },
    person: {
      name: record.name,
      idNumber: record.id_number,
      city: record.city ?? '',
      phone: (record.phone ?? null) as Phone | null,
    },
  };
}
