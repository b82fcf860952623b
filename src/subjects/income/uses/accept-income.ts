/**
 * Lets an operator accept an observed income that the rules left to operators (D44; docs/income.md, "The evidence").
 * Writes `income_checks`.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import {
  checkReason,
  type OperatorContext,
  OperatorError,
} from '../../../program/operations/operator-context.ts';
import { acceptIncomeCheck, incomeCheckOf, type StoredIncomeCheck } from '../sql/income-checks.ts';

/**
 * Accepts the income as the last check has observed it. A later check of the same facts is then confirmed. The check
 * keeps its outcome. Throws `OperatorError` if there is no check, if its outcome is not left to operators, if a
 * document still waits, or if the check is accepted already.
 */
export async function acceptIncome(
  { database, actor }: OperatorContext,
  id: ApplicationId,
  reason: string,
): Promise<StoredIncomeCheck> {
  checkReason(reason);
  const check = await incomeCheckOf(database, id);
  if (check === null) throw new OperatorError(`the income of application ${id} was not checked yet`);
  if (check.outcome !== 'operator')
    throw new OperatorError(`the income of application ${id} is ${check.outcome} already`);
  if (check.reason === 'documents_waiting')
    throw new OperatorError(
      `a document of application ${id} waited for you when the income was checked: accept or reject it, then run conversation give-back ${id}`,
    );
  if (!(await acceptIncomeCheck(database, id, check.digest, actor)))
    throw new OperatorError(`the income of application ${id} is accepted already`);
  return check;
}
