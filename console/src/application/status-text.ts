/** A status in words: after the signature it stays the same, and has another word. */
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import { useTexts } from '../texts/texts.ts';

export function useStatusText() {
  const { application, codes } = useTexts();
  return (status: ApplicationReply['status'], isSigned: boolean): string => {
    if (status === null) return application.unreadable;
    return status === 'pending_signature' && isSigned ? application.signed : codes.statuses[status];
  };
}
