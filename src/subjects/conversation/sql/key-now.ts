/** The key of a conversation's application, as it is now. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Brand } from '../../../domain/partner/brand.ts';
import type { Session } from '../../../ground/postgres/database.ts';

/** The key that sent an application. */
export interface KeyNow {
  /** null: it is not revoked. */
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
