/** The queue: which applications wait for a decision. */
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import type {
  QueueItemReply,
  QueuePartnersReply,
  QueueReply,
} from '../../../src/subjects/desk/routes/queue-forms.ts';
import { failureText } from '../api/failure.ts';
import { type Filters, filtersOf, searchOf } from '../api/filters.ts';
import { useQueue, useQueuePartners } from '../api/queue.ts';
import type { Operator } from '../api/session.ts';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { Bulk } from './bulk.tsx';
import { ClaimNext } from './claim-next.tsx';
import { FilterButton } from './filter-button.tsx';
import { FilterForm } from './filter-form.tsx';
import { OpenByNumber } from './open-by-number.tsx';
import { Pager } from './pager.tsx';
import styles from './queue.module.css';
import { QueueTable } from './queue-table.tsx';

const ROWS = 50;
/** The service counts no further. */
const MOST_COUNTED = 10_000;

interface Remembered {
  readonly trail?: readonly string[];
  readonly nothingFree?: boolean;
}

export function QueuePage({ operator }: { operator: Operator }) {
  const texts = useTexts();
  const { queue } = texts;
  const [, navigate] = useLocation();
  const address = useSearch();
  const remembered = useHistoryState<Remembered | null>();
  const cursor = new URLSearchParams(address).get('cursor');
  const filters = filtersOf(address);
  const search = searchOf(filters);
  const query = new URLSearchParams(search);
  query.set('limit', String(ROWS));
  if (cursor !== null) query.set('cursor', cursor);
  const { data, error, isPlaceholderData } = useQueue(String(query));
  const partners = useQueuePartners();
  const [areFiltersOpen, setFiltersOpen] = useState(false);
  const open = (to: Filters, toCursor: string | null = null, trail: readonly string[] = []) => {
    const next = new URLSearchParams(searchOf(to));
    if (toCursor !== null) next.set('cursor', toCursor);
    navigate(next.size === 0 ? '/queue' : `/queue?${next}`, { state: { trail } satisfies Remembered });
  };
  return (
    <div className={styles.page}>
      <PageHeading title={queue.title}>
        {data && <Count count={data.body.count} />}
        {operator.role !== 'viewer' && (
          <ClaimNext search={search} wasNothingFree={remembered?.nothingFree === true} />
        )}
        <FilterButton filters={filters} isOpen={areFiltersOpen} onToggle={setFiltersOpen} />
        <OpenByNumber />
      </PageHeading>
      <FilterForm {...{ filters, partners }} isOpen={areFiltersOpen} onChange={open} />
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!data && !error && <p>{texts.frame.loading}</p>}
      {data && (
        <div aria-busy={isPlaceholderData}>
          <Rows key={`${search} ${cursor}`} page={data.body} {...{ operator, partners, filters, search }} />
          <Pager
            {...{ cursor, next: data.body.next, trail: remembered?.trail ?? null }}
            title={queue.title}
            onOpen={(to, trail) => open(filters, to, trail)}
          />
        </div>
      )}
    </div>
  );
}

function Count({ count }: { count: number }) {
  const { queue } = useTexts();
  const format = useFormat();
  return <p className={styles.quiet}>{queue.count(countText(count, format.number))}</p>;
}

/** Such as `10,000+`. */
function countText(count: number, number: (value: number) => string): string {
  return count >= MOST_COUNTED ? `${number(MOST_COUNTED)}+` : number(count);
}

interface RowsProps {
  readonly page: QueueReply;
  readonly operator: Operator;
  readonly partners: QueuePartnersReply['partners'];
  readonly filters: Filters;
  readonly search: string;
}

function Rows({ page, operator, partners, filters, search }: RowsProps) {
  const { queue } = useTexts();
  const format = useFormat();
  const [selected, setSelected] = useState<ReadonlyMap<number, string>>(new Map());
  const toggle = ({ id, last_event }: QueueItemReply) => {
    const changed = new Map(selected);
    if (!changed.delete(id)) changed.set(id, last_event);
    setSelected(changed);
  };
  const mayDecide = operator.role !== 'viewer';
  return (
    <>
      {mayDecide && (
        <Bulk
          {...{ selected, filters, count: page.count }}
          countText={countText(page.count, format.number)}
          onClear={() => setSelected(new Map())}
        />
      )}
      {page.items.length === 0 && <p>{queue.empty}</p>}
      <QueueTable
        items={page.items}
        operatorId={operator.id}
        isInUsd={hasSeveralCurrencies(page, partners)}
        onSelect={mayDecide ? toggle : null}
        {...{ search, selected }}
      />
    </>
  );
}

/** A lender in one currency reads amounts in it alone. */
function hasSeveralCurrencies({ items }: QueueReply, partners: QueuePartnersReply['partners']): boolean {
  return new Set([...items, ...partners].map(({ currency }) => currency).filter(Boolean)).size > 1;
}
