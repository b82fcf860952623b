/**
 * Reads what decides how the service speaks with an applicant: partner, brand and phone (D43). Reads `applications_of`,
 * `partners`, `api_keys` and envelopes.
 */
import { NOTED_FIELDS } from '../../../domain/application/fields.ts';
import { type ApplicationId, partitionOf } from '../../../domain/application/ids.ts';
import type { Brand } from '../../../domain/partner/brand.ts';
import type { Phone } from '../../../domain/phone/phone.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { PersonalRecord } from './envelope.ts';
import { byPartitions } from './partition-runs.ts';
import { readPersonalData, SEALED_COLUMNS, type SealedRow } from './personal-data.ts';

const READ_VOICES = `
  SELECT a.id::float8, p.name AS "partnerName", k.brand, ${SEALED_COLUMNS}
  FROM applications_of($1) a JOIN partners p ON p.id = a.partner_id JOIN api_keys k ON k.id = a.api_key_id`;

/** The consent as the partner told it: when, in which words and how. */
export type PartnerConsent = readonly [at: string | null, text: string | null, channel: string | null];

/** The partner, brand and phone of an application, which decide how the service speaks. */
export interface Speakers {
  readonly partnerName: string;
  readonly brand: Brand;
  /** null: the applicant is erased or cannot be read. */
  readonly phone: Phone | null;
  /** What the partner told about the consent (D53); null: nothing. */
  readonly partnerConsent: PartnerConsent | null;
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
  const persons = await readPersonalData(session, vault, rows, ['phone', ...NOTED_FIELDS]);
  return new Map(
    persons.map(({ row, person }) => [
      row.id,
      {
        partnerName: row.partnerName,
        brand: row.brand,
        phone: person.record?.phone ?? null,
        partnerConsent: consentOf(person.record),
        isKeyUnknown: person.fault === 'unknown_key',
      },
    ]),
  );
}

function consentOf(record: PersonalRecord | null): PartnerConsent | null {
  const { consent_at: at = null, consent_text: text = null, consent_channel: channel = null } = record ?? {};
  return at === null && text === null && channel === null ? null : [at, text, channel];
}
