/** Decisions before and after, three by three. */
import { DECISIONS } from '../../../src/domain/scorecard/scorecard.ts';
import card from '../base-ui/card.module.css';
import { useFormat } from '../format/format.ts';
import styles from './policies.module.css';
import { usePolicyTexts } from './policy-texts.ts';
import { approvalsOf, changes, type SwapRows } from './swaps.ts';

export function SwapTable({ rows }: { rows: SwapRows }) {
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

/** The same with the approval rate and the changes in words. `isTold`: screen readers hear of each change. */
export function Swapped({ rows, isTold = false }: { rows: SwapRows; isTold?: boolean }) {
  const policies = usePolicyTexts();
  const format = useFormat();
  const { all, before, after } = approvalsOf(rows);
  const rate = (count: number) => (all === 0 ? '—' : format.percent(count / all));
  return (
    <>
      <SwapTable rows={rows} />
      <p>
        {policies.approvalRate}: {policies.rates(rate(before), rate(after))}
      </p>
      <div role={isTold ? 'status' : undefined}>
        <ul>
          {changes(rows, policies, format.number).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </div>
    </>
  );
}
