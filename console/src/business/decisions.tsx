/** The decisions at the registration by period: a picture, and the table that says the same. */
import { scaleBand } from 'd3-scale';
import type { BusinessPeriodReply } from '../../../src/subjects/business/routes/business.ts';
import { Card } from '../base-ui/card.tsx';
import charts from '../charts/charts.module.css';
import { Legend } from '../charts/legend.tsx';
import { HEIGHT, StackAxis, stackScale } from '../charts/stack-axis.tsx';
import { useFormat } from '../format/format.ts';
import lead from '../lead/lead.module.css';
import { Heads, WideTable } from '../lead/wide-table.tsx';
import { useTexts } from '../texts/texts.ts';
import { useBusinessTexts } from './business-texts.ts';
import { everyPeriod } from './sums.ts';

type Period = BusinessPeriodReply['series'][number];

const KINDS = ['approved', 'in_review', 'rejected'] as const;
const COLOURS = { approved: 'approved', in_review: 'disbursed', rejected: 'rejected' } as const;
/** So many days have a name on a phone. */
const MOST_NAMES = 4;

const totalOf = (period: Period) => period.approved + period.in_review + period.rejected;

export function Decisions({ shown }: { shown: BusinessPeriodReply }) {
  const business = useBusinessTexts();
  const { lead: texts } = useTexts();
  const format = useFormat();
  const known = new Map(shown.series.map((one) => [one.period, one]));
  const periods = everyPeriod(shown.by, shown.series_since, shown.period).map(
    (period) => known.get(period) ?? { period, approved: 0, in_review: 0, rejected: 0 },
  );
  const all = periods.reduce((sum, one) => sum + totalOf(one), 0);
  const title = business.decisions[shown.by];
  return (
    <Card title={title}>
      <Legend entries={KINDS.map((kind) => [COLOURS[kind], business.kinds[kind]] as const)} />
      <Picture periods={periods} label={business.picture(format.number(all))} />
      <details className={lead.details}>
        <summary>{texts.asTable}</summary>
        <WideTable label={title}>
          <Heads of={[business.period, ...KINDS.map((kind) => business.kinds[kind])]} />
          <tbody>
            {periods.map((one) => (
              <tr key={one.period}>
                <th scope="row">{one.period}</th>
                {KINDS.map((kind) => (
                  <td key={kind}>{format.number(one[kind])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </WideTable>
      </details>
    </Card>
  );
}

function Picture({ periods, label }: { periods: readonly Period[]; label: string }) {
  const format = useFormat();
  const x = scaleBand(
    periods.map(({ period }) => period),
    [0, 100],
  ).paddingInner(0.2);
  const y = stackScale(Math.max(...periods.map(totalOf)));
  const every = Math.ceil(periods.length / MOST_NAMES);
  return (
    <svg className={charts.stack} height={HEIGHT} role="img" aria-label={label}>
      <StackAxis y={y} text={format.number} />
      {periods.map((one, index) => (
        <g key={one.period}>
          <Stack period={one} x={x(one.period)!} width={x.bandwidth()} y={y} />
          {index % every === 0 && index <= periods.length - every && (
            <text className={charts.label} x={`${x(one.period)}%`} y={HEIGHT - 6}>
              {one.period.slice(2)}
            </text>
          )}
        </g>
      ))}
    </svg>
  );
}

interface StackProps {
  readonly period: Period;
  /** In hundredths of the picture's width, as `width`. */
  readonly x: number;
  readonly width: number;
  readonly y: (count: number) => number;
}

function Stack({ period, x, width, y }: StackProps) {
  let below = 0;
  return KINDS.filter((kind) => period[kind] > 0).map((kind) => {
    const bottom = y(below);
    below += period[kind];
    const top = y(below);
    return (
      <rect
        key={kind}
        className={charts[COLOURS[kind]]}
        x={`${x}%`}
        width={`${width}%`}
        y={top}
        height={bottom - top}
      />
    );
  });
}
