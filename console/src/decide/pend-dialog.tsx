/** Pends an application: what is missing, what the applicant is told, and when it comes back by itself. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { type NewPendBody, pend } from '../api/proposals.ts';
import { RequestKey } from '../api/request-key.ts';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './decide.module.css';
import { failedActText } from './failed-act.ts';

type Missing = NewPendBody['missing'][number];

interface PendDialogProps {
  readonly id: number;
  /** The channel takes a message to the applicant now. */
  readonly takesText: boolean;
  /** The entity tag of the application as it was shown. */
  readonly etag: string;
  readonly onClose: () => void;
  readonly onPended: () => void;
}

export function PendDialog({ id, takesText, etag, onClose, onPended }: PendDialogProps) {
  const texts = useTexts();
  const { codes, decide, desk, frame } = texts;
  const format = useFormat();
  const noWindow = useId();
  const [missing, setMissing] = useState<readonly Missing[]>([]);
  const [message, setMessage] = useState('');
  const [hours, setHours] = useState('72');
  const [keys] = useState(() => new RequestKey());
  const ask = useMutation({
    mutationFn: () => {
      const body = { missing: [...missing], message: message.trim() || null, hours: Number(hours) };
      return pend(id, body, { etag, key: keys.of(body) });
    },
    // A message that the applicant never gets is not dropped in silence: its text stays to be copied.
    onSuccess: (pended) => {
      if (pended.message !== 'no_window') onPended();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!ask.isSuccess) ask.mutate();
  };
  return (
    <Dialog
      isOpen
      isPending={ask.isPending}
      onClose={ask.isSuccess ? onPended : onClose}
      title={`${decide.pend}: ${decide.application(id)}`}
      note={decide.pendNote}
    >
      <form className={styles.form} onSubmit={submit}>
        <fieldset className={styles.codes}>
          <legend>{decide.missing}</legend>
          {(Object.keys(desk.missing) as Missing[]).map((name) => (
            <label key={name} className={styles.choice}>
              <input
                type="checkbox"
                checked={missing.includes(name)}
                onChange={({ target }) =>
                  setMissing(target.checked ? [...missing, name] : missing.filter((other) => other !== name))
                }
              />
              {desk.missing[name]}
            </label>
          ))}
        </fieldset>
        <label>
          {decide.message}
          <textarea
            rows={3}
            maxLength={1_000}
            value={message}
            aria-describedby={takesText ? undefined : noWindow}
            onChange={({ target }) => setMessage(target.value)}
          />
        </label>
        {!takesText && (
          <p id={noWindow} className={styles.held}>
            {decide.noWindow}
          </p>
        )}
        <label>
          {decide.hours}
          <input
            type="number"
            required
            min={1}
            max={720}
            value={hours}
            onChange={({ target }) => setHours(target.value)}
          />
        </label>
        {ask.isError && <p role="alert">{failedActText(ask.error, texts, format.time)}</p>}
        {ask.isSuccess && <p role="alert">{decide.pendedUntold(codes.pendMessages[ask.data.message])}</p>}
        <DialogButtons>
          {ask.isSuccess ? (
            <button type="button" data-main onClick={onPended}>
              {decide.next}
            </button>
          ) : (
            <>
              <button type="submit" data-main disabled={ask.isPending || missing.length === 0}>
                {decide.pend}
              </button>
              <button type="button" disabled={ask.isPending} onClick={onClose}>
                {frame.cancel}
              </button>
            </>
          )}
        </DialogButtons>
      </form>
    </Dialog>
  );
}
