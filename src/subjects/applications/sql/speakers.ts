/**
 * Reads what decides how the service speaks with an applicant: partner, brand and phone (D43). Reads `applications_of`,
 * `partners`, `api_keys` and envelopes.
 */
import { type ApplicationId, partitionOf } from '../../../domain/application/ids.ts';
import type { Brand } from '../../../domain/partner/brand.ts';
import type { Phone } from '../../../domain/phone/phone.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { byPartitions } from './partition-runs.ts';
import { readPersonalData, SEALED_COLUMNS, type SealedRow } from './personal-data.ts';

const READ_VOICES = `
  SELECT a.id::float8, p.name AS "partnerName", k.brand, ${SEALED_COLUMNS}
  FROM applications_of($1) a JOIN partners p ON p.id = a.partner_id JOIN api_keys k ON k.id = a.api_key_id`;

/** The partner, brand and phone of an application, which decide how the service speaks. */
export interface Speakers {
  readonly partnerName: string;
  readonly brand: Brand;
  /** null: the applicant is erased or cannot be read. */
  readonly phone: Phone | null;
  /** This process lacks the data key of the applicant. */
  readonly isKeyUnknown: boolean;
}

/** The partner, the brand and the phone of each of these applications. */
export async function readSpeakers(
  session: Session,
  vault: Vault,
  ids: readonly ApplicationId[],
): Promise<Map<ApplicationId, Speakers>> {
  type Row = SealedRow & Pick<Speakers, 'partnerName' | 'brand'> & { readonly id: ApplicationId };
  const rows: Row[] = [];
  for (const some of byPartitions(ids, partitionOf)) {
    rows.push(...(await session.query<Row>(READ_VOICES, [some])).rows);
  }
  const persons = await readPersonalData(session, vault, rows, ['phone']);
  return new Map(
    persons.map(({ row, person }) => [
      row.id,
      {
        partnerName: row.partnerName,
        brand: row.brand,
        phone: person.record?.phone ?? null,
        isKeyUnknown: person.fault === 'unknown_key',
      },
    ]),
  );
}
