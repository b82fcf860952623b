/** The way out: it waits for what the operator decided, and asks where that cannot be sent. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { leave } from '../api/signed-in.ts';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { browserClock } from '../clock.ts';
import { giveClaimsBack } from '../decide/claims.ts';
import { isUnsent, useIsOnItsWay, whenSent } from '../decide/unsent.ts';
import { useTexts } from '../texts/texts.ts';

/** Longer than all tries of a decision take where each is refused at once. */
const WAIT_MS = 10_000;

type End = () => Promise<void>;

export interface Leaving {
  /** Signs out by `end`. */
  readonly begin: (end: End) => void;
  readonly isPending: boolean;
  /** It waits for what is on its way. */
  readonly isSending: boolean;
  /** null: it did not fail. */
  readonly error: Error | null;
  /** What would be dropped is asked about. */
  readonly isAsking: boolean;
  readonly drop: () => void;
  readonly stay: () => void;
}

export function useLeaving(): Leaving {
  const queries = useQueryClient();
  const [asked, setAsked] = useState<{ readonly end: End } | null>(null);
  const leaving = useMutation({
    mutationFn: async ({ end, drops }: { end: End; drops: boolean }) => {
      if (!drops) await whenSent(browserClock, WAIT_MS);
      if (!drops && isUnsent()) setAsked({ end });
      else {
        await giveClaimsBack();
        await leave(queries, end);
      }
    },
  });
  const isOnItsWay = useIsOnItsWay();
  return {
    begin: (end) => leaving.mutate({ end, drops: false }),
    isPending: leaving.isPending,
    isSending: leaving.isPending && isOnItsWay,
    error: leaving.error,
    isAsking: asked !== null,
    drop: () => {
      if (asked !== null) leaving.mutate({ end: asked.end, drops: true });
      setAsked(null);
    },
    stay: () => setAsked(null),
  };
}

export function LeaveDialog({ leaving: { isAsking, drop, stay } }: { leaving: Leaving }) {
  const { frame } = useTexts();
  return (
    <Dialog isOpen={isAsking} onClose={stay} title={frame.unsentTitle} note={frame.unsentNote}>
      <DialogButtons>
        <button type="button" data-main onClick={stay}>
          {frame.stay}
        </button>
        <button type="button" onClick={drop}>
          {frame.signOutAnyway}
        </button>
      </DialogButtons>
    </Dialog>
  );
}
