/** What the live policy does: decisions by day with the activations as marks, scores, reasons, drift, shadows. */
import { scaleBand } from 'd3-scale';
import { Link } from 'wouter';
import type { WatchReply } from '../../../src/subjects/evaluation/routes/forms.ts';
import { useWatch } from '../api/policies.ts';
import { timeNow } from '../api/service-time.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import charts from '../charts/charts.module.css';
import { Legend } from '../charts/legend.tsx';
import { RowBar } from '../charts/row-bar.tsx';
import { GROUND, HEIGHT, StackAxis, stackScale } from '../charts/stack-axis.tsx';
import { useFormat } from '../format/format.ts';
import lead from '../lead/lead.module.css';
import { useLanguage, useTexts } from '../texts/texts.ts';
import { CountingNote } from './counting.tsx';
import { type Day, everyDay } from './days.ts';
import styles from './policies.module.css';
import { useFailure, usePolicyTexts } from './policy-texts.ts';
import { ShadowList } from './shadow-list.tsx';
import { Scroll } from './versions-view.tsx';

const KINDS = ['approved', 'in_review', 'rejected'] as const;
const COLOURS = { approved: 'approved', in_review: 'disbursed', rejected: 'rejected' } as const;
/** So many days have a name on a phone. */
const MOST_NAMES = 4;

