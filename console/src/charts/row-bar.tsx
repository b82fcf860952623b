/** A bar in a row of a table whose cells say the same in figures. */
import { scaleLinear } from 'd3-scale';
import styles from './charts.module.css';

interface RowBarProps {
  /** One after the other, from the start of the row. */
  readonly parts: readonly { readonly value: number; readonly kind: 'got' | 'lost' | 'plain' | 'against' }[];
  /** The value at the end of the row: the same one in all rows of the table. */
  readonly end: number;
  /** A value that all rows are compared with. */
  readonly mark?: number | null;
}

export function RowBar({ parts, end, mark = null }: RowBarProps) {
  const x = scaleLinear([0, Math.max(end, Number.MIN_VALUE)], [0, 100]).clamp(true);
  let at = 0;
  const placed = parts.map(({ value, kind }) => {
    const from = at;
    at += value;
    return { kind, x: x(from), width: x(at) - x(from) };
  });
  return (
    <svg className={styles.rowBar} aria-hidden="true">
      {placed.map(({ kind, x, width }) => (
        <rect key={`${kind} ${x}`} className={styles[kind]} x={`${x}%`} width={`${width}%`} height="100%" />
      ))}
      {mark !== null && (
        <line className={styles.mark} x1={`${x(mark)}%`} x2={`${x(mark)}%`} y1="0" y2="100%" />
      )}
    </svg>
  );
}
