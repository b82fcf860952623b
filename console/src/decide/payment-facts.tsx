/** What a payment stands on: the signature, the time to withdraw from it, and what is not there yet (D46). */
import type { ReactNode } from 'react';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import { Facts } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './decide.module.css';

export function PaymentFacts({ application }: { application: ApplicationReply }) {
  const { decide, desk } = useTexts();
  const format = useFormat();
  const { signed_at, withdrawable_until, payment_held_by } = application;
  const unsigned = payment_held_by === null ? decide.noContract : decide.notYet;
  const facts: (readonly [string, ReactNode])[] = [
    [decide.signedAt, signed_at === null ? unsigned : format.time(signed_at)],
  ];
  if (withdrawable_until !== null) facts.push([decide.withdrawableUntil, format.time(withdrawable_until)]);
  return (
    <>
      <Facts facts={facts} />
      {payment_held_by === 'not_signed' && <p className={styles.held}>{desk.conflicts.not_signed}</p>}
      {payment_held_by === 'withdrawable' && withdrawable_until !== null && (
        <p className={styles.held}>{decide.withdrawable(format.time(withdrawable_until))}</p>
      )}
    </>
  );
}
