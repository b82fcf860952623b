/** The heading of a page. */
import { type ReactNode, useEffect, useRef } from 'react';
import styles from './page-heading.module.css';

let isFirstPage = true;

/**
 * Names the page in the tab too, and gets the focus where the page changed: a reader of the screen hears where it is.
 * No personal data may stand in `title`: the browser's history keeps it.
 */
export function PageHeading({ title, children }: { title: string; children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Ventanilla`;
  }, [title]);
  useEffect(() => {
    // The first page begins where every page does: before the link that skips the bar.
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
    window.scrollTo(0, 0);
  }, []);
  return (
    <div className={styles.heading}>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </div>
  );
}
