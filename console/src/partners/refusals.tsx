/** What was refused to each key, by hour. */
import { useRefusals } from '../api/partners.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { Heads, WideTable } from '../lead/wide-table.tsx';
import { useFailure, usePartnerTexts } from './partner-texts.ts';

export function Refusals({ id }: { id: string }) {
  const texts = usePartnerTexts();
  const format = useFormat();
  const failure = useFailure();
  const { data, error } = useRefusals(id);
  const { outcomes } = texts;
  return (
    <Card title={texts.refusals}>
      {error && <p role="alert">{failure(error)}</p>}
      {data?.body.refusals.length === 0 && <p>{texts.noRefusals}</p>}
      {data && data.body.refusals.length > 0 && (
        <WideTable label={texts.refusals}>
          <Heads
            of={[
              ...[texts.hour, texts.key, outcomes.registered, outcomes.duplicate, outcomes.over_quota],
              ...[outcomes.invalid, texts.unauthorized, texts.sweep],
            ]}
          />
          <tbody>
            {data.body.refusals.map((row) => (
              <tr key={`${row.hour} ${row.key_id}`}>
                <th scope="row">{format.time(row.hour)}</th>
                <td>
                  {row.key_id} <code>{row.hint}…</code>
                </td>
                <td>{format.number(row.registered)}</td>
                <td>{format.number(row.duplicate)}</td>
                <td>{format.number(row.over_quota)}</td>
                <td>{format.number(row.invalid)}</td>
                <td>{format.number(row.unauthorized)}</td>
                <td>{row.sweep_at === null ? '—' : format.time(row.sweep_at)}</td>
              </tr>
            ))}
          </tbody>
        </WideTable>
      )}
      {data?.body.more && <p className={card.quiet}>{texts.olderRefusals}</p>}
    </Card>
  );
}
