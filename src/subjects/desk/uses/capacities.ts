/**
 * Reads what the loans of applications take of the incomes, by the loan terms of the day (docs/operators.md, "One
 * application"). Reads the amounts, the phones' countries, corrections and checks of the income, and writes nothing.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { Terms } from '../../../domain/loan/terms.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { correctedIncomesOf } from '../../applications/sql/corrections.ts';
import { incomesOf } from '../../income/sql/income-checks.ts';
import { installmentsOf, type KeptInstallments } from '../../signing/uses/installments.ts';
import { type Capacity, capacityOf } from '../rules/capacity.ts';

/** The capacity of each of these applications; one that does not exist is absent. `terms` null: none are set. */
export async function capacitiesOf(
  session: Session,
  vault: Vault,
  terms: Terms | null,
  ids: readonly ApplicationId[],
  installments: { readonly kept?: KeptInstallments } = {},
): Promise<ReadonlyMap<ApplicationId, Capacity>> {
  const priced = await installmentsOf(session, vault, terms, ids, installments);
  const corrected = await correctedIncomesOf(session, vault, ids);
  const observed = await incomesOf(session, ids);
  const by = terms?.demonstration ? 'demonstration_terms' : 'terms';
  return new Map(
    [...priced].map(([id, { installment, declared }]) => {
      const incomes = {
        observed: observed.get(id)?.observed ?? null,
        corrected: corrected.get(id) ?? null,
        declared,
      };
      return [id, capacityOf(installment, incomes, by)];
    }),
  );
}
