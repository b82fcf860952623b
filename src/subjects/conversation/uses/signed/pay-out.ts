/**
 * Pays out an application, and tells its conversation, which then sends the final schedule (D46; docs/signing.md, "The
 * payment"). Signing judges and records the payment; this file writes `conversation_inputs`.
 */
import type { ApplicationId } from '../../../../domain/application/ids.ts';
import type { Terms } from '../../../../domain/loan/terms.ts';
import { inTransaction, type Transaction } from '../../../../ground/postgres/database.ts';
import type { OperatorContext } from '../../../../program/operations/operator-context.ts';
import type { Vault } from '../../../../seal/vault.ts';
import {
  disburse,
  type GivenLine,
  type Payment,
  type PaymentContext,
  type PaymentResult,
} from '../../../signing/uses/disburse.ts';
import {
  type LaterBy,
  type LaterLines,
  type ReturnedLine,
  recordPaidAgain,
  recordReturned,
} from '../../../signing/uses/later-lines.ts';
import { conversationOf } from '../../sql/conversations.ts';
import { addInputs } from '../../sql/inputs.ts';

export type { Payment, PaymentContext };

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

/** The same for a command. `terms`: reads the terms of the day. */
export function payOutNow(
  { database, vault }: OperatorContext,
  id: ApplicationId,
  payment: Payment,
  terms: () => Promise<Terms | null>,
): Promise<PaymentResult> {
  return inTransaction(database, (session) => payOut({ session, vault, terms }, id, payment));
}

/** Records sums that came back, or that are paid after the payment. Throws as the two functions of signing do. */
export function recordLater(
  { database, vault }: OperatorContext,
  id: ApplicationId,
  lines:
    | { readonly kind: 'returned'; readonly lines: readonly ReturnedLine[] }
    | { readonly kind: 'paid'; readonly lines: readonly GivenLine[] },
  by: LaterBy,
): Promise<LaterLines> {
  return inTransaction(database, async (session) => {
    const about = { session, vault };
    const done =
      lines.kind === 'paid'
        ? await recordPaidAgain(about, id, lines.lines, by)
        : await recordReturned(about, id, lines.lines, by);
    if (done.isScheduled) await tellPaidOut(session, vault, id);
    return done;
  });
}

/** Tells the conversation of an application that its installments count from now on. */
async function tellPaidOut(session: Transaction, vault: Vault, applicationId: ApplicationId): Promise<void> {
  const conversation = await conversationOf(session, applicationId);
  // After an erasure of the person there is none.
  if (conversation === null) return;
  const about = {
    conversationId: conversation.id,
    applicationId,
    messageIndex: null,
    workId: null,
    at: null,
  };
  await addInputs(session, vault, 'operator', [{ ...about, content: { kind: 'paid_out' } }]);
}
