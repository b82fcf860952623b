/** Why a partner got an event or not: what waits, and what became of each attempt. One event is found by its ID. */
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import type { DeliveriesReply } from '../../../src/subjects/events/push/routes/endpoint.ts';
import { failureText } from '../api/failure.ts';
import { useDeliveries } from '../api/partners.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { RowTable } from '../base-ui/row-table.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { failureWords, useEndpointTexts } from './endpoint-texts.ts';
import styles from './partners.module.css';

export function Deliveries({ id, newest }: { id: string; newest: DeliveriesReply }) {
  const texts = useEndpointTexts();
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState('');
  const find = (event: FormEvent) => {
    event.preventDefault();
    setAsked(typed.trim());
  };
  return (
    <Card title={texts.deliveries}>
      <form className={styles.find} onSubmit={find}>
        <label>
          {texts.eventId}
          <input
            maxLength={200}
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
        <button type="submit">{texts.find}</button>
      </form>
      {asked === '' ? <Newest of={newest} /> : <OfEvent key={asked} id={id} eventId={asked} />}
    </Card>
  );
}

function Newest({ of: { pushes, attempts } }: { of: DeliveriesReply }) {
  const texts = useEndpointTexts();
  return (
    <>
      <h3 className={styles.tableHead}>{texts.waitingEvents}</h3>
      {pushes.length === 0 ? <p>{texts.noneWaits}</p> : <Waiting pushes={pushes} />}
      <h3 className={styles.tableHead}>{texts.attemptsMade}</h3>
      {attempts.length === 0 ? <p>{texts.noAttempts}</p> : <Attempts attempts={attempts} />}
    </>
  );
}

/** What is known of one event, and what that means where it waits no more. */
function OfEvent({ id, eventId }: { id: string; eventId: string }) {
  const texts = useEndpointTexts();
  const all = useTexts();
  const { data, error } = useDeliveries(id, eventId);
  if (error) return <p role="alert">{failureText(error, all, { 404: texts.noSuchEvent })}</p>;
  if (!data) return <p>{all.frame.loading}</p>;
  const { pushes, attempts } = data.body;
  return (
    <>
      {pushes.length > 0 && <Waiting pushes={pushes} />}
      {pushes.length === 0 && <p role="status">{endText(attempts[0]?.result, texts)}</p>}
      {attempts.length > 0 && <Attempts attempts={attempts} />}
    </>
  );
}

type Attempt = DeliveriesReply['attempts'][number];

/** What a last attempt with this result means, of an event that does not wait. */
function endText(last: Attempt['result'] | undefined, texts: ReturnType<typeof useEndpointTexts>): string {
  if (last === undefined) return texts.neverQueued;
  return last === 'delivered' || last === 'forgotten' ? texts[last] : texts.takenBack;
}

function Waiting({ pushes }: Pick<DeliveriesReply, 'pushes'>) {
  const texts = useEndpointTexts();
  const format = useFormat();
  return (
    <RowTable
      label={texts.waitingEvents}
      heads={[texts.event, texts.application, texts.attempts, texts.next, texts.why]}
      rows={pushes.map((push) => ({
        id: push.event_id,
        cells: [
          <EventId key="event" id={push.event_id} />,
          <Link key="application" href={`/applications/${push.application_id}`}>
            {push.application_id}
          </Link>,
          format.number(push.attempts),
          push.is_behind ? texts.behind : format.time(push.due_at),
          push.last_failure === null ? '—' : failureWords(push.last_failure, texts),
        ],
      }))}
    />
  );
}

function Attempts({ attempts }: Pick<DeliveriesReply, 'attempts'>) {
  const texts = useEndpointTexts();
  const format = useFormat();
  return (
    <RowTable
      label={texts.attemptsMade}
      heads={[texts.at, texts.result, texts.attempt, texts.what, texts.application, texts.event]}
      rows={attempts.map((one) => ({
        id: `${one.event_id} ${one.at} ${one.attempt}`,
        cells: [
          format.time(one.at),
          <Result key="result" of={one} />,
          format.number(one.attempt),
          <span key="type" className={styles.id}>
            {one.type ?? '—'}
          </span>,
          one.application_id === null ? (
            '—'
          ) : (
            <Link key="application" href={`/applications/${one.application_id}`}>
              {one.application_id}
            </Link>
          ),
          <EventId key="event" id={one.event_id} />,
        ],
      }))}
    />
  );
}

function Result({ of: { result, failure } }: { of: Attempt }) {
  const texts = useEndpointTexts();
  if (result === 'delivered') return <span className={card.chip}>{texts.delivered}</span>;
  if (result !== 'failed') return texts[result];
  return failure === null ? texts.failed : texts.failedWith(failureWords(failure, texts));
}

function EventId({ id }: { id: string }) {
  return <span className={styles.id}>{id}</span>;
}
