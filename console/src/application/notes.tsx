/** The notes of the operators, and a new one. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import { failureText } from '../api/failure.ts';
import { RequestKey } from '../api/request-key.ts';
import { addNote } from '../api/work.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';

interface NotesProps {
  readonly application: ApplicationReply;
  readonly mayWrite: boolean;
}

export function Notes({ application: { id, notes = [] }, mayWrite }: NotesProps) {
  const { application: texts } = useTexts();
  const format = useFormat();
  return (
    <Card title={texts.notes}>
      {notes.length === 0 && <p>{texts.none}</p>}
      <ol className={card.list}>
        {notes.map(({ id: key, at, by, text }) => (
          <li key={key}>
            <p className={card.quiet}>
              {by.login} · <time dateTime={at}>{format.time(at)}</time>
            </p>
            <p className={card.text}>{text ?? texts.unreadable}</p>
          </li>
        ))}
      </ol>
      {mayWrite && <NewNote id={id} />}
    </Card>
  );
}

function NewNote({ id }: { id: number }) {
  const texts = useTexts();
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const [key] = useState(() => new RequestKey());
  const adding = useMutation({
    mutationFn: () => addNote(queries, id, text.trim(), key.of([id, text.trim()])),
    gcTime: 0,
    onSuccess: () => {
      key.done();
      setText('');
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    adding.mutate();
  };
  const known = { 400: texts.application.badNote };
  return (
    <form className={card.form} onSubmit={submit}>
      <label>
        {texts.application.newNote}
        <textarea
          required
          rows={2}
          maxLength={2_000}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      {adding.isError && <p role="alert">{failureText(adding.error, texts, known)}</p>}
      <div>
        <button type="submit" disabled={adding.isPending || text.trim() === ''}>
          {texts.application.addNote}
        </button>
      </div>
    </form>
  );
}
