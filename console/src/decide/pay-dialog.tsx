/** The dialog of a payment: that of a decision, with the lines of a signed contract. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import type { NewProposalBody } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import { paymentPlan } from '../api/application.ts';
import { browserClock } from '../clock.ts';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { useDesk } from './desk.tsx';
import { failedActText } from './failed-act.ts';
import { PaymentFacts } from './payment-facts.tsx';
import { ReasonDialog } from './reason-dialog.tsx';

interface PayDialogProps {
  readonly application: ApplicationReply;
  /** The entity tag of the application when the dialog opened. */
  readonly etag: string;
  readonly title: string;
  readonly onClose: () => void;
}

/**
 * The list of the contract is read when the dialog opens, and each reading is recorded. No cache keeps it. The dialog
 * stays until the answer, so that nothing typed is lost.
 */
export function PayDialog({ application, etag, title, onClose }: PayDialogProps) {
  const texts = useTexts();
  const format = useFormat();
  const { acts } = useDesk();
  const sent = useRef({ text: '', key: '' });
  const pay = useMutation({
    mutationFn: (body: NewProposalBody) => {
      const text = JSON.stringify(body);
      if (sent.current.text !== text) sent.current = { text, key: crypto.randomUUID() };
      return acts.decideNow({ applicationId: application.id, body, etag }, sent.current.key);
    },
    onSuccess: onClose,
  });
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
  // The list has what is not paid yet. A day of the calendar, as the browser's clock has it.
  const today = new Intl.DateTimeFormat('en-CA').format(browserClock.nowMs());
  const lines = (plan.data?.payees ?? []).map(({ payee, open }) => ({
    ...{ isPaid: true, payee, amount: open, reference: '', value_date: today },
  }));
  return (
    <ReasonDialog
      key={isReady ? 'ready' : 'reading'}
      act="disburse"
      title={title}
      note={
        <>
          <p>{texts.decide.movesNoMoney}</p>
          <PaymentFacts application={application} />
        </>
      }
      isHeld={application.payment_held_by !== null || isSigned}
      isReady={isReady}
      lines={lines}
      isPending={pay.isPending}
      failure={pay.isError ? failedActText(pay.error, texts, format.time) : null}
      onClose={onClose}
      onDecide={pay.mutate}
    />
  );
}
