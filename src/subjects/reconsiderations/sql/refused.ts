/**
 * Reads the applications that persons without an open one write about (D50). Reads `open_phones`, `applications_of`,
 * `application_events`, `partners` and `api_keys`.
 */
import { type ApplicationId, type BlindIndex, partitionOf } from '../../../domain/application/ids.ts';
import type { ApplicationStatus } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import type { Brand } from '../../../domain/partner/brand.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { fromBigint, readIndex, toBigint } from '../../../seal/blind-indexes.ts';
import { byPartitions } from '../../applications/sql/partition-runs.ts';

type PhoneIndex = BlindIndex<'phone'>;

const OPEN = `
  SELECT ${readIndex('phone_index')} AS phone, application_id::float8 AS id FROM open_phones
  WHERE phone_index = ANY ($1::bigint[])`;

/** The open application of each of these phones that has one. */
export async function openOf(
  session: Session,
  phones: readonly PhoneIndex[],
): Promise<Map<PhoneIndex, ApplicationId>> {
  const { rows } = await session.query<{ phone: PhoneIndex; id: ApplicationId }>(OPEN, [
    phones.map(toBigint),
  ]);
  return new Map(rows.map(({ phone, id }) => [phone, id]));
}

/** An application that a person may ask about. */
export interface AskedAbout {
  readonly applicationId: ApplicationId;
  readonly partnerId: PartnerId;
  readonly partnerName: string;
  readonly brand: Brand;
  readonly phoneIndex: PhoneIndex;
  readonly status: ApplicationStatus;
  /** The applicant agreed to get messages (`messaging_optin`). */
  readonly hasConsent: boolean;
  readonly isWrongPerson: boolean;
  /** The code of the review that gave the status; null: none did. */
  readonly reviewCode: ReasonCode | null;
  /** It has this status for so many days, by the database's clock. */
  readonly daysAgo: number;
}

const READ = `
  SELECT a.id::float8 AS "applicationId", a.partner_id AS "partnerId", p.name AS "partnerName", k.brand,
    a.phone_index::text AS phone, a.status, a.messaging_optin AS "hasConsent", a.wrong_person AS "isWrongPerson",
    m.reason_code AS "reviewCode", extract(epoch FROM now() - coalesce(m.at, a.created_at))::float8 / 86400 AS "daysAgo"
  FROM applications_of($1) a JOIN partners p ON p.id = a.partner_id JOIN api_keys k ON k.id = a.api_key_id
  LEFT JOIN LATERAL (
    SELECT e.at, e.reason_code FROM application_events e
    WHERE e.application_id = a.id AND e.to_status <> e.from_status ORDER BY e.id DESC LIMIT 1) AS m ON true`;

/** These applications; without those whose person was erased and those whose facts are damaged. */
export async function readAskedAbout(session: Session, ids: readonly ApplicationId[]): Promise<AskedAbout[]> {
  type Row = Omit<AskedAbout, 'phoneIndex' | 'status'> & {
    readonly phone: string | null;
    readonly status: ApplicationStatus | null;
  };
  const found: AskedAbout[] = [];
  for (const some of byPartitions(ids, partitionOf)) {
    const { rows } = await session.query<Row>(READ, [some]);
    for (const { phone, status, ...row } of rows) {
      if (phone !== null && status !== null)
        found.push({ ...row, status, phoneIndex: fromBigint<'phone'>(phone) });
    }
  }
  return found;
}
