/** What became of each application of a decision on many, and the way to take all of it back. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { BulkReply } from '../../../src/desk/routes/proposal-forms.ts';
import { failureText } from '../api/failure.ts';
import { undoMany } from '../api/proposals.ts';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useFormat } from '../format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './queue.module.css';

type Result = BulkReply['results'][number]['result'];

/** Rows of the table at a time. */
const ROWS = 100;

interface BulkResultsProps {
  readonly reply: BulkReply;
  /** The key of the decision. */
  readonly decisionKey: string;
  readonly onClose: () => void;
}

export function BulkResults({ reply, decisionKey, onClose }: BulkResultsProps) {
  const { desk, frame, queue } = useTexts();
  const format = useFormat();
  const [from, setFrom] = useState(0);
  const counts = Object.entries(Object.groupBy(reply.results, ({ result }) => result));
  // What went wrong comes first.
  const sorted = reply.results.toSorted(
    (a, b) => Number(a.result === 'proposed') - Number(b.result === 'proposed'),
  );
  return (
    <Dialog isOpen onClose={onClose} title={queue.results}>
      <ul className={styles.counts}>
        {counts.map(([result, items]) => (
          <li key={result}>
            {desk.bulkResults[result as Result]}: <strong>{format.number(items.length)}</strong>
          </li>
        ))}
      </ul>
      <table className={styles.results}>
        <thead>
          <tr>
            <th scope="col">{queue.number}</th>
            <th scope="col">{queue.result}</th>
          </tr>
        </thead>
        <tbody>
          {sorted.slice(from, from + ROWS).map(({ id, result }) => (
            <tr key={id}>
              <th scope="row">
                <Link href={`/applications/${id}`}>{id}</Link>
              </th>
              <td>{desk.bulkResults[result]}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {reply.proposed > 0 && <UndoAll decisionKey={decisionKey} />}
      <DialogButtons>
        {sorted.length > ROWS && (
          <>
            <button type="button" disabled={from === 0} onClick={() => setFrom(from - ROWS)}>
              {queue.previous}
            </button>
            <button
              type="button"
              disabled={from + ROWS >= sorted.length}
              onClick={() => setFrom(from + ROWS)}
            >
              {queue.nextPage}
            </button>
          </>
        )}
        <button type="button" data-main onClick={onClose}>
          {frame.close}
        </button>
      </DialogButtons>
    </Dialog>
  );
}

function UndoAll({ decisionKey }: Pick<BulkResultsProps, 'decisionKey'>) {
  const texts = useTexts();
  const { queue } = texts;
  const format = useFormat();
  const queries = useQueryClient();
  const undo = useMutation({
    mutationFn: () => undoMany(decisionKey),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['queue'] }),
  });
  return (
    <>
      <p role="status">{undo.isSuccess && queue.undoneMany(format.number(undo.data))}</p>
      {undo.isError && <p role="alert">{failureText(undo.error, texts)}</p>}
      {!undo.isSuccess && (
        <button type="button" disabled={undo.isPending} onClick={() => undo.mutate()}>
          {queue.undoMany}
        </button>
      )}
    </>
  );
}
