/**
 * Shows a reviewer what the contract of an application says to pay to whom (D46; docs/signing.md, "The payment"). The
 * reading is recorded first, because it names creditors.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { noting } from '../../../program/operations/acting.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { type PlannedPayee, planOf } from '../../signing/uses/show-lines.ts';
import { noApplication } from './refusal.ts';

/** The list of the contract. Throws a `Refusal` (404) if the application has no contract. */
export async function paymentPlan(
  context: OperatorContext,
  id: ApplicationId,
): Promise<readonly PlannedPayee[]> {
  const plan = await planOf(context, id).catch(() => null);
  if (plan === null) throw noApplication();
  await noting(context, { act: 'disbursement plan', applicationId: id });
  return plan;
}