export function WatchView() {
  const policies = usePolicyTexts();
  const { frame } = useTexts();
  const failure = useFailure();
  const { data, error } = useWatch();
  const watch = data?.body;
  return (
    <>
      {error && <p role="alert">{failure(error)}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      <CountingNote reply={watch} />
      {watch && !watch.counting && watch.applications === 0 && <p>{policies.nobody}</p>}
      {watch && !watch.counting && (
        <>
          {watch.applications > 0 && <Days watch={watch} />}
          <div className={styles.two}>
            <Scores watch={watch} />
            <Reasons watch={watch} />
            <Drift watch={watch} />
            <Shadows watch={watch} />
          </div>
        </>
      )}
    </>
  );
}

const totalOf = (day: Day) => day.approved + day.in_review + day.rejected;

function Days({ watch }: { watch: WatchReply }) {
  const policies = usePolicyTexts();
  const { lead: texts } = useTexts();
  const format = useFormat();
  const { applications, activations, since } = watch;
  const days = since === null ? watch.days : everyDay(watch.days, since, timeNow());
  const approved = days.reduce((sum, day) => sum + day.approved, 0);
  const marks = Map.groupBy(activations, ({ at }) => at.slice(0, 10));
  return (
    <Card title={policies.byDay}>
      <p className={card.quiet}>
        {policies.byDayNote(format.percent(approved / applications), format.number(applications))}
      </p>
      <ul>
        {watch.versions.map(({ version, ...counts }) => {
          const all = counts.approved + counts.in_review + counts.rejected;
          return (
            <li key={version}>
              {policies.rateOf(version, format.percent(counts.approved / all), format.number(all))}
            </li>
          );
        })}
      </ul>
      <Legend
        entries={[
          ...KINDS.map((kind) => [COLOURS[kind], policies.decisions[kind]] as const),
          ['mark', policies.activation] as const,
        ]}
      />
      <Picture
        days={days}
        marked={new Set(marks.keys())}
        label={policies.picture(format.number(days.length), format.number(applications))}
      />
      <details className={lead.details}>
        <summary>{texts.asTable}</summary>
        <Scroll label={policies.byDay}>
          <table className={card.table}>
            <thead>
              <tr>
                <th scope="col">{policies.day}</th>
                {KINDS.map((kind) => (
                  <th key={kind} scope="col">
                    {policies.decisions[kind]}
                  </th>
                ))}
                <th scope="col">{policies.approvalRate}</th>
                <th scope="col" className={card.words}>
                  {policies.activated}
                </th>
              </tr>
            </thead>
            <tbody>
              {days
                .filter((day) => totalOf(day) > 0 || marks.has(day.day))
                .map((day) => (
                  <tr key={day.day}>
                    <th scope="row">{day.day}</th>
                    {KINDS.map((kind) => (
                      <td key={kind}>{format.number(day[kind])}</td>
                    ))}
                    <td>{format.percent(day.approved / Math.max(totalOf(day), 1))}</td>
                    <td className={card.words}>
                      {marks
                        .get(day.day)
                        ?.map(({ version }) => version)
                        .join(', ')}
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </Scroll>
      </details>
    </Card>
  );
}

interface PictureProps {
  readonly days: readonly Day[];
  /** The days with an activation. */
  readonly marked: ReadonlySet<string>;
  readonly label: string;
}

function Picture({ days, marked, label }: PictureProps) {
  const format = useFormat();
  const x = scaleBand(
    days.map(({ day }) => day),
    [0, 100],
  ).paddingInner(0.2);
  const y = stackScale(Math.max(...days.map(totalOf), 0));
  const every = Math.ceil(days.length / MOST_NAMES);
  return (
    <svg className={charts.stack} height={HEIGHT} role="img" aria-label={label}>
      <StackAxis y={y} text={format.number} />
      {days.map((day, index) => {
        let below = 0;
        return (
          <g key={day.day}>
            {KINDS.filter((kind) => day[kind] > 0).map((kind) => {
              const bottom = y(below);
              below += day[kind];
              return (
                <rect
                  key={kind}
                  className={charts[COLOURS[kind]]}
                  x={`${x(day.day)}%`}
                  width={`${x.bandwidth()}%`}
                  y={y(below)}
                  height={bottom - y(below)}
                />
              );
            })}
            {marked.has(day.day) && (
              <line className={styles.mark} x1={`${x(day.day)}%`} x2={`${x(day.day)}%`} y1={0} y2={GROUND} />
            )}
            {index % every === 0 && (
              <text className={charts.label} x={`${x(day.day)}%`} y={HEIGHT - 6}>
                {day.day.slice(5)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

interface Row {
  readonly name: string;
  readonly count: number;
}

/** Counts as bars in the rows of the table that has them in figures. */
function CountTable({ rows, all, head }: { rows: readonly Row[]; all: number; head: string }) {
  const policies = usePolicyTexts();
  const format = useFormat();
  const end = Math.max(...rows.map(({ count }) => count), 1);
  return (
    <table className={card.table}>
      <thead>
        <tr>
          <th scope="col">{head}</th>
          <th scope="col">{policies.count}</th>
          <th scope="col">{policies.share}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, count }) => (
          <tr key={name}>
            <th scope="row">
              <span>{name}</span>
              <RowBar end={end} parts={[{ value: count, kind: 'plain' }]} />
            </th>
            <td>{format.number(count)}</td>
            <td>{all === 0 ? '—' : format.percent(count / all)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Scores({ watch: { scores, applications } }: { watch: WatchReply }) {
  const policies = usePolicyTexts();
  const rows = scores.map((count, index) => ({
    name: index === scores.length - 1 ? `${index * 10}–100` : `${index * 10}–${index * 10 + 9}`,
    count,
  }));
  return (
    <Card title={policies.scores}>
      <CountTable rows={rows} all={applications} head={policies.score} />
    </Card>
  );
}

function Reasons({ watch: { reasons, applications } }: { watch: WatchReply }) {
  const policies = usePolicyTexts();
  const language = useLanguage();
  const rows = reasons.map(({ code, texts, count }) => ({ name: texts?.[language] ?? code, count }));
  return (
    <Card title={policies.reasonsTitle}>
      {rows.length === 0 ? (
        <p>{policies.noReasons}</p>
      ) : (
        <CountTable rows={rows} all={applications} head={policies.why} />
      )}
    </Card>
  );
}

function Drift({ watch: { drift } }: { watch: WatchReply }) {
  const policies = usePolicyTexts();
  const { codes } = useTexts();
  const format = useFormat();
  if (drift === null) return null;
  const nameOf = (name: string) =>
    name === 'decision' ? policies.decision : (codes.criteria[name as keyof typeof codes.criteria] ?? name);
  return (
    <Card title={policies.drift}>
      <p className={card.quiet}>
        {policies.driftNote(drift.version, format.number(drift.applications), format.number(drift.baseline))}
      </p>
      <table className={card.table}>
        <thead>
          <tr>
            <th scope="col">{policies.attribute}</th>
            <th scope="col">{policies.psi}</th>
            <th scope="col">{policies.threshold}</th>
            <th scope="col">{policies.state}</th>
          </tr>
        </thead>
        <tbody>
          {drift.rows.map(({ characteristic, psi, threshold, alert }) => (
            <tr key={characteristic}>
              <th scope="row">
                <span>{nameOf(characteristic)}</span>
                {psi !== null && threshold !== null && (
                  <RowBar
                    end={Math.max(threshold * 2, psi)}
                    mark={threshold}
                    parts={[{ value: psi, kind: alert ? 'against' : 'plain' }]}
                  />
                )}
              </th>
              <td>{psi === null ? '—' : format.number(psi)}</td>
              <td>{threshold === null ? '—' : format.number(threshold)}</td>
              <td>{psi === null ? policies.few : alert ? policies.alert : policies.fine}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function Shadows({ watch: { shadows } }: { watch: WatchReply }) {
  const policies = usePolicyTexts();
  return (
    <Card title={policies.shadows}>
      <ShadowList shadows={shadows} />
      <p>
        <Link href={`/policies?${new URLSearchParams({ view: 'trial' })}`}>{policies.view.trial}</Link>
      </p>
    </Card>
  );
}
