/** The answer to a case: the applicant reads it as it is written. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type CaseOutcome, outcomesOf } from '../../../src/domain/application/cases.ts';
import type {
  AnsweredCaseReply,
  ReconsiderationReply,
} from '../../../src/subjects/desk/routes/reconsideration-forms.ts';
import { failureText } from '../api/failure.ts';
import { answerCase } from '../api/reconsiderations.ts';
import card from '../base-ui/card.module.css';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useTexts } from '../texts/texts.ts';
import styles from './reconsiderations.module.css';

interface AnswerDialogProps {
  readonly asked: ReconsiderationReply;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onDone: (done: AnsweredCaseReply) => void;
}

export function AnswerDialog({ asked, isOpen, onClose, onDone }: AnswerDialogProps) {
  const texts = useTexts();
  const { reconsiderations, application, frame } = texts;
  const queries = useQueryClient();
  const outcomes = outcomesOf(asked.kind);
  const [outcome, setOutcome] = useState<CaseOutcome | null>(outcomes.length === 1 ? outcomes[0]! : null);
  const [text, setText] = useState('');
  const answering = useMutation({
    mutationFn: (body: { outcome: CaseOutcome; text: string }) => answerCase(queries, asked.id, body),
    onSuccess: (done) => {
      onDone(done);
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (outcome !== null) answering.mutate({ outcome, text: text.trim() });
  };
  const known = { 400: reconsiderations.badAnswer, 404: reconsiderations.gone };
  return (
    <Dialog
      isOpen={isOpen}
      isPending={answering.isPending}
      onClose={onClose}
      title={`${application.title} ${asked.application}: ${reconsiderations.kinds[asked.kind]}`}
      note={asked.chat_is_open ? reconsiderations.willTell : reconsiderations.willWait}
    >
      <form className={card.form} onSubmit={submit}>
        {outcomes.length > 1 && (
          <fieldset className={styles.choices}>
            <legend>{reconsiderations.outcome}</legend>
            {outcomes.map((value) => (
              <label key={value} className={styles.choice}>
                <input
                  type="radio"
                  name="outcome"
                  required
                  checked={outcome === value}
                  onChange={() => setOutcome(value)}
                />
                {reconsiderations.outcomes[value]}
              </label>
            ))}
          </fieldset>
        )}
        <label>
          {reconsiderations.text}
          <textarea
            required
            rows={4}
            maxLength={500}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
        {answering.isError && <p role="alert">{failureText(answering.error, texts, known)}</p>}
        <DialogButtons>
          <button type="submit" data-main disabled={answering.isPending || text.trim() === ''}>
            {reconsiderations.send}
          </button>
          <button type="button" onClick={onClose}>
            {frame.cancel}
          </button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
