/** A table of things, each with its values. On a phone each row is a card. */
import type { ReactNode } from 'react';
import rows from './rows.module.css';
import unseen from './unseen.module.css';

interface RowTableProps {
  readonly label: string;
  readonly heads: readonly string[];
  /** The first cell names the row. */
  readonly rows: readonly { readonly id: string | number; readonly cells: readonly ReactNode[] }[];
}

export function RowTable({ label, heads, rows: shown }: RowTableProps) {
  return (
    <table className={rows.rows}>
      <caption className={unseen.unseen}>{label}</caption>
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {shown.map(({ id, cells: [name, ...cells] }) => (
          <tr key={id}>
            <th scope="row">{name}</th>
            {cells.map((cell, at) => (
              <td key={heads[at + 1]} data-label={heads[at + 1]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
