/** What became of each application of a decision on many. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { BulkReply } from '../../../src/desk/routes/proposal-forms.ts';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useFormat } from '../format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './queue.module.css';

type Result = BulkReply['results'][number]['result'];

/** Rows of the table at a time. */
const ROWS = 100;

export function BulkResults({ reply, onClose }: { reply: BulkReply; onClose: () => void }) {
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
