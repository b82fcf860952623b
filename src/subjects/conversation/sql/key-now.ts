/**
 * Reads the API key that sent a conversation's application, and its brand, as they are now. Reads `applications_of`,
 * `partners` and `api_keys`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Brand } from '../../../domain/partner/brand.ts';
import type { Session } from '../../../ground/postgres/database.ts';

/** The key that sent an application. */
export interface KeyNow {
  /** null: the key is not revoked. */
  readonly revokedAt: Date | null;
  readonly brand: Brand;
  readonly partnerName: string;
}

const KEY = `
  SELECT k.revoked_at AS "revokedAt", k.brand, p.name AS "partnerName"
  FROM applications_of(ARRAY[$1::bigint]) a JOIN partners p ON p.id = a.partner_id JOIN api_keys k ON k.id = a.api_key_id`;

/** The key that sent an application; null: the application is gone. */
export async function keyNow(session: Session, id: ApplicationId): Promise<KeyNow | null> {
  return (await session.query<KeyNow>(KEY, [id])).rows[0] ?? null;
}
