/** What a payment of the application stands on, before anybody decides on it. */
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import { Card } from '../base-ui/card.tsx';
import { PaymentFacts } from '../decide/payment-facts.tsx';
import { useTexts } from '../texts/texts.ts';

export function Payment({ application }: { application: ApplicationReply }) {
  const { decide } = useTexts();
  if (application.status !== 'pending_signature' && application.signed_at === null) return null;
  return (
    <Card title={decide.payment}>
      <PaymentFacts application={application} />
    </Card>
  );
}
