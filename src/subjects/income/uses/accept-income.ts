/** An operator lets an observed income count that the rules gave to operators (D44). */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import {
  checkReason,
  type OperatorContext,
  OperatorError,
} from '../../../program/operations/operator-context.ts';
import { acceptIncomeCheck, incomeCheckOf, type StoredIncomeCheck } from '../sql/income-checks.ts';

/**
 * Accepts the income as the last check has observed it: the same facts are confirmed from then on. The check keeps its
 * outcome. Throws `OperatorError` where there is no check, its outcome is no operator's, a document still waits, or it
 * is accepted.
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
