/** Claims the application on the page, gets the next one ready, and opens it. */
import { useEffect, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import { failureText } from '../api/failure.ts';
import { useTexts } from '../texts/texts.ts';
import { useClaimState, useDesk } from './desk.tsx';

interface Next {
  /** Opens the next one; the queue where nothing is free. */
  readonly open: () => void;
  /** The same without a decision. The claim on this one ends with its lease: else it would be the next one again. */
  readonly skip: () => void;
  readonly isPending: boolean;
  readonly failure: string | null;
}

/** The query of the address has the filters that the next one fits. */
export function useNext(id: number, application: ApplicationReply | undefined): Next {
  const texts = useTexts();
  const { claims, ahead } = useDesk();
  const [, navigate] = useLocation();
  const search = useSearch();
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const heldId = useClaimState(id).is === 'held' ? id : null;
  const waits = application?.id === id && waitsForDecision(application);
  useEffect(() => {
    if (waits) claims.keep(id);
  }, [claims, id, waits]);
  const isFree = waits && application?.review?.claim === null;
  // With each reading: what was refused may have come and gone between two of them.
  useEffect(() => {
    if (application && isFree) claims.tryAgain(id);
  }, [claims, id, isFree, application]);
  useEffect(() => () => claims.give(id), [claims, id]);
  useEffect(() => {
    if (heldId !== null) ahead.prepare(search);
  }, [ahead, heldId, search]);
  useEffect(() => () => ahead.drop(), [ahead]);

  const open = async () => {
    setPending(true);
    setFailure(null);
    const { pathname } = window.location;
    try {
      const next = await ahead.take(search);
      // The operator went elsewhere meanwhile, and stays there.
      if (window.location.pathname !== pathname) {
        if (next !== null && window.location.pathname !== `/applications/${next}`) claims.give(next);
        return;
      }
      const query = search === '' ? '' : `?${search}`;
      if (next === null) navigate(`/queue${query}`, { state: { nothingFree: true } });
      else navigate(`/applications/${next}${query}`);
    } catch (error) {
      setFailure(failureText(error, texts));
    } finally {
      setPending(false);
    }
  };
  const skip = () => {
    claims.forget(id);
    void open();
  };
  return { open: () => void open(), skip, isPending, failure };
}

function waitsForDecision({ status, review, proposal }: ApplicationReply): boolean {
  return status === 'in_review' && review?.state !== 'pended' && proposal?.state !== 'proposed';
}
