/** The median times from one step to the next. */
import type { BusinessPeriodReply } from '../../../src/subjects/business/routes/business.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { Heads, WideTable } from '../lead/wide-table.tsx';
import { durationText } from '../queue/duration.ts';
import { useLanguage } from '../texts/texts.ts';
import { useBusinessTexts } from './business-texts.ts';

export function Waits({ shown: { waits, waits_before: before } }: { shown: BusinessPeriodReply }) {
  const business = useBusinessTexts();
  const format = useFormat();
  const language = useLanguage();
  const known = new Map(before.map((wait) => [wait.step, wait]));
  const text = (seconds: number | undefined) =>
    seconds === undefined ? '—' : durationText(seconds * 1_000, language);
  return (
    <Card title={business.waits}>
      {waits.length === 0 ? (
        <p>{business.nothing}</p>
      ) : (
        <WideTable label={business.waits}>
          <Heads of={[business.step, business.median, business.before, business.took]} />
          <tbody>
            {waits.map(({ step, median_seconds: seconds, times }) => (
              <tr key={step}>
                <th scope="row">{business.waitsOf[step]}</th>
                <td>{text(seconds)}</td>
                <td>{text(known.get(step)?.median_seconds)}</td>
                <td>{format.number(times)}</td>
              </tr>
            ))}
          </tbody>
        </WideTable>
      )}
      <p className={card.quiet}>{business.waitsNote}</p>
    </Card>
  );
}
