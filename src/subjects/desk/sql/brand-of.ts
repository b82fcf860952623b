/** What the messages of an application are composed from, beside its own fields. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Brand } from '../../../domain/partner/brand.ts';
import type { Session } from '../../../ground/postgres/database.ts';

const BRAND = `
  SELECT p.name AS partner_name, k.brand FROM applications_of(ARRAY[$1::bigint]) AS a
  JOIN partners p ON p.id = a.partner_id JOIN api_keys k ON k.id = a.api_key_id`;

/** The partner's name and the brand of the application's key, both as they are now; null: there is no application. */
export async function readBrandOf(
  session: Session,
  id: ApplicationId,
): Promise<{ readonly partnerName: string; readonly brand: Brand } | null> {
  const { rows } = await session.query<{ partner_name: string; brand: Brand }>(BRAND, [id]);
  const [row] = rows;
  return row === undefined ? null : { partnerName: row.partner_name, brand: row.brand };
}
