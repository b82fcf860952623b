/** The ways to other pages of a list. The browser's history remembers the pages before. */
import { useTexts } from '../texts/texts.ts';
import styles from './queue.module.css';

interface PagerProps {
  /** What the pages are of. */
  readonly title: string;
  /** The cursor of this page; null: it is the first one. */
  readonly cursor: string | null;
  /** The cursors of the pages before, the first page's left out; null: they are not known. */
  readonly trail: readonly string[] | null;
  readonly next: string | null;
  /** Opens a page with its trail. */
  readonly onOpen: (cursor: string | null, trail: readonly string[]) => void;
}

/** Longer trails lose their beginning: the first page has its own button. */
const LONGEST_TRAIL = 200;

export function Pager({ title, cursor, trail, next, onOpen }: PagerProps) {
  const { queue } = useTexts();
  if (cursor === null && next === null) return null;
  const before = trail ?? [];
  const isSecond = cursor !== null && trail?.length === 0;
  const toNext = () => onOpen(next, [...before, ...(cursor === null ? [] : [cursor])].slice(-LONGEST_TRAIL));
  return (
    <nav className={styles.pager} aria-label={title}>
      <button type="button" disabled={cursor === null} onClick={() => onOpen(null, [])}>
        {queue.first}
      </button>
      <button
        type="button"
        disabled={before.length === 0 && !isSecond}
        onClick={() => onOpen(before.at(-1) ?? null, before.slice(0, -1))}
      >
        {queue.previous}
      </button>
      <button type="button" disabled={next === null} onClick={toNext}>
        {queue.nextPage}
      </button>
    </nav>
  );
}
