/** Sends the rows of a file that was read: asks first, shows how far it is, and ends with what became of the rows. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ask } from '../../../console/src/api/ask.ts';
import { SESSION_KEY } from '../../../console/src/api/signed-in.ts';
import { Card, Facts } from '../../../console/src/base-ui/card.tsx';
import { Dialog, DialogButtons } from '../../../console/src/base-ui/dialog.tsx';
import { useFormat } from '../../../console/src/format/format.ts';
import { useTexts } from '../../../console/src/texts/texts.ts';
import { ENVIRONMENTS, type Environment } from '../../../src/domain/partner/credential.ts';
import { type Keys, type Quota, useReading } from '../api.ts';
import { Read } from '../shown.tsx';
import type { Reading } from './read-file.ts';
import { save } from './save.ts';
import styles from './send.module.css';
import type { Destination, Ended, PageRecords, sentBefore } from './sending.ts';
import { useSendingTexts } from './sending-texts.ts';

type Key = Keys['keys'][number];
type Before = Awaited<ReturnType<typeof sentBefore>>;
type Progress = Ended['tally'];

interface SendCardProps {
  readonly name: string;
  readonly reading: Reading;
  readonly isSending: boolean;
  readonly onSending: (isSending: boolean) => void;
}

export function SendCard(props: SendCardProps) {
  const texts = useSendingTexts();
  const keys = useReading<Keys>('/keys');
  const { check } = props.reading;
  const isUnanswered = check.ambiguous !== null || check.unsent.length > 0;
  return (
    <Card title={texts.title}>
      {isUnanswered ? (
        <p>{texts.unanswered}</p>
      ) : check.rows === check.unreadable ? (
        <p>{texts.nothing}</p>
      ) : (
        <Read of={keys}>
          {(read) => {
            const live = read.keys.filter(({ status }) => status === 'live');
            return live.length === 0 ? <p>{texts.noKey}</p> : <Send {...props} keys={live} />;
          }}
        </Read>
      )}
    </Card>
  );
}

function Send({ keys, isSending, ...props }: SendCardProps & { readonly keys: readonly Key[] }) {
  const texts = useSendingTexts();
  const [keyId, setKeyId] = useState(keys[0]!.id);
  const [wanted, setWanted] = useState<Environment>('PRO');
  const key = keys.find(({ id }) => id === keyId) ?? keys[0]!;
  const environment = key.environment ?? wanted;
  return (
    <div className={styles.questions}>
      {!isSending && (
        <div className={styles.choices}>
          <label>
            {texts.key}{' '}
            <select value={key.id} onChange={({ target }) => setKeyId(Number(target.value))}>
              {keys.map(({ id, hint }) => (
                <option key={id} value={id}>
                  {hint}…
                </option>
              ))}
            </select>
          </label>
          <label>
            {texts.environment}{' '}
            <select
              value={environment}
              disabled={key.environment !== null}
              onChange={({ target }) => setWanted(target.value as Environment)}
            >
              {ENVIRONMENTS.map((one) => (
                <option key={one} value={one}>
                  {one === 'PRO' ? texts.production : texts.sandbox}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      <SendAs key={`${key.id} ${environment}`} {...props} {...{ isSending, environment }} as={key} />
    </div>
  );
}

interface SendAsProps extends SendCardProps {
  readonly as: Key;
  readonly environment: Environment;
}

/** The sending with one key: another one is another submission. */
function SendAs({ name, reading, as: key, environment, isSending, onSending }: SendAsProps) {
  const texts = useSendingTexts();
  const { number } = useFormat();
  const to = { keyId: key.id, environment };
  const before = useBefore(reading, to);
  const [isAsking, setAsking] = useState(false);
  const [isAnyway, setAnyway] = useState(false);
  const { ended, progress, waitSeconds, start, stop } = useSending(reading, to, before, onSending);
  const rows = reading.check.rows - reading.check.unreadable;
  const mustConfirm = before?.kind === 'anew' && ended === null;
  if (isSending) return <Sent {...{ progress, waitSeconds, stop }} all={reading.check.rows} />;
  return (
    <div className={styles.questions}>
      {environment === 'PRO' && <Room cap={key.daily_cap} rows={rows} />}
      {ended === null && before !== null && <SentBefore {...{ before, isAnyway }} onAnyway={setAnyway} />}
      {ended !== null && <End name={name} ended={ended} />}
      {ended?.kind !== 'done' && (
        <p className={styles.flat}>
          <button
            type="button"
            data-main
            disabled={before === null || (mustConfirm && !isAnyway)}
            onClick={() => (ended === null ? setAsking(true) : void start())}
          >
            {ended === null ? texts.ask(number(rows)) : texts.goOn}
          </button>
        </p>
      )}
      <Asking
        isOpen={isAsking}
        title={texts.question(number(rows), key.hint)}
        environment={environment}
        reading={reading}
        onClose={() => setAsking(false)}
        onSend={() => {
          setAsking(false);
          void start();
        }}
      />
    </div>
  );
}

