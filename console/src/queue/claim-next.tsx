/** The button that claims the next free application within the filters and opens it. */
import { useMutation } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { failureText } from '../api/failure.ts';
import { useDesk } from '../decide/desk.tsx';
import { useShortcuts } from '../keyboard/shortcuts.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './queue.module.css';

interface ClaimNextProps {
  readonly search: string;
  /** The page was opened because nothing was free. */
  readonly wasNothingFree: boolean;
}

export function ClaimNext({ search, wasNothingFree }: ClaimNextProps) {
  const texts = useTexts();
  const { queue } = texts;
  const { ahead, claims } = useDesk();
  const [, navigate] = useLocation();
  const take = useMutation({
    mutationFn: () => ahead.take(search),
    onSuccess: (id) => {
      if (id === null) return;
      // The operator went elsewhere meanwhile, and stays there.
      if (window.location.pathname === '/queue')
        navigate(search === '' ? `/applications/${id}` : `/applications/${id}?${search}`);
      else if (window.location.pathname !== `/applications/${id}`) claims.give(id);
    },
  });
  const next = () => {
    if (!take.isPending) take.mutate();
  };
  useShortcuts({ n: next });
  const isNothingFree = take.isSuccess ? take.data === null : take.isIdle && wasNothingFree;
  return (
    <>
      <p role="status">{isNothingFree && queue.nothingFree}</p>
      {take.isError && <p role="alert">{failureText(take.error, texts)}</p>}
      <button type="button" data-main className={styles.claimNext} disabled={take.isPending} onClick={next}>
        {queue.next} <kbd>n</kbd>
      </button>
    </>
  );
}
