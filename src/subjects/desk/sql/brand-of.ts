/**
 * Reads what the messages of an application are composed from beside its own fields: the partner's name and the key's
 * brand. Reads `partners` and `api_keys`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Brand } from '../../../domain/partner/brand.ts';
import type { Session } from '../../../ground/postgres/database.ts';

const BRAND = `
  SELECT p.name AS "partnerName", k.brand FROM applications_of(ARRAY[$1::bigint]) AS a
  JOIN partners p ON p.id = a.partner_id JOIN api_keys k ON k.id = a.api_key_id`;

interface BrandOf {
  readonly partnerName: string;
  readonly brand: Brand;
}

/**
 * The partner's name and the brand of the application's key, both as they are now; null: there is no such application.
 */
export async function readBrandOf(session: Session, id: ApplicationId): Promise<BrandOf | null> {
  return (await session.query<BrandOf>(BRAND, [id])).rows[0] ?? null;
}
