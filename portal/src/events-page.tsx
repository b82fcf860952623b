/** The events of the partner, and how their pushes to its endpoint stand. */
import { useState } from 'react';
import { Card, Facts } from '../../console/src/base-ui/card.tsx';
import { useFormat } from '../../console/src/format/format.ts';
import { type Deliveries, type Events, useReading } from './api.ts';
import styles from './portal.module.css';
import { Page, Read, Table } from './shown.tsx';
import { usePortalTexts } from './texts.ts';

const EVERY_MS = 15_000;

export function EventsPage() {
  const texts = usePortalTexts();
  return (
    <Page title={texts.pages.events}>
      <Card title={texts.deliveries.title}>
        <Read of={useReading<Deliveries>('/deliveries', EVERY_MS)}>
          {(deliveries) => <Endpoint deliveries={deliveries} />}
        </Read>
      </Card>
      <Card title={texts.events.title}>
        <EventList />
      </Card>
    </Page>
  );
}

function Endpoint({ deliveries: { endpoint, pushes } }: { deliveries: Deliveries }) {
  const { deliveries: texts } = usePortalTexts();
  const format = useFormat();
  if (endpoint === null) return <p>{texts.noEndpoint}</p>;
  const timeOr = (time: string | null) => (time === null ? '—' : format.time(time));
  return (
    <>
      <Facts
        facts={[
          [texts.host, endpoint.host ?? '—'],
          [texts.standing, standingOf(endpoint, texts)],
          [texts.lastSuccess, timeOr(endpoint.last_success_at)],
          [texts.lastFailure, timeOr(endpoint.last_failure_at)],
          ...(endpoint.last_failure === null ? [] : [[texts.failure, endpoint.last_failure] as const]),
          [texts.waiting, format.number(endpoint.waiting)],
        ]}
      />
      <Table
        label={texts.pushes}
        heads={[texts.event, texts.application, texts.attempts, texts.due]}
        none={texts.nonePushed}
        lines={pushes.map((push) => ({
          id: push.event_id,
          cells: [push.event_id, push.application_id, push.attempts, format.time(push.due_at)],
        }))}
      />
    </>
  );
}

function standingOf(
  { disabled_at, broken_at }: NonNullable<Deliveries['endpoint']>,
  texts: ReturnType<typeof usePortalTexts>['deliveries'],
): string {
  if (disabled_at !== null) return texts.disabled;
  return broken_at === null ? texts.works : texts.broken;
}

/** Page by page, the newest first. */
function EventList() {
  const { events: texts } = usePortalTexts();
  const format = useFormat();
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const read = useReading<Events>(cursor === undefined ? '/events' : `/events?cursor=${cursor}`);
  return (
    <Read of={read}>
      {({ events, next }) => (
        <>
          <Table
            label={texts.title}
            heads={[texts.time, texts.type, texts.application, texts.change]}
            none={texts.none}
            lines={events.map((event) => ({
              id: event.id,
              cells: [format.time(event.at), event.type, event.application_id, changeOf(event)],
            }))}
          />
          <div className={styles.acts}>
            {cursors.length > 0 && (
              <button type="button" onClick={() => setCursors(cursors.slice(0, -1))}>
                {texts.newer}
              </button>
            )}
            {next !== null && (
              <button type="button" onClick={() => setCursors([...cursors, next])}>
                {texts.older}
              </button>
            )}
          </div>
        </>
      )}
    </Read>
  );
}

function changeOf({ from, to, reason_code: reason, message }: Events['events'][number]): string {
  const move = from === null ? [] : [`${from} → ${to}`];
  return [...move, ...[reason, message].filter((part) => part !== null)].join(', ') || '—';
}
