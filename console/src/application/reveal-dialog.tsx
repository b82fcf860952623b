/** Asks why personal data is revealed, and shows it where the service has recorded that. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { failureText } from '../api/failure.ts';
import { RequestKey } from '../api/request-key.ts';
import card from '../base-ui/card.module.css';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useTexts } from '../texts/texts.ts';

interface RevealDialogProps<Revealed> {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** Asks the service for it, with the reason. With the same key it counts once. */
  readonly ask: (reason: string, key: string) => Promise<Revealed>;
  readonly onRevealed: (revealed: Revealed) => void;
  /** What refusals mean here, by status. */
  readonly known?: Readonly<Record<number, string>>;
}

export function RevealDialog<Revealed>({ isOpen, onClose, title, ...form }: RevealDialogProps<Revealed>) {
  const { application } = useTexts();
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title} note={application.revealNote}>
      <ReasonForm {...form} onClose={onClose} />
    </Dialog>
  );
}

/** Gone with the dialog, and what was typed with it. */
function ReasonForm<Revealed>({
  ask,
  onRevealed,
  onClose,
  known = {},
}: Omit<RevealDialogProps<Revealed>, 'isOpen' | 'title'>) {
  const texts = useTexts();
  const { application, frame } = texts;
  const [reason, setReason] = useState('');
  const [key] = useState(() => new RequestKey());
  const asking = useMutation({
    mutationFn: () => ask(reason.trim(), key.of(reason.trim())),
    // What was revealed stays in the component that shows it.
    gcTime: 0,
    onSuccess: (revealed) => {
      onRevealed(revealed);
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    asking.mutate();
  };
  const refusals = { 400: application.badReason, ...known };
  return (
    <form className={card.form} onSubmit={submit}>
      <label>
        {application.reason}
        <input
          required
          minLength={5}
          maxLength={500}
          autoComplete="off"
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
      </label>
      {asking.isError && (
        <p role="alert">{failureText(asking.error, texts, refusals, application.tooMany)}</p>
      )}
      <DialogButtons>
        <button type="submit" data-main disabled={asking.isPending}>
          {application.reveal}
        </button>
        <button type="button" onClick={onClose}>
          {frame.cancel}
        </button>
      </DialogButtons>
    </form>
  );
}
