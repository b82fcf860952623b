/** The points of each criterion: a picture in the rows of the table that says the same. */
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { Legend } from '../charts/legend.tsx';
import { RowBar } from '../charts/row-bar.tsx';
import { useLanguage, useTexts } from '../texts/texts.ts';
import styles from './application.module.css';

export function Points({
  application: { criteria, score, policy_version, reasons },
}: {
  application: ApplicationReply;
}) {
  const { application: texts, codes } = useTexts();
  const language = useLanguage();
  const end = Math.max(...criteria.map(({ most }) => most));
  const total = criteria.reduce((sum, { most }) => sum + most, 0);
  const whole = criteria.filter(({ lost }) => lost === 0);
  return (
    <Card title={texts.points} beside={<span className={card.quiet}>{texts.policyOf(policy_version)}</span>}>
      <Legend
        entries={[
          ['got', texts.got],
          ['lost', texts.lost],
        ]}
      />
      <table className={`${card.table} ${styles.points}`}>
        <thead>
          <tr>
            <th scope="col">{texts.criterion}</th>
            <th scope="col">{texts.got}</th>
            <th scope="col">{texts.most}</th>
            <th scope="col">{texts.lost}</th>
          </tr>
        </thead>
        <tbody>
          {criteria
            .filter(({ lost }) => lost !== 0)
            .map(({ criterion, points, most, lost }) => (
              <tr key={criterion}>
                <th scope="row">
                  <span>{codes.criteria[criterion]}</span>
                  <RowBar
                    end={end}
                    parts={[
                      { value: points ?? 0, kind: 'got' },
                      { value: lost ?? most, kind: 'lost' },
                    ]}
                  />
                </th>
                <td>{points ?? texts.unreadable}</td>
                <td>{most}</td>
                <td>{lost === null ? texts.unreadable : lessOf(lost)}</td>
              </tr>
            ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{texts.score}</th>
            <td>{score ?? texts.unreadable}</td>
            <td>{total}</td>
            <td>{score === null ? texts.unreadable : lessOf(total - score)}</td>
          </tr>
        </tfoot>
      </table>
      {whole.length > 0 && (
        <details>
          <summary>{texts.wholeParts(whole.length)}</summary>
          <ul className={styles.bullets}>
            {whole.map(({ criterion, most }) => (
              <li key={criterion}>{texts.pointsOf(codes.criteria[criterion], most)}</li>
            ))}
          </ul>
        </details>
      )}
      {reasons.length > 0 && (
        <>
          <h3>{texts.reasons}</h3>
          <ol>
            {reasons.map(({ code, words }) => (
              <li key={code}>
                {words === null ? <code className={card.quiet}>{code}</code> : words[language]}
              </li>
            ))}
          </ol>
        </>
      )}
    </Card>
  );
}

const lessOf = (lost: number) => (lost === 0 ? '0' : `−${lost}`);
