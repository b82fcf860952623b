/** What waits, by age. */
import type { LeadReply } from '../../../src/subjects/desk/routes/work-forms.ts';
import card from '../base-ui/card.module.css';
import { Card, Facts } from '../base-ui/card.tsx';
import { RowBar } from '../charts/row-bar.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';

export function Backlog({ lead: { backlog, waiting, overdue, oldest_at } }: { lead: LeadReply }) {
  const { lead: texts } = useTexts();
  const format = useFormat();
  const end = Math.max(...backlog.map(({ count }) => count), 1);
  const nameOf = (to: number | null, index: number) => {
    const from = backlog[index - 1]?.to ?? 0;
    return to === null ? texts.olderThan(from) : texts.upTo(from, to);
  };
  return (
    <Card title={texts.backlog}>
      <Facts
        facts={[
          [texts.waiting, format.number(waiting)],
          [texts.overdue, format.number(overdue)],
          [texts.oldest, oldest_at === null ? '—' : format.relative(oldest_at)],
        ]}
      />
      <table className={card.table}>
        <thead>
          <tr>
            <th scope="col">{texts.age}</th>
            <th scope="col">{texts.count}</th>
          </tr>
        </thead>
        <tbody>
          {backlog.map(({ to, count }, index) => (
            <tr key={to ?? 'older'}>
              <th scope="row">
                <span>{nameOf(to, index)}</span>
                <RowBar end={end} parts={[{ value: count, kind: 'plain' }]} />
              </th>
              <td>{format.number(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
