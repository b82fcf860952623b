/** Decisions before and after, three by three. */
import { DECISIONS } from '../../../src/domain/scorecard/scorecard.ts';
import card from '../base-ui/card.module.css';
import { useFormat } from '../format/format.ts';
import styles from './policies.module.css';
import { usePolicyTexts } from './policy-texts.ts';

/** By the decision before, then by the one after, in their order. */
export function SwapTable({ rows }: { rows: readonly (readonly number[])[] }) {
  const policies = usePolicyTexts();
  const format = useFormat();
  const sum = (some: readonly number[]) => some.reduce((total, count) => total + count, 0);
  return (
    <table className={`${card.table} ${styles.swaps}`}>
      <caption>
        {policies.before} ↓ {policies.after} →
      </caption>
      <thead>
        <tr>
          <td />
          {DECISIONS.map((after) => (
            <th key={after} scope="col">
              {policies.decisions[after]}
            </th>
          ))}
          <th scope="col">{policies.all}</th>
        </tr>
      </thead>
      <tbody>
        {DECISIONS.map((before, index) => (
          <tr key={before}>
            <th scope="row">{policies.decisions[before]}</th>
            {DECISIONS.map((after, at) => (
              <td key={after} className={before === after ? styles.same : undefined}>
                {format.number(rows[index]?.[at] ?? 0)}
              </td>
            ))}
            <td>{format.number(sum(rows[index] ?? []))}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{policies.all}</th>
          {DECISIONS.map((after, at) => (
            <td key={after}>{format.number(sum(rows.map((row) => row[at] ?? 0)))}</td>
          ))}
          <td>{format.number(sum(rows.flat()))}</td>
        </tr>
      </tfoot>
    </table>
  );
}
