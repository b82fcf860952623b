/** The inbox: who waits for a person, whose channel's window closes first. */
import { Link, useLocation, useSearch } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import type { InboxRowReply } from '../../../src/subjects/desk/routes/inbox-forms.ts';
import { failureText } from '../api/failure.ts';
import { type InboxState, useInbox } from '../api/inbox.ts';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { useFormat } from '../format/format.ts';
import { Pager } from '../queue/pager.tsx';
import { useTexts } from '../texts/texts.ts';
import styles from './inbox.module.css';
import { NextPerson } from './next-person.tsx';

const STATES = ['waiting', 'answered'] as const satisfies readonly InboxState[];

export default function InboxPage({ mayAnswer }: { mayAnswer: boolean }) {
  const query = new URLSearchParams(useSearch());
  const state = STATES.find((known) => known === query.get('state')) ?? 'waiting';
  return <List key={state} state={state} cursor={query.get('cursor')} mayAnswer={mayAnswer} />;
}

interface ListProps {
  readonly state: InboxState;
  readonly cursor: string | null;
  readonly mayAnswer: boolean;
}

function List({ state, cursor, mayAnswer }: ListProps) {
  const texts = useTexts();
  const { inbox, frame } = texts;
  const [, navigate] = useLocation();
  const remembered = useHistoryState<{ trail?: readonly string[] } | null>();
  const { data, error } = useInbox(state, cursor);
  const open = (to: string | null, trail: readonly string[]) => {
    const next = new URLSearchParams({ state, ...(to !== null && { cursor: to }) });
    navigate(`/inbox?${next}`, { state: { trail } });
  };
  const shown = data?.body.conversations;
  return (
    <div className={styles.page}>
      <PageHeading title={inbox.title}>{mayAnswer && <NextPerson />}</PageHeading>
      <nav className={styles.lists} aria-label={inbox.lists}>
        {STATES.map((name) => (
          <Link key={name} href={`/inbox?state=${name}`} aria-current={name === state ? 'page' : undefined}>
            {inbox.states[name]}
          </Link>
        ))}
      </nav>
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      {shown?.length === 0 && <p>{inbox.none[state]}</p>}
      {shown !== undefined && shown.length > 0 && <Table rows={shown} title={inbox.states[state]} />}
      {data && (
        <Pager
          {...{ cursor, next: data.body.next, trail: remembered?.trail ?? null }}
          title={inbox.title}
          onOpen={open}
        />
      )}
    </div>
  );
}

function Table({ rows, title }: { rows: readonly InboxRowReply[]; title: string }) {
  const { inbox } = useTexts();
  return (
    <table className={styles.table} aria-label={title}>
      <thead>
        <tr>
          {[
            inbox.application,
            inbox.partner,
            inbox.step,
            inbox.why,
            inbox.waits,
            inbox.window,
            inbox.heldBy,
          ].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.application_id} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row }: { row: InboxRowReply }) {
  const { inbox, codes } = useTexts();
  const format = useFormat();
  const { application_id: id, waits_since: waits, window_until: until, claim } = row;
  return (
    <tr>
      <th scope="row">
        <Link href={`/inbox/${id}`}>{id}</Link>
      </th>
      <td data-label={inbox.partner}>{row.partner.name}</td>
      <td data-label={inbox.step}>{codes.places[row.step]}</td>
      <td data-label={inbox.why}>{row.why === null ? '—' : inbox.reasons[row.why]}</td>
      <td data-label={inbox.waits}>{waits === null ? '—' : format.relative(waits)}</td>
      <td data-label={inbox.window}>{until === null ? inbox.never : format.relative(until)}</td>
      <td data-label={inbox.heldBy}>{claim === null ? inbox.nobody : claim.by.login}</td>
    </tr>
  );
}
