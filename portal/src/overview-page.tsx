/** The quota of the partner, and what became of its applications by day. */
import { Card, Facts } from '../../console/src/base-ui/card.tsx';
import { RowBar } from '../../console/src/charts/row-bar.tsx';
import { useFormat } from '../../console/src/format/format.ts';
import { type Days, type Quota, useReading } from './api.ts';
import { Page, Read, Table } from './shown.tsx';
import { usePortalTexts } from './texts.ts';

const EVERY_MS = 30_000;
/** From this share on the cap is nearly used. */
const NEARLY = 0.9;
const COUNTS = ['registered', 'refused', 'approved', 'in_review', 'rejected', 'signed', 'disbursed'] as const;

export function OverviewPage() {
  const texts = usePortalTexts();
  return (
    <Page title={texts.pages.overview}>
      <Card title={texts.quota.title}>
        <Read of={useReading<Quota>('/quota', EVERY_MS)}>{(quota) => <Gauge quota={quota} />}</Read>
      </Card>
      <Card title={texts.days.title}>
        <Read of={useReading<Days>('/days', EVERY_MS)}>{(days) => <ByDay days={days} />}</Read>
      </Card>
    </Page>
  );
}

function Gauge({ quota }: { quota: Quota }) {
  const { quota: texts } = usePortalTexts();
  const format = useFormat();
  const { used_24h: used, daily_cap: cap, remaining, reset_seconds: reset } = quota;
  const share = cap === null ? null : Math.min(used / Math.max(cap, 1), 1);
  return (
    <>
      {share !== null && (
        <RowBar
          end={1}
          parts={[
            { value: share, kind: share >= NEARLY ? 'against' : 'plain' },
            { value: 1 - share, kind: 'lost' },
          ]}
        />
      )}
      <Facts
        facts={[
          [texts.used, format.number(used)],
          [texts.cap, cap === null ? texts.noCap : format.number(cap)],
          ...(remaining === null ? [] : [[texts.left, format.number(remaining)] as const]),
          ...(reset === null ? [] : [[texts.reset, texts.minutes(Math.ceil(reset / 60))] as const]),
          [texts.refused, format.number(quota.refused_24h)],
        ]}
      />
    </>
  );
}

function ByDay({ days: { days } }: { days: Days }) {
  const { days: texts } = usePortalTexts();
  const format = useFormat();
  const newest = days.toReversed();
  return (
    <Table
      label={texts.title}
      heads={[texts.day, texts.currency, ...COUNTS.map((name) => texts.counts[name])]}
      none={texts.none}
      lines={newest.map((day) => ({
        id: `${day.day} ${day.currency}`,
        cells: [day.day, day.currency, ...COUNTS.map((name) => format.number(day[name]))],
      }))}
    />
  );
}
