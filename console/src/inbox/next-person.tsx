/** The button that claims the next person who waits, and opens the conversation. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { failureText } from '../api/failure.ts';
import { claimNextPerson } from '../api/inbox.ts';
import { RequestKey } from '../api/request-key.ts';
import { useShortcuts } from '../keyboard/shortcuts.ts';
import { useTexts } from '../texts/texts.ts';

/** `isMain`: nothing else is to be done on the page. */
export function NextPerson({ isMain = true }: { readonly isMain?: boolean }) {
  const texts = useTexts();
  const [, navigate] = useLocation();
  const [key] = useState(() => new RequestKey());
  const taking = useMutation({
    mutationFn: () => claimNextPerson(key.of('next')),
    onSuccess: (id) => {
      key.done();
      if (id !== null) navigate(`/inbox/${id}`);
    },
  });
  const next = () => {
    if (!taking.isPending) taking.mutate();
  };
  useShortcuts({ n: next });
  return (
    <>
      <p role="status">{taking.isSuccess && taking.data === null && texts.inbox.noneFree}</p>
      {taking.isError && <p role="alert">{failureText(taking.error, texts)}</p>}
      <button type="button" data-main={isMain || undefined} disabled={taking.isPending} onClick={next}>
        {texts.inbox.next} <kbd>n</kbd>
      </button>
    </>
  );
}
