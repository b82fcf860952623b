/** Reads what a signed contract says is paid to whom (D45, D52). */
import { APPLICANT_PAYEE, type ContractPayee } from '../../../domain/loan/disbursement.ts';
import { toMinor } from '../../../domain/money/money.ts';
import type { StoredContract } from '../sql/contracts.ts';

/** The list of a contract: without debts to pay, the applicant gets everything. */
export function payeesOfContract({ terms }: Pick<StoredContract, 'terms'>): ContractPayee[] {
  const { net, currency } = terms.offer;
  return [{ payee: APPLICANT_PAYEE, amount: toMinor(net, currency) }];
}
