/** Reads one application for its partner (D41). `sql/partner-application.ts` has the statement. */
import { toApplicationId } from '../../../domain/application/ids.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import { asUnavailable, UnavailableError } from '../../../ground/base/registration-failure.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type PartnerApplication, readPartnerApplications } from '../sql/partner-application.ts';

export type { PartnerApplication };

interface Store {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/**
 * The partner's application with this id; null if the partner has none, and for a text that is not an id. Throws
 * `UnavailableError` if the database does not answer, or the stored application is damaged.
 */
export async function partnerApplication(
  store: Store,
  partnerId: PartnerId,
  id: string,
): Promise<PartnerApplication | null> {
  if (!/^[1-9]\d{0,15}$/.test(id) || !Number.isSafeInteger(Number(id))) return null;
  const applicationId = toApplicationId(id);
  const found = await readPartnerApplications(store, partnerId, [applicationId]).catch(
    asUnavailable("the partner's applications could not be read"),
  );
  const application = found.get(applicationId) ?? null;
  // This error's message goes into the log, so that operators learn which application is damaged.
  if (application === 'unreadable')
    throw new UnavailableError(`the stored data of application ${id} cannot be read`);
  return application;
}
