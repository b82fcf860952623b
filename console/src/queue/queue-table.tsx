/** The rows of the queue. They keep their places while the focus is among them. */
import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import type { QueueItemReply } from '../../../src/subjects/desk/routes/queue-forms.ts';
import { useDesk } from '../decide/desk.tsx';
import { useShortcuts } from '../keyboard/shortcuts.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './queue.module.css';
import { QueueRow } from './queue-row.tsx';
import { useSteadyRows } from './use-steady-rows.ts';

interface QueueTableProps {
  readonly items: readonly QueueItemReply[];
  readonly operatorId: number;
  /** Whether amounts are shown in US dollars too. */
  readonly isInUsd: boolean;
  /** The query of the filters, without `?`. */
  readonly search: string;
  readonly selected: ReadonlyMap<number, string>;
  /** null: the operator's role selects nothing. */
  readonly onSelect: ((item: QueueItemReply) => void) | null;
}

export function QueueTable({ items, operatorId, isInUsd, search, selected, onSelect }: QueueTableProps) {
  const { queue } = useTexts();
  const desk = useDesk();
  const [, navigate] = useLocation();
  const table = useRef<HTMLTableElement>(null);
  const { rows, isBehind, hold, release, onBlur } = useSteadyRows(items);
  const hrefOf = (id: number) => (search === '' ? `/applications/${id}` : `/applications/${id}?${search}`);
  const links = () => [...(table.current?.querySelectorAll<HTMLAnchorElement>('tbody a') ?? [])];
  const place = () => links().findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const move = (by: number) => {
    const all = links();
    all[Math.max(0, Math.min(all.length - 1, place() + by))]?.focus();
  };
  const current = () => rows[place()]?.item;
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    o: () => {
      const item = current();
      if (item) navigate(hrefOf(item.id));
    },
    x: () => {
      const item = current();
      if (item) onSelect?.(item);
    },
  });
  // Back on the page, the keyboard stands where it left.
  useEffect(() => {
    const last = table.current?.querySelector<HTMLElement>(`[data-id="${desk.place.current}"] a`);
    const isFree = document.activeElement === document.body || document.activeElement?.tagName === 'H1';
    if (isFree) last?.focus();
  }, [desk]);
  return (
    <>
      <table ref={table} className={styles.table} onFocus={hold} onBlur={onBlur}>
        <caption className={styles.unseen}>{queue.title}</caption>
        <Head hasBoxes={onSelect !== null} isInUsd={isInUsd} />
        <tbody>
          {rows.map(({ item, isGone }) => (
            <QueueRow
              key={item.id}
              {...{ item, isGone, operatorId, isInUsd, onSelect }}
              href={hrefOf(item.id)}
              isSelected={selected.has(item.id)}
              onFocus={() => {
                desk.place.current = item.id;
              }}
            />
          ))}
        </tbody>
      </table>
      <p role="status" className={styles.behind}>
        {isBehind && (
          <>
            {queue.behind}{' '}
            <button type="button" onClick={release}>
              {queue.reorder}
            </button>
          </>
        )}
      </p>
    </>
  );
}

function Head({ hasBoxes, isInUsd }: { hasBoxes: boolean; isInUsd: boolean }) {
  const { queue } = useTexts();
  return (
    <thead>
      <tr>
        {hasBoxes && <td />}
        <th scope="col">{queue.number}</th>
        <th scope="col">{queue.partner}</th>
        <th scope="col">{queue.score}</th>
        <th scope="col" data-number>
          {queue.amount}
        </th>
        <th scope="col" data-number>
          {queue.income}
        </th>
        <th scope="col" data-number>
          {queue.share}
        </th>
        <th scope="col" data-number>
          {queue.documents}
        </th>
        {isInUsd && (
          <th scope="col" data-number>
            {queue.reference}
          </th>
        )}
        <th scope="col" data-number>
          {queue.age}
        </th>
        <th scope="col" data-number>
          {queue.due}
        </th>
        <th scope="col">{queue.state}</th>
      </tr>
    </thead>
  );
}
