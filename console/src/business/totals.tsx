/** What happened in the period, beside the period before. */
import { Link } from 'wouter';
import type { BusinessPeriodReply } from '../../../src/subjects/business/routes/business.ts';
import type { Listed } from '../../../src/subjects/business/rules/behind.ts';
import type { BusinessFilters } from '../api/business.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { Heads, WideTable } from '../lead/wide-table.tsx';
import { behindHref } from './behind-href.ts';
import { useBusinessTexts } from './business-texts.ts';
import { useChange, useRates } from './parts.tsx';
import { amountsOf, approvalsOf, REFUSALS, rateOf, rejectionsOf, type Sums, sumsOf } from './sums.ts';

/** The lines in the order of the business's way; refusals are told apart below theirs. */
const LINES = [
  ['registered', (sums) => sums.registered],
  ['refused', (sums) => sums.refused],
  ...REFUSALS.map((name) => [name, (sums: Sums) => sums[name]] as const),
  ['approvals', approvalsOf],
  ['rejections', rejectionsOf],
  ['in_review', (sums) => sums.in_review],
  ['reviews', (sums) => sums.review_approved + sums.review_rejected],
  ['overridden', (sums) => sums.overridden],
  ['started', (sums) => sums.started],
  ['documents', (sums) => sums.documents],
  ['offered', (sums) => sums.offered],
  ['signed', (sums) => sums.signed],
  ['withdrawn', (sums) => sums.withdrawn],
  ['disbursed', (sums) => sums.disbursed],
] as const satisfies readonly (readonly [string, (sums: Sums) => number])[];

/** The list behind a line; the others have none. */
const LISTS: Readonly<Partial<Record<(typeof LINES)[number][0], Listed>>> = {
  registered: 'registered',
  approvals: 'approved',
  rejections: 'rejected',
  in_review: 'in_review',
  reviews: 'review_approved',
  overridden: 'overridden',
  started: 'started',
  documents: 'documents',
  offered: 'offered',
  signed: 'signed',
  withdrawn: 'withdrawn',
  disbursed: 'disbursed',
};

interface TotalsProps {
  readonly shown: BusinessPeriodReply;
  readonly filters: BusinessFilters;
}

export function Totals({ shown, filters }: TotalsProps) {
  const business = useBusinessTexts();
  const format = useFormat();
  const change = useChange();
  const { rate, points } = useRates();
  const [now, before] = [sumsOf(shown.rows), sumsOf(shown.rows_before)];
  const amounts = (['amount_registered', 'amount_disbursed'] as const).flatMap((name) => {
    const [sums, sumsBefore] = [amountsOf(shown.rows, name), amountsOf(shown.rows_before, name)];
    return [...new Set([...sums.keys(), ...sumsBefore.keys()])].sort().map((currency) => ({
      name,
      currency,
      now: sums.get(currency) ?? 0,
      before: sumsBefore.get(currency) ?? 0,
    }));
  });
  const title = business.happened[shown.by](shown.period);
  return (
    <Card title={title} beside={<strong>{business.rateOf(rate(rateOf(now)))}</strong>}>
      {!shown.is_over && <p className={card.quiet}>{business.notOver}</p>}
      <WideTable label={title}>
        <Heads of={[business.what, business.now, business.before, business.change]} />
        <tbody>
          <tr>
            <th scope="row">{business.approvalRate}</th>
            <td>{rate(rateOf(now))}</td>
            <td>{rate(rateOf(before))}</td>
            <td>{points(rateOf(now), rateOf(before))}</td>
          </tr>
          {LINES.map(([name, of]) => (
            <tr key={name}>
              <th scope="row">
                <Listing
                  of={LISTS[name]}
                  filters={{ ...filters, period: shown.period }}
                  text={business.counts[name]}
                />
              </th>
              <td>{format.number(of(now))}</td>
              <td>{format.number(of(before))}</td>
              <td>{change(of(now), of(before))}</td>
            </tr>
          ))}
          {amounts.map((one) => (
            <tr key={`${one.name} ${one.currency}`}>
              <th scope="row">{business.amounts[one.name]}</th>
              <td>{format.wholeAmount(one.now, one.currency)}</td>
              <td>{format.wholeAmount(one.before, one.currency)}</td>
              <td>{change(one.now, one.before)}</td>
            </tr>
          ))}
        </tbody>
      </WideTable>
      <p className={card.quiet}>{business.rateNote}</p>
    </Card>
  );
}

interface ListingProps {
  /** undefined: there is no list. */
  readonly of: Listed | undefined;
  readonly filters: BusinessFilters;
  readonly text: string;
}

function Listing({ of, filters, text }: ListingProps) {
  return of === undefined ? text : <Link href={behindHref(of, filters)}>{text}</Link>;
}