interface SentBeforeProps {
  readonly before: Before;
  readonly isAnyway: boolean;
  readonly onAnyway: (isAnyway: boolean) => void;
}

function SentBefore({ before, isAnyway, onAnyway }: SentBeforeProps) {
  const texts = useSendingTexts();
  const { time } = useFormat();
  if (before.kind === 'never') return null;
  const at = time(before.at.toISOString());
  if (before.kind === 'again') return <p className={styles.flat}>{texts.again(at)}</p>;
  return (
    <>
      <p className={styles.flat} role="alert">
        {texts.anew(at)}
      </p>
      <label className={styles.check}>
        <input type="checkbox" checked={isAnyway} onChange={({ target }) => onAnyway(target.checked)} />
        {texts.anyway}
      </label>
    </>
  );
}

interface AskingProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly environment: Environment;
  readonly reading: Reading;
  readonly onClose: () => void;
  readonly onSend: () => void;
}

function Asking({ isOpen, title, environment, reading: { check }, onClose, onSend }: AskingProps) {
  const { frame } = useTexts();
  const texts = useSendingTexts();
  const { number } = useFormat();
  const note = (
    <>
      <p>{texts.where[environment]}</p>
      {check.unreadable > 0 && <p>{texts.unreadable(number(check.unreadable))}</p>}
      {check.invalid > 0 && <p>{texts.invalid(number(check.invalid))}</p>}
    </>
  );
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title} note={note}>
      <DialogButtons>
        <button type="button" data-main onClick={onSend}>
          {texts.title}
        </button>
        <button type="button" onClick={onClose}>
          {frame.cancel}
        </button>
      </DialogButtons>
    </Dialog>
  );
}

/** What the key's cap still allows; a key without one has room for all. */
function Room({ cap, rows }: { readonly cap: number | null; readonly rows: number }) {
  const texts = useSendingTexts();
  const { number } = useFormat();
  const { data } = useReading<Quota>('/quota');
  if (cap === null || data === undefined) return null;
  const room = Math.max(cap - data.used_24h, 0);
  return (
    <p className={styles.flat}>
      {texts.room(number(room))} {room < rows && texts.tooFew}
    </p>
  );
}

interface SentProps {
  readonly progress: Progress | null;
  readonly waitSeconds: number | null;
  readonly all: number;
  readonly stop: (() => void) | null;
}

function Sent({ progress, waitSeconds, all, stop }: SentProps) {
  const texts = useSendingTexts();
  const { number } = useFormat();
  const rows = progress?.rows ?? 0;
  return (
    <>
      <progress className={styles.progress} value={rows} max={all} aria-label={texts.title} />
      <p className={styles.standing}>
        <span role="status">{texts.sending(number(rows), number(all))}</span>
        {stop === null ? (
          <span>{texts.stopping}</span>
        ) : (
          <button type="button" onClick={stop}>
            {texts.stop}
          </button>
        )}
      </p>
      {waitSeconds !== null && <p role="alert">{texts.waiting(number(waitSeconds))}</p>}
    </>
  );
}

function End({ name, ended }: { readonly name: string; readonly ended: Ended }) {
  const texts = useSendingTexts();
  const { number } = useFormat();
  const { kind, tally, failure, refused } = ended;
  const counts: readonly (readonly [string, number])[] = [
    ...Object.entries(tally.registered).map(
      ([decision, rows]) => [texts.registered[decision as keyof typeof texts.registered], rows] as const,
    ),
    [texts.duplicates, tally.duplicate],
    [texts.invalids, tally.invalid],
    [texts.unreadables, tally.unreadable],
    [texts.inDoubt, tally.inDoubt],
    [texts.notSent, tally.notSent],
  ];
  return (
    <>
      <p className={styles.flat} role="status">
        {failure === null ? kind !== 'failed' && texts.ended[kind] : <Failed failure={failure} />}
      </p>
      {kind === 'quota' && <More />}
      <Facts facts={counts.filter(([, rows]) => rows > 0).map(([label, rows]) => [label, number(rows)])} />
      {refused !== null && (
        <button type="button" className={styles.start} onClick={() => save(refused, `${name}.rejected.csv`)}>
          {texts.download}
        </button>
      )}
    </>
  );
}

