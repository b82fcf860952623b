/** A file of applicants, as `ventanilla submit` would read it: shown row by row before anything is sent. */
import { useEffect, useRef, useState } from 'react';
import { Card, Facts } from '../../../console/src/base-ui/card.tsx';
import { PageHeading } from '../../../console/src/base-ui/page-heading.tsx';
import { useFormat } from '../../../console/src/format/format.ts';
import { useLanguage } from '../../../console/src/texts/texts.ts';
import type { Country } from '../../../src/ground/base/country-data.ts';
import type { Person } from '../api.ts';
import { Layout } from './layout.tsx';
import { Questions } from './questions.tsx';
import {
  type Answers,
  NO_ANSWERS,
  type Outcome,
  type Reading,
  readFile,
  TooLarge,
  withoutOptions,
} from './read-file.ts';
import { Rows } from './rows.tsx';
import { save } from './save.ts';
import styles from './send.module.css';
import { SendCard } from './send-card.tsx';
import { useSendTexts } from './send-texts.ts';
import { useSendingTexts } from './sending-texts.ts';
import { Wide } from './wide.tsx';

/** What became of the file; null while it is read. */
type Read = Outcome | { readonly kind: 'too_large' | 'failed' } | null;

export default function SendPage({ person }: { readonly person: Pick<Person, 'role' | 'partner'> }) {
  const texts = useSendTexts();
  const sending = useSendingTexts();
  const [isSending, setSending] = useState(false);
  const [file, setFile] = useState<File | null>(null);
  const [answers, setAnswers] = useState<Answers>(NO_ANSWERS);
  const [read, rows] = useReading(file, answers, person.partner.country as Country);
  const choose = (chosen: File | undefined) => {
    if (chosen === undefined) return;
    setAnswers(NO_ANSWERS);
    setFile(chosen);
  };
  const isOpen = read?.kind === 'read' || read?.kind === 'doubtful';
  return (
    <div className={styles.page}>
      <PageHeading title={texts.title} />
      <p>{texts.lead}</p>
      {!isSending && <DropZone onFile={choose} />}
      <Standing file={file} read={read} rows={rows} onCancel={() => setFile(null)} />
      {(read?.kind === 'read' || read?.kind === 'unreadable') && !isSending && (
        <Layout outcome={read} answers={answers} onAnswers={setAnswers} />
      )}
      {isOpen && !isSending && <Questions outcome={read} answers={answers} onAnswers={setAnswers} />}
      {file !== null && read?.kind === 'read' && (
        <>
          {person.role === 'owner' ? (
            <SendCard {...{ name: file.name, reading: read.reading, isSending, onSending: setSending }} />
          ) : (
            <p>{sending.onlyOwner}</p>
          )}
          <Shown name={file.name} reading={read.reading} />
        </>
      )}
    </div>
  );
}

/** Reads the file anew with each answer. Gives what became of it, and the rows so far. */
function useReading(file: File | null, answers: Answers, country: Country): [read: Read, rows: number] {
  const language = useLanguage();
  const [read, setRead] = useState<Read>(null);
  const [rows, setRows] = useState(0);
  useEffect(() => {
    setRead(null);
    setRows(0);
    if (file === null) return;
    const reading = new AbortController();
    const { signal } = reading;
    readFile(file, answers, { language, country }, { signal, onRows: setRows })
      .catch((error: unknown): Read => ({ kind: error instanceof TooLarge ? 'too_large' : 'failed' }))
      .then((outcome) => {
        if (!signal.aborted) setRead(outcome);
      });
    return () => reading.abort();
  }, [file, answers, language, country]);
  return [read, rows];
}

function DropZone({ onFile }: { readonly onFile: (file: File | undefined) => void }) {
  const texts = useSendTexts();
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  return (
    <section
      className={styles.drop}
      data-over={isOver || undefined}
      aria-label={texts.drop}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFile(event.dataTransfer.files[0]);
      }}
    >
      <p className={styles.hint}>{texts.drop}</p>
      <button type="button" onClick={() => input.current?.click()}>
        {texts.choose}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".xlsx,.csv,.tsv,.txt,.json,.jsonl,.ndjson"
        onChange={(event) => {
          onFile(event.target.files?.[0]);
          // The same file, corrected, may be chosen again.
          event.target.value = '';
        }}
      />
    </section>
  );
}

interface StandingProps {
  readonly file: File | null;
  readonly read: Read;
  readonly rows: number;
  readonly onCancel: () => void;
}

function Standing({ file, read, rows, onCancel }: StandingProps) {
  const texts = useSendTexts();
  const format = useFormat();
  if (file === null) return null;
  if (read === null)
    return (
      <p className={styles.standing}>
        <span role="status">{texts.reading(format.number(rows))}</span>
        <button type="button" onClick={onCancel}>
          {texts.cancel}
        </button>
      </p>
    );
  if (read.kind === 'unreadable') return <p role="alert">{read.text}</p>;
  if (read.kind === 'too_large') return <p role="alert">{texts.tooLarge}</p>;
  return read.kind === 'failed' ? <p role="alert">{texts.failed}</p> : null;
}

function Shown({ name, reading }: { readonly name: string; readonly reading: Reading }) {
  const texts = useSendTexts();
  const { number } = useFormat();
  const { check, notes, fields } = reading;
  const refused = check.unreadable + check.invalid;
  return (
    <>
      <Card title={texts.understood}>
        <Facts
          facts={[
            [texts.format, [reading.format, reading.encoding ?? []].flat().join(', ')],
            [texts.rows, number(check.rows)],
            [texts.good, number(check.rows - refused)],
            [texts.refused, number(refused)],
          ]}
        />
        {notes.map((note) => (
          <p key={note}>{note}</p>
        ))}
        <details>
          <summary>{texts.columns}</summary>
          <table className={styles.plain}>
            <thead>
              <tr>
                <th scope="col">{texts.field}</th>
                <th scope="col">{texts.column}</th>
              </tr>
            </thead>
            <tbody>
              {fields.map((field) => (
                <tr key={field.name}>
                  <th scope="row">{field.name}</th>
                  <td>{field.columns.join(', ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      </Card>
      {refused > 0 && <Faults name={name} reading={reading} />}
      <Rows reading={reading} />
    </>
  );
}

/** No list of faults is longer: each has its own text, and a damaged file may have many. */
const MOST_FAULTS = 50;

function Faults({ name, reading }: { readonly name: string; readonly reading: Reading }) {
  const texts = useSendTexts();
  const { number } = useFormat();
  const faults = [...reading.check.faults.values()].slice(0, MOST_FAULTS);
  return (
    <Card title={texts.faults}>
      <Wide label={texts.fault}>
        <table className={styles.plain}>
          <thead>
            <tr>
              <th scope="col">{texts.fault}</th>
              <th scope="col">{texts.rows}</th>
              <th scope="col">{texts.first}</th>
            </tr>
          </thead>
          <tbody>
            {faults.map(({ text, count, firstRow }) => (
              <tr key={text}>
                <td>{withoutOptions(text)}</td>
                <td>{number(count)}</td>
                <td>{number(firstRow)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      <button type="button" onClick={() => save(reading.refused, `${name}.rejected.csv`)}>
        {texts.download}
      </button>
    </Card>
  );
}
