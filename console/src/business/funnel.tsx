/** The way from the registration to the payment as a picture: how many took each step, and where people leave. */
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { Legend } from '../charts/legend.tsx';
import { RowBar } from '../charts/row-bar.tsx';
import { useFormat } from '../format/format.ts';
import { Heads, WideTable } from '../lead/wide-table.tsx';
import { useBusinessTexts } from './business-texts.ts';
import { useRates } from './parts.tsx';
import { funnelOf, type Row, sumsOf } from './sums.ts';

export function Funnel({ rows }: { rows: readonly Row[] }) {
  const business = useBusinessTexts();
  const format = useFormat();
  const { rate } = useRates();
  const steps = funnelOf(sumsOf(rows));
  const end = Math.max(...steps.map(({ count, lost }) => count + lost));
  const { count: all } = steps[0]!;
  return (
    <Card title={business.funnel}>
      <Legend
        entries={[
          ['got', business.took],
          ['lost', business.left],
        ]}
      />
      <WideTable label={business.funnel}>
        <Heads of={[business.step, business.took, business.share, business.left]} />
        <tbody>
          {steps.map(({ step, count, lost }) => (
            <tr key={step}>
              <th scope="row">
                <span>{business.counts[step === 'approved' ? 'approvals' : step]}</span>
                <RowBar
                  end={end}
                  parts={[
                    { value: count, kind: 'got' },
                    { value: lost, kind: 'lost' },
                  ]}
                />
              </th>
              <td>{format.number(count)}</td>
              <td>{rate(all === 0 ? null : count / all)}</td>
              <td>{step === 'registered' ? '—' : format.number(lost)}</td>
            </tr>
          ))}
        </tbody>
      </WideTable>
      <p className={card.quiet}>{business.funnelNote}</p>
    </Card>
  );
}
