/** Makes a file of a view: the operator says why, sees how many rows there are so far, and may give it up. */
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { MOST_FILE_ROWS } from '../../../src/domain/application/views.ts';
import { failureText } from '../api/failure.ts';
import type { ViewAddress } from '../api/find.ts';
import { fileRows } from '../api/saved-views.ts';
import card from '../base-ui/card.module.css';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { browserClock } from '../clock.ts';
import { useFindTexts } from '../find/find-texts.ts';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { FORMATS, type Format, makeFile } from './file/view-file.ts';

interface FileDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly address: ViewAddress;
  /** How many rows there are; null: nobody knows. */
  readonly count: number | null;
}

export default function FileDialog({ isOpen, onClose, ...form }: FileDialogProps) {
  const find = useFindTexts();
  const format = useFormat();
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={find.file}
      note={find.fileNote(format.number(MOST_FILE_ROWS))}
    >
      <FileForm {...form} onClose={onClose} />
    </Dialog>
  );
}

type Stage =
  | { readonly is: 'asking' }
  | { readonly is: 'making'; readonly rows: number }
  | { readonly is: 'made'; readonly rows: number; readonly isCut: boolean }
  | { readonly is: 'failed'; readonly error: unknown };

/** Gone with the dialog, and so is a file that is not made yet. */
function FileForm({ address, count, onClose }: Omit<FileDialogProps, 'isOpen'>) {
  const texts = useTexts();
  const find = useFindTexts();
  const format = useFormat();
  const [reason, setReason] = useState('');
  const [kind, setKind] = useState<Format>('xlsx');
  const [stage, setStage] = useState<Stage>({ is: 'asking' });
  const isWanted = useRef(true);
  useEffect(() => {
    isWanted.current = true;
    return () => {
      isWanted.current = false;
    };
  }, []);
  const make = async () => {
    setStage({ is: 'making', rows: 0 });
    try {
      const made = await makeFile({
        format: kind,
        title: find.views[address.view],
        head: find.columns(find.at[address.view]),
        ask: (place) => fileRows(address, reason.trim(), place),
        onRows: (rows) => {
          if (isWanted.current) setStage({ is: 'making', rows });
          return isWanted.current;
        },
      });
      if (made === null) return;
      download(made.file, `${address.view}.${kind}`);
      setStage({ is: 'made', rows: made.rows, isCut: made.isCut });
    } catch (error) {
      if (isWanted.current) setStage({ is: 'failed', error });
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make();
  };
  const isMaking = stage.is === 'making';
  return (
    <form className={card.form} onSubmit={submit}>
      <label>
        {find.format}
        <select value={kind} disabled={isMaking} onChange={({ target }) => setKind(target.value as Format)}>
          {FORMATS.map((one) => (
            <option key={one} value={one}>
              {one.toUpperCase()}
            </option>
          ))}
        </select>
      </label>
      <label>
        {texts.application.reason}
        <input
          required
          minLength={5}
          maxLength={500}
          autoComplete="off"
          disabled={isMaking}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
      </label>
      {isMaking && (
        <progress
          aria-label={find.file}
          max={count ?? undefined}
          value={count === null ? undefined : stage.rows}
        />
      )}
      <p role="status">
        {stage.is === 'making' && find.rows(stage.rows, format.number(stage.rows))}
        {stage.is === 'made' && find.fileMade(stage.rows, format.number(stage.rows))}{' '}
        {stage.is === 'made' && stage.isCut && find.fileCut}
      </p>
      {stage.is === 'failed' && (
        <p role="alert">{failureText(stage.error, texts, { 400: texts.application.badReason })}</p>
      )}
      <DialogButtons>
        <button type="submit" data-main disabled={isMaking}>
          {find.makeFile}
        </button>
        <button type="button" onClick={onClose}>
          {isMaking ? texts.frame.cancel : texts.frame.close}
        </button>
      </DialogButtons>
    </form>
  );
}

function download(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  browserClock.after(10_000, () => URL.revokeObjectURL(link.href));
}
