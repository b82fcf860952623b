/** The terms of offers, which hold until the last day of the offer (D45): reads and writes `loan_offers`. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { CountryTerms } from '../../../domain/loan/terms.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import type { Session } from '../../../ground/postgres/database.ts';

/** By which terms an offer was made, and until when it holds. */
export interface HeldOffer {
  readonly country: Country;
  readonly version: string;
  readonly countryTerms: CountryTerms;
  readonly expiresAt: Date;
}

/** If the clock went back to before the making of an offer, the offer's time is unknown, so it has expired. */
const HOLDS = `expires_at > clock_timestamp() AND made_at <= clock_timestamp() + interval '1 minute'`;
const READ = `
  SELECT terms->>'country' AS country, terms->>'version' AS version, terms->'countryTerms' AS "countryTerms",
    expires_at AS "expiresAt"
  FROM loan_offers WHERE application_id = $1 AND ${HOLDS}`;

/** The offer that an application still has; null: there is none, or its time is over. */
export async function readHeldOffer(session: Session, id: ApplicationId): Promise<HeldOffer | null> {
  return (await session.query<HeldOffer>(READ, [id])).rows[0] ?? null;
}

const HOLD = `
  INSERT INTO loan_offers (application_id, terms, expires_at, elapsed_ms) VALUES ($1, $2, $3, elapsed_ms())
  ON CONFLICT (application_id) DO UPDATE SET terms = excluded.terms, made_at = excluded.made_at,
    expires_at = excluded.expires_at, elapsed_ms = excluded.elapsed_ms`;

/** Holds the terms of an offer, in the place of an earlier offer of the application. */
export async function holdOffer(
  session: Session,
  id: ApplicationId,
  { country, version, countryTerms, expiresAt }: HeldOffer,
): Promise<void> {
  await session.query(HOLD, [id, JSON.stringify({ country, version, countryTerms }), expiresAt]);
}
