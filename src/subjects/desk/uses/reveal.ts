/** Shows an application's personal data to an operator who said why. */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { REVEAL } from '../../../program/operations/sql/operator-events.ts';
import { incomeCheckOf } from '../../income/sql/income-checks.ts';
import { type Observation, observationsOf } from '../../income/uses/show-income.ts';
import { showApplication } from '../../messages/uses/explained-application.ts';
import type { KeyedRequest } from '../sql/desk-requests.ts';
import { noteReveal } from './note-reveal.ts';
import { type AnnouncedMessage, announcedMessages, type ChatLine, chatLines } from './revealed-chat.ts';

export interface RevealedApplication {
  readonly fields: Awaited<ReturnType<typeof showApplication>>['fields'];
  readonly messages: readonly AnnouncedMessage[];
  readonly chat: readonly ChatLine[];
  /** null: nothing was checked, or it is erased. */
  readonly income: readonly Observation[] | null;
}

/**
 * Records the reading and its reason, and then reads. The record is committed before anything is opened. Throws a
 * `Refusal` where the operator has revealed too many, which records nothing. `request`: its repetition counts once.
 */
export async function reveal(
  context: OperatorContext,
  applicationId: ApplicationId,
  { reason, request }: { readonly reason: string; readonly request: KeyedRequest | null },
): Promise<RevealedApplication> {
  await noteReveal(context, { act: REVEAL, applicationId, reason }, request);
  const application = await showApplication(context, applicationId);
  const announced = await announcedMessages(context, application);
  const check = await incomeCheckOf(context.database, applicationId);
  return {
    fields: application.fields,
    messages: announced.map(({ messageId, text, buttons }) => ({
      ...{ id: messageId, text, choices: buttons.map(({ title }) => title) },
    })),
    chat: await chatLines(context, applicationId, announced),
    income: check && observationsOf(context.vault, applicationId, check),
  };
}
