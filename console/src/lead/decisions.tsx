/** Decisions by hour or by day: a picture, and the table that says the same. */
import { scaleBand } from 'd3-scale';
import type { LeadReply } from '../../../src/subjects/desk/routes/work-forms.ts';
import { timeNow } from '../api/service-time.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import charts from '../charts/charts.module.css';
import { Legend } from '../charts/legend.tsx';
import { HEIGHT, StackAxis, stackScale } from '../charts/stack-axis.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { ACTS, type Bar, decisionBars, namedBars, type Span, spanOf } from './decision-bars.ts';
import styles from './lead.module.css';
import { useSpanFormat } from './span-format.ts';

export function Decisions({ lead: { hours, days } }: { lead: LeadReply }) {
  const { lead: texts } = useTexts();
  const format = useFormat();
  const span = spanOf(days);
  const bars = decisionBars(hours, days, timeNow());
  const total = bars.reduce((sum, bar) => sum + bar.total, 0);
  const most = Math.max(...bars.map((bar) => bar.total));
  return (
    <Card
      title={span === 'hour' ? texts.anHour : texts.aDay}
      beside={<strong>{texts.decisions(total, format.number(total))}</strong>}
    >
      <Legend entries={ACTS.map((act) => [act, texts.acts[act]] as const)} />
      <Picture bars={bars} most={most} label={texts.pictureOf(format.number(total), format.number(most))} />
      <details className={styles.details}>
        <summary>{texts.asTable}</summary>
        {/* Its columns do not fit a phone; the keyboard scrolls it too. */}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls takes the focus. */}
        <section className={card.scroll} aria-label={texts.asTable} tabIndex={0}>
          <DecisionTable bars={bars.filter((bar) => bar.total > 0)} span={span} />
        </section>
      </details>
    </Card>
  );
}

function Picture({ bars, most, label }: { bars: readonly Bar[]; most: number; label: string }) {
  const { label: nameOf } = useSpanFormat();
  const format = useFormat();
  const x = scaleBand(
    bars.map(({ from }) => from),
    [0, 100],
  ).paddingInner(0.2);
  const y = stackScale(most);
  const named = namedBars(bars);
  return (
    <svg className={charts.stack} height={HEIGHT} role="img" aria-label={label}>
      <StackAxis y={y} text={format.number} />
      {bars.map((bar) => (
        <Stack key={bar.from} bar={bar} x={x(bar.from)!} width={x.bandwidth()} y={y} />
      ))}
      {named.map(({ from }) => (
        <text key={from} className={charts.label} x={`${x(from)}%`} y={HEIGHT - 6}>
          {nameOf(from, bars.length)}
        </text>
      ))}
    </svg>
  );
}

interface StackProps {
  readonly bar: Bar;
  /** In hundredths of the picture's width, as `width`. */
  readonly x: number;
  readonly width: number;
  readonly y: (count: number) => number;
}

function Stack({ bar, x, width, y }: StackProps) {
  let below = 0;
  return ACTS.filter((act) => bar[act] > 0).map((act) => {
    const bottom = y(below);
    below += bar[act];
    return (
      <rect
        key={act}
        className={charts[act]}
        x={`${x}%`}
        width={`${width}%`}
        y={y(below)}
        height={bottom - y(below)}
      />
    );
  });
}

function DecisionTable({ bars, span }: { bars: readonly Bar[]; span: Span }) {
  const { lead: texts } = useTexts();
  const { whole } = useSpanFormat();
  const format = useFormat();
  return (
    <table className={card.table}>
      <thead>
        <tr>
          <th scope="col">{texts.when}</th>
          {ACTS.map((act) => (
            <th key={act} scope="col">
              {texts.acts[act]}
            </th>
          ))}
          <th scope="col">{texts.all}</th>
        </tr>
      </thead>
      <tbody>
        {bars.map((bar) => (
          <tr key={bar.from}>
            <th scope="row">{whole(bar.from, span)}</th>
            {ACTS.map((act) => (
              <td key={act}>{format.number(bar[act])}</td>
            ))}
            <td>{format.number(bar.total)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
