/** How much of its cap each partner uses now. */
import { Link } from 'wouter';
import type { BusinessPeriodReply } from '../../../src/subjects/business/routes/business.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { UsageBar } from '../charts/usage-bar.tsx';
import { useFormat } from '../format/format.ts';
import { Heads, WideTable } from '../lead/wide-table.tsx';
import { useBusinessTexts } from './business-texts.ts';
import { useRates } from './parts.tsx';

export function Caps({ partners }: { partners: BusinessPeriodReply['partners'] }) {
  const business = useBusinessTexts();
  const format = useFormat();
  const { rate } = useRates();
  return (
    <Card title={business.caps}>
      {partners.length === 0 ? (
        <p>{business.noPartners}</p>
      ) : (
        <WideTable label={business.caps}>
          <Heads of={[business.partner, business.used, business.cap, business.share]} />
          <tbody>
            {partners.map(({ id, name, used_24h: used, daily_cap: cap }) => {
              const share = cap === null ? null : used / Math.max(cap, 1);
              return (
                <tr key={id}>
                  <th scope="row">
                    <Link href={`/partners/${id}`}>{name}</Link>
                    <UsageBar used={used} cap={cap} />
                  </th>
                  <td>{format.number(used)}</td>
                  <td>{cap === null ? business.noCap : format.number(cap)}</td>
                  <td>{rate(share)}</td>
                </tr>
              );
            })}
          </tbody>
        </WideTable>
      )}
      <p className={card.quiet}>{business.capsNote}</p>
    </Card>
  );
}