function Failed({ failure: { kind, code, text } }: { readonly failure: NonNullable<Ended['failure']> }) {
  const texts = useSendingTexts();
  if (kind !== 'refused') return kind === 'file' ? `${texts.failed.file} ${text}` : texts.failed[kind];
  return Object.hasOwn(texts.codes, code)
    ? texts.codes[code as keyof typeof texts.codes]
    : texts.refused(text);
}

/** When more of the quota is free. */
function More() {
  const texts = useSendingTexts();
  const { number } = useFormat();
  const [seconds, setSeconds] = useState<number | null>(null);
  useEffect(() => {
    ask<Quota>('GET', '/quota').then(
      ({ body }) => setSeconds(body.reset_seconds),
      () => {},
    );
  }, []);
  return seconds === null ? null : (
    <p className={styles.flat}>{texts.more(number(Math.ceil(seconds / 60)))}</p>
  );
}

/** What this browser knows of earlier sendings; null until that is known. */
function useBefore({ source }: Reading, { keyId, environment }: Destination): Before | null {
  const [before, setBefore] = useState<Before | null>(null);
  useEffect(() => {
    let isLate = false;
    setBefore(null);
    const look = async () => {
      const { sentBefore, submissionId } = await import('./sending.ts');
      const to = { keyId, environment };
      const found = await sentBefore(source, to, await submissionId(source, to));
      if (!isLate) setBefore(found);
    };
    void look();
    return () => {
      isLate = true;
    };
  }, [source, keyId, environment]);
  return before;
}

/** The sending of a file with a key. The records of another key are others. */
function useSending(
  { source, rows, check }: Reading,
  to: Destination,
  before: Before | null,
  onSending: (isSending: boolean) => void,
) {
  const texts = useSendingTexts();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<Progress | null>(null);
  const [waitSeconds, setWaitSeconds] = useState<number | null>(null);
  const [ended, setEnded] = useState<Ended | null>(null);
  const [stopping, setStopping] = useState<AbortController | null>(null);
  const records = useRef<PageRecords | null>(null);
  useEffect(() => {
    if (stopping === null) return;
    const keep = (event: Event) => event.preventDefault();
    window.addEventListener('beforeunload', keep);
    return () => {
      window.removeEventListener('beforeunload', keep);
      stopping.abort();
    };
  }, [stopping]);
  const start = async () => {
    const controller = new AbortController();
    setStopping(controller);
    setProgress(null);
    setWaitSeconds(null);
    onSending(true);
    const { noteSending, PageRecords, send, submissionId } = await import('./sending.ts');
    const id = await submissionId(source, to);
    if (records.current?.id !== id) records.current = new PageRecords(id, source.file.file);
    await noteSending(source, to, id, before?.kind ?? 'never');
    const faults = new Map(rows.map((row) => [row.number, row.faults]));
    const end = await send({
      source,
      rows: check.rows,
      to,
      records: records.current,
      faultsOf: (row) => faults.get(row) ?? [],
      duplicate: texts.duplicate,
      stop: controller.signal,
      onProgress: (now) => {
        setProgress(now);
        setWaitSeconds(null);
      },
      onWait: setWaitSeconds,
    });
    setStopping(null);
    setEnded(end);
    onSending(false);
    void queries.invalidateQueries({ queryKey: ['portal'] });
    if (end.failure?.kind === 'session') void queries.invalidateQueries({ queryKey: SESSION_KEY });
  };
  const stop = stopping === null || stopping.signal.aborted ? null : () => stopNow(stopping, setProgress);
  return { ended, progress, waitSeconds, start, stop };
}

/** The new progress shows that it stops. */
function stopNow(
  stopping: AbortController,
  setProgress: (update: (now: Progress | null) => Progress | null) => void,
): void {
  stopping.abort();
  setProgress((now) => now && { ...now });
}
