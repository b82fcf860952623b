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
  const names = new Map(shown.partners.map(({ id, name }) => [id, name]));
  const { counts } = business;
  const partners = Map.groupBy(shown.rows, (row) => row.partner_id);
  return (
    <Card title={business.byPartner}>
      {shown.rows.length === 0 ? (
        <p>{business.nothing}</p>
      ) : (
        <WideTable label={business.byPartner}>
          <Heads
            of={[
              ...[business.partner, business.currency, business.approvalRate, business.changePoints],
              ...[counts.registered, business.change, counts.signed, counts.disbursed],
              business.amounts.amount_disbursed,
            ]}
          />
          <tbody>
            {[...partners].flatMap(([id, rows]) => {
              const before = shown.rows_before.filter((row) => row.partner_id === id);
              const common = { name: names.get(id) ?? `${id}`, filters, period: shown.period };
              // Currencies have no sum of amounts; their counts and rates have one.
              const all = rows.length > 1 && (
                <PartnerRow key={id} {...common} rows={rows} before={before} currency={null} />
              );
              const each = rows.map((row) => (
                <PartnerRow
                  key={placeOf(row)}
                  {...common}
                  rows={[row]}
                  before={before.filter((one) => one.currency === row.currency)}
                  currency={row.currency}
                />
              ));
              return [all, ...each];
            })}
          </tbody>
        </WideTable>
      )}
    </Card>
  );
}

interface PartnerRowProps {
  readonly name: string;
  /** Of one partner. */
  readonly rows: readonly Row[];
  readonly before: readonly Row[];
  /** null: all of them. */
  readonly currency: string | null;
  readonly filters: BusinessFilters;
  readonly period: string;
}

function PartnerRow({ name, rows, before, currency, filters, period }: PartnerRowProps) {
  const business = useBusinessTexts();
  const format = useFormat();
  const change = useChange();
  const { rate, points } = useRates();
  const [now, then] = [sumsOf(rows), sumsOf(before)];
  const listed = {
    ...{ ...filters, period, partner: `${rows[0]!.partner_id}` },
    ...(currency !== null && { currency }),
  };
  return (
    <tr data-sum={currency === null || undefined}>
      <th scope="row">{name}</th>
      <td>{currency ?? business.all}</td>
      <td>{rate(rateOf(now))}</td>
      <td>{points(rateOf(now), before.length === 0 ? null : rateOf(then))}</td>
      <td>
        <Link href={behindHref('registered', listed)}>{format.number(now.registered)}</Link>
      </td>
      <td>{change(now.registered, then.registered)}</td>
      <td>
        <Link href={behindHref('signed', listed)}>{format.number(now.signed)}</Link>
      </td>
      <td>
        <Link href={behindHref('disbursed', listed)}>{format.number(now.disbursed)}</Link>
      </td>
      <td>{currency === null ? '—' : format.wholeAmount(Number(rows[0]!.amount_disbursed), currency)}</td>
    </tr>
  );
}
