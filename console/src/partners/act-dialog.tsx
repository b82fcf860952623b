/** A dialog that does one act with a partner or a key. Nothing is done before its button. */
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import card from '../base-ui/card.module.css';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useTexts } from '../texts/texts.ts';
import { useFailure } from './partner-texts.ts';

interface ActDialogProps<Done> {
  readonly title: string;
  readonly note?: ReactNode;
  readonly button: string;
  /** false: something is missing, and the button does nothing. */
  readonly isReady?: boolean;
  /** It cannot be taken back: the focus is on the way out. */
  readonly isGrave?: boolean;
  /** What a refused value has to be. */
  readonly wrong?: string;
  readonly onAct: (queries: QueryClient) => Promise<Done>;
  /** Gets what came of it, before the dialog closes. */
  readonly onDone?: (done: Done) => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

export function ActDialog<Done>(props: ActDialogProps<Done>) {
  const {
    title,
    note,
    button,
    isReady = true,
    isGrave = false,
    wrong,
    onAct,
    onDone,
    onClose,
    children,
  } = props;
  const { frame } = useTexts();
  const failure = useFailure();
  const queries = useQueryClient();
  const acting = useMutation({
    mutationFn: () => onAct(queries),
    onSuccess: (done) => {
      onClose();
      onDone?.(done);
    },
    // What it answers may be a key: nothing keeps it.
    gcTime: 0,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !acting.isPending) acting.mutate();
  };
  const cancel = (
    <button type="button" disabled={acting.isPending} onClick={onClose}>
      {frame.cancel}
    </button>
  );
  return (
    <Dialog isOpen isPending={acting.isPending} onClose={onClose} title={title} note={note}>
      <form className={card.form} noValidate onSubmit={submit}>
        {children}
        {acting.error && <p role="alert">{failure(acting.error, wrong)}</p>}
        <DialogButtons>
          {isGrave && cancel}
          <button type="submit" data-main disabled={!isReady || acting.isPending}>
            {button}
          </button>
          {!isGrave && cancel}
        </DialogButtons>
      </form>
    </Dialog>
  );
}
