/** The views beside the queue: what is to pay, what waits for whom, what was decided. The address has the filters. */
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { VIEWS } from '../../../src/domain/application/views.ts';
import type { ViewItemReply, ViewPageReply } from '../../../src/subjects/desk/routes/view-forms.ts';
import { failureText } from '../api/failure.ts';
import { useView, type ViewAddress, viewHref, viewOf } from '../api/find.ts';
import { useQueuePartners } from '../api/queue.ts';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { useFindTexts } from '../find/find-texts.ts';
import { useFormat } from '../format/format.ts';
import { Pager } from '../queue/pager.tsx';
import { useTexts } from '../texts/texts.ts';
import styles from './views.module.css';

/** The service counts no further. */
const MOST_COUNTED = 10_000;

export default function ViewsPage() {
  const texts = useTexts();
  const find = useFindTexts();
  const [, navigate] = useLocation();
  const search = useSearch();
  const remembered = useHistoryState<{ trail?: readonly string[] } | null>();
  const address = viewOf(search);
  const cursor = new URLSearchParams(search).get('cursor');
  const { data, error } = useView(address, cursor);
  const open = (to: string | null, trail: readonly string[]) =>
    navigate(viewHref(address, to), { state: { trail } });
  return (
    <div className={styles.page}>
      <PageHeading title={`${find.title}: ${find.views[address.view]}`}>
        {data && <Count count={data.body.count} />}
      </PageHeading>
      <nav className={styles.views} aria-label={find.title}>
        {VIEWS.map((view) => (
          <Link
            key={view}
            href={viewHref({ ...address, view })}
            aria-current={view === address.view ? 'page' : undefined}
          >
            {find.views[view]}
          </Link>
        ))}
      </nav>
      <Filters key={viewHref(address)} address={address} onChange={(to) => navigate(viewHref(to))} />
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!data && !error && <p>{texts.frame.loading}</p>}
      {data && (
        <>
          <Rows page={data.body} view={address.view} />
          <Pager
            {...{ cursor, next: data.body.next, trail: remembered?.trail ?? null }}
            title={find.title}
            onOpen={open}
          />
        </>
      )}
    </div>
  );
}

function Count({ count }: Pick<ViewPageReply, 'count'>) {
  const find = useFindTexts();
  const format = useFormat();
  if (count === null) return null;
  const text = format.number(count);
  return <p className={styles.quiet}>{find.count(count, count >= MOST_COUNTED ? `${text}+` : text)}</p>;
}

interface FiltersProps {
  readonly address: ViewAddress;
  readonly onChange: (address: ViewAddress) => void;
}

/** What is typed counts with Enter, or when the field is left. */
function Filters({ address, onChange }: FiltersProps) {
  const { queue } = useTexts();
  const find = useFindTexts();
  const partners = useQueuePartners();
  const [typed, setTyped] = useState(address);
  const set = (change: Partial<Record<'partner' | 'currency' | 'from' | 'to', string>>) => ({
    ...typed,
    ...change,
  });
  const commit = () => {
    if (viewHref(typed) !== viewHref(address)) onChange(typed);
  };
  const isPartnerUnknown =
    address.partner !== undefined && !partners.some(({ id }) => String(id) === address.partner);
  const { view, ...filters } = address;
  return (
    <form
      className={styles.filters}
      aria-label={find.filters}
      onSubmit={(event) => {
        event.preventDefault();
        commit();
      }}
    >
      <label>
        {queue.partner}
        <select
          value={address.partner ?? ''}
          onChange={({ target }) => onChange(set({ partner: target.value }))}
        >
          <option value="">{queue.any}</option>
          {isPartnerUnknown && <option value={address.partner}>{address.partner}</option>}
          {partners.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        {find.currency}
        <input
          size={4}
          maxLength={3}
          pattern="[A-Z]{3}"
          value={typed.currency ?? ''}
          onChange={({ target }) => setTyped(set({ currency: target.value.toUpperCase() }))}
          onBlur={commit}
        />
      </label>
      {(['from', 'to'] as const).map((name) => (
        <label key={name}>
          {find[name]}
          <input
            type="date"
            value={typed[name] ?? ''}
            onChange={({ target }) => setTyped(set({ [name]: target.value }))}
            onBlur={commit}
          />
        </label>
      ))}
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={() => onChange({ view })}>
          {queue.clear}
        </button>
      )}
    </form>
  );
}

function Rows({ page: { applications, next }, view }: { page: ViewPageReply; view: ViewAddress['view'] }) {
  const { queue } = useTexts();
  const find = useFindTexts();
  if (applications.length === 0) return <p>{next === null ? find.empty : find.lookFurther}</p>;
  return (
    <table className={styles.table}>
      <caption className={styles.unseen}>{find.views[view]}</caption>
      <thead>
        <tr>
          <th scope="col">{queue.number}</th>
          <th scope="col">{queue.partner}</th>
          <th scope="col">{find.status}</th>
          <th scope="col">{queue.score}</th>
          <th scope="col" data-number>
            {queue.amount}
          </th>
          <th scope="col">{find.at[view]}</th>
          <th scope="col">{find.proposed}</th>
        </tr>
      </thead>
      <tbody>
        {applications.map((item) => (
          <Row key={item.id} item={item} at={find.at[view]} />
        ))}
      </tbody>
    </table>
  );
}

/** `label`: what the time of the row is. */
function Row({ item, at: label }: { item: ViewItemReply; at: string }) {
  const { codes, desk, queue } = useTexts();
  const find = useFindTexts();
  const format = useFormat();
  const { id, partner, status, score, currency, debt_amount: amount, at, proposed } = item;
  return (
    <tr>
      <th scope="row">
        <Link href={`/applications/${id}`}>{id}</Link>
      </th>
      <td data-label={queue.partner}>{partner.name}</td>
      <td data-label={find.status}>{status === null ? queue.unreadable : codes.statuses[status]}</td>
      <td data-label={queue.score}>{score ?? queue.unreadable}</td>
      <td data-label={queue.amount} data-number>
        {format.wholeAmount(amount, currency)}
      </td>
      <td data-label={label}>
        <time dateTime={at}>{format.time(at)}</time>{' '}
        <span className={styles.quiet}>({format.relative(at)})</span>
      </td>
      <td data-label={find.proposed}>{proposed === null ? '—' : desk.proposed[proposed]}</td>
    </tr>
  );
}
