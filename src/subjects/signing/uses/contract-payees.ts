/** Reads what a signed contract says is paid to whom (D45, D52). Reads `loan_debts`. */
import { type Payee, payeesOf } from '../../../domain/loan/payees.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { StoredContract } from '../sql/contracts.ts';
import { debtsNamed } from '../sql/debts.ts';

/** The list of a contract: the debts that it names, and the applicant's own part. Throws as `Vault.open` does. */
export async function payeesOfContract(
  session: Session,
  vault: Vault,
  { applicationId, terms }: Pick<StoredContract, 'applicationId' | 'terms'>,
): Promise<readonly Payee[]> {
  // Contracts from before the debts were listed name none.
  const debts = terms.offer.paying?.debts ?? [];
  const named = debts.length === 0 ? [] : await debtsNamed(session, vault, applicationId, debts);
  return payeesOf(named, terms.offer);
}
