/**
 * Reads what the price of a loan depends on: the amount that is asked for, and the country (D45). Reads
 * `applications_of` and `partners`, and opens the phones from the envelopes.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { countryOfPhone } from '../../../domain/phone/phone.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { readPersonalData, SEALED_COLUMNS, type SealedRow } from '../../applications/sql/personal-data.ts';

/** The loan that an application asks for. */
export interface AskedLoan {
  readonly id: ApplicationId;
  /** null, like the next two: the stored data cannot be read. */
  readonly amount: number | null;
  readonly currency: string | null;
  /** The declared monthly income. */
  readonly income: number | null;
  /** That of the phone, else of the partner; null: the person is erased or cannot be read. */
  readonly country: Country | null;
}

const READ = `
  SELECT ${SEALED_COLUMNS}, a.id::float8 AS id, a.debt_amount AS amount, a.currency, a.income, p.country
  FROM applications_of($1::bigint[]) a JOIN partners p ON p.id = a.partner_id`;

/** The loans that these applications ask for. The ids are of few partitions. */
export async function readAskedLoans(
  session: Session,
  vault: Vault,
  ids: readonly ApplicationId[],
): Promise<AskedLoan[]> {
  const { rows } = await session.query<SealedRow & AskedLoan & { readonly country: Country }>(READ, [ids]);
  const found = await readPersonalData(session, vault, rows, []);
  return found.map(({ row: { id, amount, currency, income, country: ofPartner }, person: { record } }) => {
    const country = record && ((record.phone && countryOfPhone(record.phone)) || ofPartner);
    return { id, amount, currency, income, country };
  });
}
