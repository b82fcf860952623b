/** What a reviewer asks first: what the loan costs a month and takes of the income, how far the score is from a band. */
import type { ReactNode } from 'react';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './application.module.css';
import { distancesOf } from './distances.ts';

export function KeyFigures({ application }: { application: ApplicationReply }) {
  const { application: texts } = useTexts();
  const format = useFormat();
  const { capacity, currency, bands, score, observed_income: observed } = application;
  const { installment, months, unpriced, share } = capacity;
  const amount = (value: number | null) => format.amount(value, currency);
  const distance = (points: number | null) => distancesOf(points, bands).map((one) => texts.distance(one));
  const again = observed?.new_score ?? null;
  return (
    <dl className={styles.figures}>
      <Figure name={texts.installment} value={installment === null ? '—' : amount(Number(installment))}>
        {unpriced !== null
          ? texts.unpriced[unpriced]
          : texts.monthsBy(months!, texts.installmentBy[capacity.installment_by])}
      </Figure>
      <Figure name={texts.ofIncome} value={share === null ? '—' : format.rate(share)}>
        {texts.incomeBy[capacity.income_by]}: {amount(capacity.income)}
      </Figure>
      <Figure name={texts.toBand} value={distance(score)[0] ?? '—'}>
        {distance(score)[1]}
        {again !== null && again !== score && (
          <>
            <br />
            {texts.withObserved}: {distance(again)[0]}
          </>
        )}
      </Figure>
    </dl>
  );
}

function Figure({ name, value, children }: { name: string; value: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd className={card.quiet}>{children}</dd>
    </div>
  );
}
