/** The views beside the queue: what is to pay, what waits for whom, what was decided. The address has the filters. */
import { lazy, Suspense, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import {
  hasBothOrders,
  ownOrderOf,
  VIEW_ORDERS,
  VIEWS,
  type View,
  type ViewOrder,
} from '../../../src/domain/application/views.ts';
import type { ViewItemReply, ViewPageReply } from '../../../src/subjects/desk/routes/view-forms.ts';
import { failureText } from '../api/failure.ts';
import { useView, type ViewAddress, viewHref, viewOf } from '../api/find.ts';
import { useQueuePartners } from '../api/queue.ts';
import { useStatusText } from '../application/status-text.ts';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { useFindTexts } from '../find/find-texts.ts';
import { useFormat } from '../format/format.ts';
import { Pager } from '../queue/pager.tsx';
import { useTexts } from '../texts/texts.ts';
import { SavedViews } from './saved-views.tsx';
import styles from './views.module.css';

const FileDialog = lazy(() => import('./file-dialog.tsx'));

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
            href={viewHref(withView(address, view))}
            aria-current={view === address.view ? 'page' : undefined}
          >
            {find.views[view]}
          </Link>
        ))}
      </nav>
      <SavedViews address={address}>
        <MakeFile address={address} count={data?.body.count ?? null} />
      </SavedViews>
      <Filters key={viewHref(address)} address={address} onChange={(to) => navigate(viewHref(to))} />
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!data && !error && <p>{texts.frame.loading}</p>}
      {data && (
        <>
          <Rows page={data.body} address={address} />
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

/** The address leaves out the view's own order. */
function inOrder({ order: _, ...address }: ViewAddress, order: ViewOrder): ViewAddress {
  return order === ownOrderOf(address.view) ? address : { ...address, order };
}

/** The filters stay, and the order is that of the other view. */
function withView({ order: _, ...address }: ViewAddress, view: ViewAddress['view']): ViewAddress {
  return { ...address, view };
}

function MakeFile({ address, count }: { address: ViewAddress; count: number | null }) {
  const find = useFindTexts();
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  const open = () => {
    setWasOpened(true);
    setOpen(true);
  };
  return (
    <>
      <button type="button" onClick={open}>
        {find.file}
      </button>
      {wasOpened && (
        <Suspense>
          <FileDialog isOpen={isOpen} onClose={() => setOpen(false)} {...{ address, count }} />
        </Suspense>
      )}
    </>
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

/** How many letters the codes have. */
const LETTERS = { country: 2, currency: 3 } as const;

/** What is typed counts with Enter, or when the field is left. */
function Filters({ address, onChange }: FiltersProps) {
  const { queue } = useTexts();
  const find = useFindTexts();
  const partners = useQueuePartners();
  const [typed, setTyped] = useState(address);
  const set = (change: Partial<Record<'partner' | 'country' | 'currency' | 'from' | 'to', string>>) => ({
    ...typed,
    ...change,
  });
  const commit = () => {
    if (viewHref(typed) !== viewHref(address)) onChange(typed);
  };
  const isPartnerUnknown =
    address.partner !== undefined && !partners.some(({ id }) => String(id) === address.partner);
  const { view, order, ...filters } = address;
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
      {(['country', 'currency'] as const).map((name) => (
        <label key={name}>
          {find[name]}
          <input
            size={4}
            maxLength={LETTERS[name]}
            pattern={`[A-Z]{${LETTERS[name]}}`}
            value={typed[name] ?? ''}
            onChange={({ target }) => setTyped(set({ [name]: target.value.toUpperCase() }))}
            onBlur={commit}
          />
        </label>
      ))}
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
      {/* Without a button, Enter does nothing in a form with two fields. */}
      <button type="submit" hidden />
      {hasBothOrders(view) && (
        <label>
          {find.order}
          <select
            value={order ?? ownOrderOf(view)}
            onChange={({ target }) => onChange(inOrder(typed, target.value as ViewOrder))}
          >
            {VIEW_ORDERS.map((one) => (
              <option key={one} value={one}>
                {find.orders[one]}
              </option>
            ))}
          </select>
        </label>
      )}
      {Object.keys(filters).length > 0 && (
        <button type="button" onClick={() => onChange({ view, ...(order !== undefined && { order }) })}>
          {queue.clear}
        </button>
      )}
    </form>
  );
}

function Rows({ page: { applications, next }, address }: { page: ViewPageReply; address: ViewAddress }) {
  const { view } = address;
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
          <TimeHead address={address} />
          <th scope="col">{find.proposed}</th>
        </tr>
      </thead>
      <tbody>
        {applications.map((item) => (
          <Row key={item.id} item={item} at={find.at[view]} isSigned={SIGNED.has(view)} />
        ))}
      </tbody>
    </table>
  );
}

/** The one column that sorts: an index has the order of its time, both ways. */
function TimeHead({ address }: { address: ViewAddress }) {
  const find = useFindTexts();
  const [, navigate] = useLocation();
  const { view, order = ownOrderOf(view) } = address;
  const turned = inOrder(address, order === 'oldest' ? 'newest' : 'oldest');
  return (
    <th scope="col" aria-sort={order === 'oldest' ? 'ascending' : 'descending'}>
      {hasBothOrders(view) ? (
        <button type="button" className={styles.sort} onClick={() => navigate(viewHref(turned))}>
          {find.at[view]} <span aria-hidden="true">{order === 'oldest' ? '↑' : '↓'}</span>
        </button>
      ) : (
        find.at[view]
      )}
    </th>
  );
}

/** Whose applications all have a signed contract. */
const SIGNED: ReadonlySet<View> = new Set(['to_pay', 'signed']);

interface RowProps {
  readonly item: ViewItemReply;
  /** What the time of the row is. */
  readonly at: string;
  readonly isSigned: boolean;
}

function Row({ item, at: label, isSigned }: RowProps) {
  const { desk, queue } = useTexts();
  const find = useFindTexts();
  const format = useFormat();
  const statusText = useStatusText();
  const { id, partner, status, score, currency, debt_amount: amount, at, proposed } = item;
  return (
    <tr>
      <th scope="row">
        <Link href={`/applications/${id}`}>{id}</Link>
      </th>
      <td data-label={queue.partner}>{partner.name}</td>
      <td data-label={find.status}>{statusText(status, isSigned)}</td>
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
