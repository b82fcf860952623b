/** The reply to the person: a text that the operator types or takes from those that are sent often, a file, or both. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import type { Language } from '../../../src/domain/conversation/flow.ts';
import type { InboxConversationReply } from '../../../src/subjects/desk/routes/inbox-forms.ts';
import { failureText } from '../api/failure.ts';
import { actInInbox } from '../api/inbox.ts';
import { RequestKey } from '../api/request-key.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { LANGUAGES, useLanguage, useTexts } from '../texts/texts.ts';
import { useAct } from './act.ts';
import { CANNED, CANNED_NAMES, type Canned } from './canned.ts';
import styles from './inbox.module.css';

interface ReplyProps {
  readonly id: string;
  readonly shown: InboxConversationReply;
  /** The operator has the claim. Without it what was typed stays. */
  readonly isMine: boolean;
}

export function Reply({ id, shown, isMine }: ReplyProps) {
  const texts = useTexts();
  const { inbox, desk } = texts;
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [key] = useState(() => new RequestKey());
  const drop = () => {
    setFile(null);
    if (picker.current !== null) picker.current.value = '';
  };
  const sending = useMutation({
    mutationFn: async () => {
      const said = text.trim();
      if (file === null) return actInInbox(queries, id, { act: 'messages', text: said }, key.of([id, said]));
      const asked = { act: 'files', filename: file.name, content: await base64Of(file), text: said } as const;
      return actInInbox(queries, id, asked, key.of([id, said, file.name, file.size, file.lastModified]));
    },
    gcTime: 0,
    onSuccess: () => {
      key.done();
      setText('');
      drop();
    },
  });
  const isTooLarge = file !== null && file.size > MOST_FILE_BYTES;
  const isEmpty = text.trim() === '' && file === null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    sending.mutate();
  };
  return (
    <Card title={inbox.reply}>
      {shown.unsayable !== null && <p>{desk.conflicts[shown.unsayable]}</p>}
      {shown.unsayable === 'window_closed' && <Remind id={id} shown={shown} isMine={isMine} />}
      {shown.unsayable === null && (
        <form className={card.form} onSubmit={submit}>
          <Texts
            language={shown.language}
            onTake={(taken) =>
              setText((before) => (before.trim() === '' ? taken : `${before.trimEnd()}\n${taken}`))
            }
          />
          <label>
            {inbox.text}
            <textarea
              required={file === null}
              rows={4}
              maxLength={1_000}
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          </label>
          <div className={styles.line}>
            <label className={styles.file}>
              {inbox.file}
              <input
                ref={picker}
                type="file"
                accept="application/pdf,image/jpeg,image/png"
                onChange={({ target }) => setFile(target.files?.[0] ?? null)}
              />
            </label>
            {file !== null && (
              <button type="button" onClick={drop}>
                {inbox.dropFile}
              </button>
            )}
          </div>
          {isTooLarge && <p role="alert">{inbox.badFile}</p>}
          <div>
            <button type="submit" data-main disabled={!isMine || sending.isPending || isEmpty || isTooLarge}>
              {inbox.send}
            </button>
          </div>
        </form>
      )}
      {sending.isError && (
        <p role="alert">
          {failureText(sending.error, texts, { 400: file === null ? inbox.badText : inbox.badFile })}
        </p>
      )}
      <p role="status" className={styles.status}>
        {sending.isSuccess && isEmpty && inbox.sent}
      </p>
    </Card>
  );
}

/** The service refuses a larger one, and pictures over 5 MB. */
const MOST_FILE_BYTES = 10_000_000;

/** The bytes of a file in base64. */
function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(`${reader.result}`.replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** The one message that the channel takes when its window is closed, once after each message of the person. */
function Remind({ id, shown, isMine }: ReplyProps) {
  const texts = useTexts();
  const { inbox, codes } = texts;
  const format = useFormat();
  const sending = useAct(id);
  const { reminder } = shown;
  if (reminder !== null) {
    const fate = codes.messageStatuses[reminder.status];
    return <p role="status">{`${inbox.reminder}: ${fate}, ${format.relative(reminder.changed_at)}`}</p>;
  }
  return (
    <>
      <p>{inbox.onlyReminder}</p>
      {sending.isError && <p role="alert">{failureText(sending.error, texts)}</p>}
      <button
        type="button"
        disabled={!isMine || sending.isPending}
        onClick={() => sending.mutate({ act: 'remind' })}
      >
        {inbox.remind}
      </button>
    </>
  );
}

interface TextsProps {
  /** That of the conversation; null: nothing was said in it. */
  readonly language: Language | null;
  readonly onTake: (text: string) => void;
}

function Texts({ language, onTake }: TextsProps) {
  const { inbox } = useTexts();
  const own = useLanguage();
  const [chosen, setChosen] = useState<Language>(language ?? own);
  return (
    <div className={styles.line}>
      <label>
        {inbox.canned}
        <select value="" onChange={({ target }) => onTake(CANNED[chosen][target.value as Canned])}>
          <option value="">—</option>
          {CANNED_NAMES.map((name) => (
            <option key={name} value={name}>
              {inbox.cannedNames[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        {inbox.cannedLanguage}
        <select value={chosen} onChange={({ target }) => setChosen(target.value as Language)}>
          {Object.entries(LANGUAGES).map(([tag, name]) => (
            <option key={tag} value={tag} lang={tag}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
