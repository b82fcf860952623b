/** The period by partner and currency. */
import { Link } from 'wouter';
import type { BusinessPeriodReply } from '../../../src/subjects/business/routes/business.ts';
import type { BusinessFilters } from '../api/business.ts';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { Heads, WideTable } from '../lead/wide-table.tsx';
import { behindHref } from './behind-href.ts';
import { useBusinessTexts } from './business-texts.ts';
import { useChange, useRates } from './parts.tsx';
import { type Row, rateOf, sumsOf } from './sums.ts';

const placeOf = ({ partner_id, currency }: Row) => `${partner_id} ${currency}`;

interface ByPartnerProps {
  readonly shown: BusinessPeriodReply;
  readonly filters: BusinessFilters;
}

export function ByPartner({ shown, filters }: ByPartnerProps) {
  const business = useBusinessTexts();
  const format = useFormat();
  const change = useChange();
  const { rate, points } = useRates();
  const names = new Map(shown.partners.map(({ id, name }) => [id, name]));
  const before = new Map(shown.rows_before.map((row) => [placeOf(row), row]));
  const { counts } = business;
  return (
    <Card title={business.byPartner}>
      {shown.rows.length === 0 ? (
        <p>{business.nothing}</p>
      ) : (
        <WideTable label={business.byPartner}>
          <Heads
            of={[
              ...[business.partner, business.currency, counts.registered, business.change],
              ...[business.approvalRate, business.changePoints, counts.signed, counts.disbursed],
              business.amounts.amount_disbursed,
            ]}
          />
          <tbody>
            {shown.rows.map((row) => {
              const known = before.get(placeOf(row));
              const [now, then] = [rateOf(sumsOf([row])), known ? rateOf(sumsOf([known])) : null];
              const listed = {
                ...filters,
                period: shown.period,
                partner: `${row.partner_id}`,
                currency: row.currency,
              };
              return (
                <tr key={placeOf(row)}>
                  <th scope="row">{names.get(row.partner_id) ?? row.partner_id}</th>
                  <td>{row.currency}</td>
                  <td>
                    <Link href={behindHref('registered', listed)}>{format.number(row.registered)}</Link>
                  </td>
                  <td>{change(row.registered, known?.registered ?? 0)}</td>
                  <td>{rate(now)}</td>
                  <td>{points(now, then)}</td>
                  <td>
                    <Link href={behindHref('signed', listed)}>{format.number(row.signed)}</Link>
                  </td>
                  <td>
                    <Link href={behindHref('disbursed', listed)}>{format.number(row.disbursed)}</Link>
                  </td>
                  <td>{format.wholeAmount(Number(row.amount_disbursed), row.currency)}</td>
                </tr>
              );
            })}
          </tbody>
        </WideTable>
      )}
    </Card>
  );
}
