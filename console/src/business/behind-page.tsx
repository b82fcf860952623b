/** The applications behind a number of the business. The address has the number, the period and the filters. */
import { Link, useLocation, useSearchParams } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import type { BehindReply } from '../../../src/subjects/business/routes/business.ts';
import { LISTED, type Listed } from '../../../src/subjects/business/rules/behind.ts';
import { type BusinessFilters, useBehind } from '../api/business.ts';
import { failureText } from '../api/failure.ts';
import card from '../base-ui/card.module.css';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { RowTable } from '../base-ui/row-table.tsx';
import { useFormat } from '../format/format.ts';
import { Pager } from '../queue/pager.tsx';
import { useTexts } from '../texts/texts.ts';
import { behindHref } from './behind-href.ts';
import styles from './business.module.css';
import { useBusinessTexts } from './business-texts.ts';
import { type By, filtersOf } from './sums.ts';

export default function BehindPage() {
  const texts = useTexts();
  const business = useBusinessTexts();
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const remembered = useHistoryState<{ trail?: readonly string[] } | null>();
  const filters = filtersOf(search);
  const number = LISTED.find((name) => name === search.get('number')) ?? 'registered';
  const cursor = search.get('cursor');
  const { data, error } = useBehind(number, filters, cursor);
  const shown = data?.body;
  const open = (to: string | null, trail: readonly string[]) =>
    navigate(behindHref(number, filters, to), { state: { trail } });
  return (
    <div className={styles.page}>
      <PageHeading title={`${business.title}: ${business.listed[number]}`} />
      <p>
        <Link href={`/business?${new URLSearchParams(filters)}`}>{business.toBusiness}</Link>
      </p>
      <Numbers number={number} filters={filters} />
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!shown && !error && <p>{texts.frame.loading}</p>}
      {shown && (
        <>
          <p className={card.quiet}>{business.begins[filters.by as By](shown.period)}</p>
          {shown.is_cut && <p role="note">{number === 'offered' ? business.cutOffers : business.cut}</p>}
          <Rows shown={shown} />
          <Pager
            {...{ cursor, next: shown.next, trail: remembered?.trail ?? null }}
            title={business.listed[number]}
            onOpen={open}
          />
        </>
      )}
    </div>
  );
}

function Numbers({ number, filters }: { number: Listed; filters: BusinessFilters }) {
  const business = useBusinessTexts();
  const [, navigate] = useLocation();
  return (
    <form className={styles.filters} onSubmit={(event) => event.preventDefault()}>
      <label>
        {business.what}
        <select
          value={number}
          onChange={({ target }) => navigate(behindHref(target.value as Listed, filters))}
        >
          {LISTED.map((name) => (
            <option key={name} value={name}>
              {business.listed[name]}
            </option>
          ))}
        </select>
      </label>
    </form>
  );
}

function Rows({ shown }: { shown: BehindReply }) {
  const { queue } = useTexts();
  const business = useBusinessTexts();
  const format = useFormat();
  if (shown.applications.length === 0)
    return <p>{shown.next === null ? business.nobody : business.further}</p>;
  return (
    <RowTable
      label={business.listed[shown.number]}
      heads={[queue.number, business.partner, business.when, queue.amount, queue.score]}
      rows={shown.applications.map(
        ({ application_id: id, partner, at, currency, debt_amount: amount, score }) => ({
          id: `${id} ${at}`,
          cells: [
            <Link key="id" href={`/applications/${id}`}>
              {id}
            </Link>,
            partner.name,
            <time key="at" dateTime={at}>
              {format.time(at)}
            </time>,
            format.wholeAmount(amount, currency),
            score,
          ],
        }),
      )}
    />
  );
}
