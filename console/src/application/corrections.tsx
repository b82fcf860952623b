/** What was corrected of what the partner sent, and a new correction by an admin. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type {
  ApplicationReply,
  NewCorrectionBody,
  RevealedReply,
} from '../../../src/subjects/desk/routes/forms.ts';
import { correct } from '../api/application.ts';
import { failureText } from '../api/failure.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';

type Field = NewCorrectionBody['field'];

interface CorrectionsProps {
  readonly application: ApplicationReply;
  readonly revealed: RevealedReply | null;
  readonly mayCorrect: boolean;
}

export function Corrections({ application, revealed, mayCorrect }: CorrectionsProps) {
  const { application: texts } = useTexts();
  const format = useFormat();
  const [isOpen, setOpen] = useState(false);
  const { id, corrections } = application;
  if (corrections.length === 0 && !mayCorrect) return null;
  const shown = corrections.map((one) => ({
    ...one,
    ...revealed?.corrections.find((it) => it.id === one.id),
  }));
  return (
    <Card title={texts.corrections}>
      {shown.length === 0 && <p>{texts.none}</p>}
      <ol className={card.list}>
        {shown.map(({ id: key, field, at, before, after, decided_with_old_value: isOld }) => (
          <li key={key}>
            <p className={card.quiet}>
              {texts.correctionFields[field]} · <time dateTime={at}>{format.time(at)}</time>
            </p>
            <p className={card.text}>
              {before ?? '—'} → {after ?? '—'}
            </p>
            {isOld && <p className={card.quiet}>{texts.decidedWithOldValue}</p>}
          </li>
        ))}
      </ol>
      {mayCorrect && (
        <button type="button" onClick={() => setOpen(true)}>
          {texts.correct}
        </button>
      )}
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={texts.correct} note={texts.correctNote}>
        <CorrectForm id={id} onClose={() => setOpen(false)} />
      </Dialog>
    </Card>
  );
}

/** Gone with the dialog, and what was typed with it. */
function CorrectForm({ id, onClose }: { id: number; onClose: () => void }) {
  const texts = useTexts();
  const { application, codes, frame } = texts;
  const queries = useQueryClient();
  const [field, setField] = useState<Field>('name');
  const [value, setValue] = useState('');
  const [reason, setReason] = useState('');
  const correcting = useMutation({
    mutationFn: () => correct(queries, id, { field, value: value.trim(), reason: reason.trim() }),
    gcTime: 0,
    onSuccess: ({ decision_now: now }) => now === null && onClose(),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    correcting.mutate();
  };
  const now = correcting.data?.decision_now;
  if (now)
    return (
      <div className={card.form}>
        <p role="status">{application.decisionNow(now.policy, codes.decisions[now.decision], now.score)}</p>
        <DialogButtons>
          <button type="button" data-main onClick={onClose}>
            {frame.close}
          </button>
        </DialogButtons>
      </div>
    );
  return (
    <form className={card.form} onSubmit={submit}>
      <label>
        {application.correctionField}
        <select value={field} onChange={({ target }) => setField(target.value as Field)}>
          {(Object.keys(application.correctionFields) as Field[]).map((name) => (
            <option key={name} value={name}>
              {application.correctionFields[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        {application.rightValue}
        <input
          required
          maxLength={200}
          autoComplete="off"
          value={value}
          onChange={({ target }) => setValue(target.value)}
        />
      </label>
      <label>
        {application.correctionReason}
        <input
          required
          maxLength={500}
          autoComplete="off"
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
      </label>
      {correcting.isError && (
        <p role="alert">{failureText(correcting.error, texts, { 400: application.badCorrection })}</p>
      )}
      <DialogButtons>
        <button type="submit" data-main disabled={correcting.isPending}>
          {application.correct}
        </button>
        <button type="button" onClick={onClose}>
          {frame.cancel}
        </button>
      </DialogButtons>
    </form>
  );
}
