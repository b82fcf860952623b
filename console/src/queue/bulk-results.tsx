/** What became of each application of a decision on many, and the way to take all of it back. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { BulkReply } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import { failureText } from '../api/failure.ts';
import { undoByKey } from '../api/proposals.ts';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './queue.module.css';

type Result = BulkReply['results'][number]['result'] | 'undone';

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
  const [undone, setUndone] = useState<ReadonlySet<number>>(new Set());
  const textOf = (result: Result) =>
    result === 'undone' ? desk.proposalStates.undone : desk.bulkResults[result];
  // What went wrong comes first, also when what went well is undone.
  const results = reply.results
    .toSorted((a, b) => Number(a.result === 'proposed') - Number(b.result === 'proposed'))
    .map(({ id, result }) => ({ id, result: undone.has(id) ? ('undone' as const) : result }));
  const counts = Object.entries(Object.groupBy(results, ({ result }) => result));
  return (
    <Dialog isOpen onClose={onClose} title={queue.results}>
      <ul className={styles.counts}>
        {counts.map(([result, items]) => (
          <li key={result}>
            {textOf(result as Result)}: <strong>{format.number(items.length)}</strong>
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
          {results.slice(from, from + ROWS).map(({ id, result }) => (
            <tr key={id}>
              <th scope="row">
                <Link href={`/applications/${id}`}>{id}</Link>
              </th>
              <td>{textOf(result)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {reply.proposed > 0 && (
        <UndoAll decisionKey={decisionKey} onUndone={(ids) => setUndone(new Set(ids))} />
      )}
      <DialogButtons>
        {results.length > ROWS && (
          <>
            <button type="button" disabled={from === 0} onClick={() => setFrom(from - ROWS)}>
              {queue.previous}
            </button>
            <button
              type="button"
              disabled={from + ROWS >= results.length}
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

interface UndoAllProps {
  readonly decisionKey: string;
  /** Gets the applications whose proposals are undone. */
  readonly onUndone: (ids: readonly number[]) => void;
}

function UndoAll({ decisionKey, onUndone }: UndoAllProps) {
  const texts = useTexts();
  const { queue } = texts;
  const format = useFormat();
  const queries = useQueryClient();
  const undo = useMutation({
    mutationFn: () => undoByKey(decisionKey),
    onSuccess: (ids) => {
      onUndone(ids);
      return queries.invalidateQueries({ queryKey: ['queue'] });
    },
  });
  return (
    <>
      <p role="status">
        {undo.isSuccess && queue.undoneMany(undo.data.length, format.number(undo.data.length))}
      </p>
      {undo.isError && <p role="alert">{failureText(undo.error, texts)}</p>}
      {!undo.isSuccess && (
        <button type="button" disabled={undo.isPending} onClick={() => undo.mutate()}>
          {queue.undoMany}
        </button>
      )}
    </>
  );
}
