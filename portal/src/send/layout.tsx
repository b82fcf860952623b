/** Which sheet and which row of names a file is read by, as the options of `submit` choose them. */
import { type FormEvent, useId, useState } from 'react';
import { inLine } from '../../../src/ground/base/plain-text.ts';
import { type Answers, NO_ANSWERS, type Outcome } from './read-file.ts';
import styles from './send.module.css';
import { useSendTexts } from './send-texts.ts';

interface LayoutProps {
  readonly outcome: Extract<Outcome, { kind: 'read' | 'unreadable' }>;
  readonly answers: Answers;
  readonly onAnswers: (answers: Answers) => void;
}

/** Another table has other columns and words: what was answered about them is asked anew. */
export function Layout({ outcome, answers, onAnswers }: LayoutProps) {
  const texts = useSendTexts();
  const id = useId();
  const { sheets, hasNames } = outcome;
  const isRead = outcome.kind === 'read';
  const now = isRead ? outcome.reading.source.table : { sheet: answers.sheet, headerRow: answers.headerRow };
  const [row, setRow] = useState(`${now.headerRow ?? ''}`);
  const hidden = isRead ? outcome.reading.check.hidden !== null : false;
  const change = (to: Partial<Answers>) =>
    onAnswers({
      ...NO_ANSWERS,
      encoding: answers.encoding,
      sheet: answers.sheet,
      headerRow: answers.headerRow,
      visibleOnly: answers.visibleOnly,
      ...to,
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change({ headerRow: row === '' ? null : Number(row) });
  };
  if (sheets.length < 2 && !hasNames) return null;
  return (
    <details className={styles.layout} open={!isRead || answers.sheet !== null || answers.headerRow !== null}>
      <summary>{texts.layout}</summary>
      <form className={styles.choices} onSubmit={submit}>
        {sheets.length > 1 && (
          <label>
            {texts.sheet}
            <select
              value={now.sheet ?? ''}
              onChange={({ target }) => change({ sheet: target.value, headerRow: null })}
            >
              {now.sheet === null && <option value="">{texts.choice}</option>}
              {sheets.map((name) => (
                <option key={name} value={name}>
                  {inLine(name)}
                </option>
              ))}
            </select>
          </label>
        )}
        {hasNames && (
          <label htmlFor={id}>
            {texts.headerRow}
            <span className={styles.standing}>
              <input
                id={id}
                type="number"
                min={1}
                max={1_048_576}
                value={row}
                onChange={({ target }) => setRow(target.value)}
              />
              <button type="submit">{texts.readAnew}</button>
            </span>
          </label>
        )}
        {(hidden || answers.visibleOnly) && (
          <label className={styles.check}>
            <input
              type="checkbox"
              checked={answers.visibleOnly}
              onChange={({ target }) => change({ visibleOnly: target.checked })}
            />
            {texts.visibleOnly}
          </label>
        )}
      </form>
    </details>
  );
}
