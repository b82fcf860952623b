/** What the pages share: a page with its heading, what was not read yet, and tables. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { failureText } from '../../console/src/api/failure.ts';
import { PageHeading } from '../../console/src/base-ui/page-heading.tsx';
import { RowTable } from '../../console/src/base-ui/row-table.tsx';
import { useTexts } from '../../console/src/texts/texts.ts';
import styles from './portal.module.css';

export function Page({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={styles.page}>
      <PageHeading title={title} />
      {children}
    </div>
  );
}

/** What was read, or that it is on its way, or why it cannot be had. */
export function Read<Reply>({
  of: { data, error },
  children,
}: {
  of: UseQueryResult<Reply>;
  children: (reply: Reply) => ReactNode;
}) {
  const texts = useTexts();
  return (
    <>
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {data === undefined ? !error && <p>{texts.frame.loading}</p> : children(data)}
    </>
  );
}

interface TableProps {
  readonly label: string;
  readonly heads: readonly string[];
  /** The first cell names the row. */
  readonly lines: readonly { readonly id: string | number; readonly cells: readonly ReactNode[] }[];
  /** What stands there without rows. */
  readonly none: string;
}

export function Table({ label, heads, lines, none }: TableProps) {
  return lines.length === 0 ? <p>{none}</p> : <RowTable {...{ label, heads, rows: lines }} />;
}
