/** Why a proposal was declined, in the words of who did, or why it came back, in the language of the page. */
import type { ProposalReply } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import type { DeskTexts } from '../texts/desk-texts.ts';

/** null: it was neither declined nor returned. */
export function outcomeText(
  { outcome, returned_for }: Pick<ProposalReply, 'outcome' | 'returned_for'>,
  { returnedFor }: Pick<DeskTexts, 'returnedFor'>,
): string | null {
  return returned_for === null ? outcome : returnedFor[returned_for];
}
