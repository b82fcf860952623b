/** What a payment of the application stands on, before anybody decides on it. */
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import { Card } from '../base-ui/card.tsx';
import { PaymentFacts } from '../decide/payment-facts.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';

export function Payment({ application }: { application: ApplicationReply }) {
  const { decide, desk } = useTexts();
  const format = useFormat();
  const paid = application.timeline.findLast(({ act }) => act === 'disburse');
  if (application.status !== 'pending_signature' && application.signed_at === null) return null;
  return (
    <Card title={decide.payment}>
      <PaymentFacts application={application} />
      {paid && (
        <p>
          {desk.proposed.disburse}: {format.time(paid.at)}
        </p>
      )}
    </Card>
  );
}
