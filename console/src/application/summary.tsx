/** What was asked for, by whom, and how it stands. */
import type { ApplicationReply, RevealedReply } from '../../../src/subjects/desk/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { Card, Facts } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './application.module.css';

interface SummaryProps {
  readonly application: ApplicationReply;
  readonly revealed: RevealedReply | null;
}

export function Summary({ application, revealed }: SummaryProps) {
  const { application: texts, codes } = useTexts();
  const format = useFormat();
  const { currency, person, offer } = application;
  const consent = [revealed?.consent_at, revealed?.consent_channel, revealed?.consent_text]
    .filter((one) => one != null)
    .join(' · ');
  const yesOrNo = { yes: texts.yes, no: texts.no } as Readonly<Record<string, string>>;
  return (
    <Card title={texts.facts}>
      <div className={styles.pair}>
        <Facts
          facts={[
            [texts.name, (revealed ? revealed.name : person.initials) ?? '—'],
            [texts.phone, (revealed ? revealed.phone : person.phone) ?? '—'],
            [texts.idNumber, (revealed ? revealed.id_number : person.id_number) ?? '—'],
            [texts.city, (revealed ? revealed.city : person.city) ?? '—'],
            [texts.partner, application.partner.name],
            [texts.platform, application.platform ?? '—'],
            ...(consent === '' ? [] : [[texts.partnerConsent, consent] as const]),
          ]}
        />
        <Facts
          facts={[
            [texts.asked, format.amount(application.debt_amount, currency)],
            [texts.income, format.amount(application.income, currency)],
            [texts.debts, application.num_debts ?? '—'],
            [texts.debtAge, codeText(codes.debtAges, application.debt_age)],
            [texts.priorHistory, codeText(yesOrNo, application.prior_history)],
            [texts.created, format.time(application.created_at)],
          ]}
        />
      </div>
      {person.fault !== null && <p role="alert">{texts.personUnreadable}</p>}
      {application.above_limit && <p className={styles.note}>{texts.aboveLimit}</p>}
      {offer !== null && (
        <p className={card.quiet}>
          {texts.offer}: {codes.offerStates[offer.state]},{' '}
          {format.amount(Number(offer.amount), offer.currency)}, {texts.installments(offer.months)}{' '}
          {format.amount(Number(offer.installment), offer.currency)}
        </p>
      )}
    </Card>
  );
}

/** A code that the text does not know is shown as it is. */
function codeText(texts: Readonly<Record<string, string>>, code: string | null): string {
  return code === null ? '—' : (texts[code] ?? code);
}
