/** The period by partner and currency. */
import type { BusinessPeriodReply } from '../../../src/subjects/business/routes/business.ts';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { useBusinessTexts } from './business-texts.ts';
import { Heads, useChange, useRates, WideTable } from './parts.tsx';
import { type Row, rateOf, sumsOf } from './sums.ts';

const placeOf = ({ partner_id, currency }: Row) => `${partner_id} ${currency}`;

export function ByPartner({ shown }: { shown: BusinessPeriodReply }) {
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
              return (
                <tr key={placeOf(row)}>
                  <th scope="row">{names.get(row.partner_id) ?? row.partner_id}</th>
                  <td>{row.currency}</td>
                  <td>{format.number(row.registered)}</td>
                  <td>{change(row.registered, known?.registered ?? 0)}</td>
                  <td>{rate(now)}</td>
                  <td>{points(now, then)}</td>
                  <td>{format.number(row.signed)}</td>
                  <td>{format.number(row.disbursed)}</td>
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
