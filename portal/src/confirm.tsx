/** Asks before something that cannot be undone, and stays open until the answer. */
import type { UseMutationResult } from '@tanstack/react-query';
import { NotSignedIn } from '../../console/src/api/act.ts';
import { Dialog, DialogButtons } from '../../console/src/base-ui/dialog.tsx';
import { useTexts } from '../../console/src/texts/texts.ts';
import { useFailure } from './texts.ts';

interface ConfirmProps<What> {
  /** What it is about; null: nothing is asked. */
  readonly about: What | null;
  readonly act: UseMutationResult<unknown, Error, What>;
  readonly title: string;
  readonly note: string;
  readonly label: string;
  readonly onClose: () => void;
}

export function Confirm<What>({ about, act, title, note, label, onClose }: ConfirmProps<What>) {
  const { frame } = useTexts();
  const failure = useFailure();
  const close = () => {
    act.reset();
    onClose();
  };
  return (
    <Dialog isOpen={about !== null} isPending={act.isPending} onClose={close} title={title} note={note}>
      {act.error && !(act.error instanceof NotSignedIn) && <p role="alert">{failure(act.error)}</p>}
      <DialogButtons>
        <button
          type="button"
          data-main
          disabled={act.isPending}
          onClick={() => about !== null && act.mutate(about, { onSuccess: close })}
        >
          {label}
        </button>
        <button type="button" disabled={act.isPending} onClick={close}>
          {frame.cancel}
        </button>
      </DialogButtons>
    </Dialog>
  );
}
