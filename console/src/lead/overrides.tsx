/** Decisions against what the score leans to, by reviewer and by reason code. */
import type { LeadReply } from '../../../src/subjects/desk/routes/work-forms.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { Legend } from '../charts/legend.tsx';
import { RowBar } from '../charts/row-bar.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';

export function Overrides({ lead: { reviewers, overrides } }: { lead: LeadReply }) {
  const { lead: texts, desk } = useTexts();
  const format = useFormat();
  return (
    <Card title={texts.overrides}>
      <p className={card.quiet}>{texts.overridesNote}</p>
      {reviewers.length === 0 ? <p>{texts.noDecisions}</p> : <Reviewers reviewers={reviewers} />}
      {overrides.length > 0 && (
        <table className={card.table}>
          <caption>{texts.byCode}</caption>
          <thead>
            <tr>
              <th scope="col">{texts.reviewer}</th>
              <th scope="col" className={card.words}>
                {texts.code}
              </th>
              <th scope="col">{texts.count}</th>
            </tr>
          </thead>
          <tbody>
            {overrides.map(({ by, act, reason_code, count }) => (
              <tr key={`${by.id} ${act} ${reason_code}`}>
                <th scope="row">{by.login}</th>
                <td className={card.words}>
                  {desk.proposed[act]}: {desk.reasonCodes[reason_code]}
                </td>
                <td>{format.number(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

function Reviewers({ reviewers }: Pick<LeadReply, 'reviewers'>) {
  const { lead: texts } = useTexts();
  const format = useFormat();
  const end = Math.max(...reviewers.map(({ decisions }) => decisions));
  return (
    <>
      <Legend
        entries={[
          ['plain', texts.with],
          ['against', texts.against],
        ]}
      />
      <table className={card.table}>
        <thead>
          <tr>
            <th scope="col">{texts.reviewer}</th>
            <th scope="col">{texts.decided}</th>
            <th scope="col">{texts.against}</th>
            <th scope="col">{texts.share}</th>
          </tr>
        </thead>
        <tbody>
          {reviewers.map(({ by, decisions, overrides }) => (
            <tr key={by.id}>
              <th scope="row">
                <span>{by.login}</span>
                <RowBar
                  end={end}
                  parts={[
                    { value: decisions - overrides, kind: 'plain' },
                    { value: overrides, kind: 'against' },
                  ]}
                />
              </th>
              <td>{format.number(decisions)}</td>
              <td>{format.number(overrides)}</td>
              <td>{decisions === 0 ? '—' : format.percent(overrides / decisions)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
