/**
 * Reads a partner's quota: its usage against the cap of the key (contract, "Quota status"; D18). `sql/usage.ts` reads
 * the store.
 */
import type { Credential, PartnerId } from '../../../domain/partner/credential.ts';
import { UnavailableError } from '../../../ground/base/registration-failure.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { usedNow } from '../sql/usage.ts';

export interface Quota {
  readonly dailyCap: number | null;
  readonly used24h: number;
  /** Never below 0; null without a cap. */
  readonly remaining: number | null;
  readonly fetchedAt: Date;
  /** Seconds until more of the quota is free; null where nothing is used. */
  readonly resetSeconds: number | null;
}

/**
 * The partner's usage over all its keys, against the cap of this key. Throws `UnavailableError` if the database does
 * not answer.
 */
export async function quotaStatus(
  database: Database,
  partnerId: PartnerId,
  dailyCap: Credential['dailyCap'],
): Promise<Quota> {
  const { used, at, freedInS } = await usedNow(database, partnerId).catch((cause) => {
    throw new UnavailableError('the quota could not be read', { cause });
  });
  const remaining = dailyCap === null ? null : Math.max(dailyCap - used, 0);
  return { dailyCap, used24h: used, remaining, fetchedAt: at, resetSeconds: freedInS };
}
