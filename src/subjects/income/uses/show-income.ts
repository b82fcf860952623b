/**
 * Shows the last check of an income with its evidence (D44; docs/income.md, "The evidence"). Reads `income_checks`, and
 * opens the sealed months.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { Observation } from '../rules/judge-income.ts';
import { evidenceIdentity, incomeCheckOf, type StoredIncomeCheck } from '../sql/income-checks.ts';

export type { Observation, StoredIncomeCheck };

/** A check, and what was observed; `evidence` is null if it is erased or cannot be opened. */
export interface ShownIncome {
  readonly check: StoredIncomeCheck;
  readonly evidence: readonly Observation[] | null;
}

/** The last check of an application. Throws `OperatorError` if there is none. */
export async function showIncome(
  { database, vault }: Pick<OperatorContext, 'database' | 'vault'>,
  id: ApplicationId,
): Promise<ShownIncome> {
  const check = await incomeCheckOf(database, id);
  if (check === null) throw new OperatorError(`the income of application ${id} was not checked yet`);
  return { check, evidence: observationsOf(vault, id, check) };
}

/** What was observed; null if it is erased or cannot be opened. */
export function observationsOf(
  vault: Vault,
  id: ApplicationId,
  { evidence, digest }: StoredIncomeCheck,
): readonly Observation[] | null {
  if (evidence === null) return null;
  try {
    const text = vault.open(evidence, evidenceIdentity(id, digest)).toString();
    return (JSON.parse(text) as { observations: Observation[] }).observations;
  } catch {
    return null;
  }
}
