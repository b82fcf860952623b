/** The observed income against the declared one, and month by month once it is revealed. */
import type { ReactNode } from 'react';
import type { ApplicationReply, RevealedReply } from '../../../src/subjects/desk/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { Facts } from '../base-ui/card.tsx';
import { Legend } from '../charts/legend.tsx';
import { RowBar } from '../charts/row-bar.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './application.module.css';

type Statement = NonNullable<RevealedReply['income']>[number];

interface ObservedIncomeProps {
  readonly application: ApplicationReply;
  /** null: not revealed, or there are none. */
  readonly statements: readonly Statement[] | null;
}

export function ObservedIncome({
  application: { observed_income: income },
  statements,
}: ObservedIncomeProps) {
  const { application: texts, codes } = useTexts();
  const format = useFormat();
  if (income === null) return <p>{texts.notChecked}</p>;
  const reasons: Readonly<Record<string, string>> = codes.incomeReasons;
  const facts: (readonly [string, ReactNode])[] = [
    [texts.outcome, codes.outcomes[income.outcome]],
    [texts.why, reasons[income.reason] ?? income.reason],
    [texts.income, format.amount(income.declared, income.currency)],
    [texts.observed, format.amount(income.observed, income.currency)],
    [texts.months, String(income.months)],
    [texts.confidence, format.percent(income.confidence)],
  ];
  if (income.new_score !== null) facts.push([texts.newScore, String(income.new_score)]);
  if (income.new_decision !== null) facts.push([texts.newDecision, codes.decisions[income.new_decision]]);
  return (
    <>
      <Facts facts={facts} />
      {statements === null ? (
        <p className={card.quiet}>{texts.monthsHidden}</p>
      ) : (
        <Months statements={statements} declared={income.declared} />
      )}
    </>
  );
}

interface MonthsProps {
  readonly statements: readonly Statement[];
  readonly declared: number | null;
}

function Months({ statements, declared }: MonthsProps) {
  const { application: texts } = useTexts();
  const amounts = statements.flatMap(({ months }) => months.map(({ amount }) => amount));
  const end = Math.max(declared ?? 0, ...amounts);
  return (
    <>
      <Legend
        entries={[
          ['plain', texts.found],
          ['mark', texts.income],
        ]}
      />
      {statements.map((statement, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the answer is never read again, so nothing moves.
        <MonthTable key={index} statement={statement} end={end} declared={declared} />
      ))}
    </>
  );
}

function MonthTable({
  statement,
  end,
  declared,
}: {
  statement: Statement;
  end: number;
  declared: number | null;
}) {
  const { application: texts } = useTexts();
  const format = useFormat();
  const { source, currency, months } = statement;
  return (
    <table className={`${card.table} ${styles.points} ${styles.months}`}>
      <caption>{source}</caption>
      <thead>
        <tr>
          <th scope="col">{texts.month}</th>
          <th scope="col">{texts.amount}</th>
        </tr>
      </thead>
      <tbody>
        {months.map(({ month, amount }) => (
          <tr key={month}>
            <th scope="row">
              <span>{format.month(month)}</span>
              <RowBar end={end} parts={[{ value: amount, kind: 'plain' }]} mark={declared} />
            </th>
            <td>{format.amount(amount, currency)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
