/** The dialog of a payment: that of a decision, with the lines of a signed contract. */
import { useQuery } from '@tanstack/react-query';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import type { NewProposalBody } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import { paymentPlan } from '../api/application.ts';
import { PaymentFacts } from './payment-facts.tsx';
import { ReasonDialog } from './reason-dialog.tsx';

interface PayDialogProps {
  readonly application: ApplicationReply;
  readonly title: string;
  readonly onClose: () => void;
  readonly onDecide: (body: NewProposalBody) => void;
}

/** The list of the contract is read when the dialog opens, and each reading is recorded. No cache keeps it. */
export function PayDialog({ application, title, onClose, onDecide }: PayDialogProps) {
  const isSigned = application.signed_at !== null;
  const plan = useQuery({
    queryKey: ['payment plan', application.id],
    queryFn: () => paymentPlan(application.id),
    enabled: isSigned,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const isReady = !isSigned || !plan.isPending;
  const lines = (plan.data?.payees ?? []).map(({ payee, open }) => ({
    ...{ payee, amount: open, reference: '', value_date: '' },
  }));
  return (
    <ReasonDialog
      key={isReady ? 'ready' : 'reading'}
      act="disburse"
      title={title}
      note={<PaymentFacts application={application} />}
      isHeld={application.payment_held_by !== null || isSigned}
      isReady={isReady}
      lines={lines}
      onClose={onClose}
      onDecide={onDecide}
    />
  );
}
