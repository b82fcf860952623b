/** The second operator's answer to a proposal: confirm what a dialog shows of it, or decline with a reason. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { ListedProposalReply, ProposalReply } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import { showProposal } from '../api/application.ts';
import { failureText } from '../api/failure.ts';
import { changedTo, confirm, decline, type ShownProposal } from '../api/proposals.ts';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useShortcuts } from '../keyboard/shortcuts.ts';
import { useTexts } from '../texts/texts.ts';
import { ConfirmDialog } from './confirmation.tsx';
import styles from './decide.module.css';

interface ConfirmButtonsProps {
  readonly proposal: ListedProposalReply;
  /** `c` is for this one. */
  readonly hasKey: boolean;
  readonly onAnswered?: (answered: ProposalReply) => void;
}

export function ConfirmButtons({ proposal, hasKey, onAnswered }: ConfirmButtonsProps) {
  const texts = useTexts();
  const { decide, proposals } = texts;
  const queries = useQueryClient();
  /** The proposal to confirm, which stays as it was when the dialog opened: nothing changes below the button. */
  const [asked, setAsked] = useState<ShownProposal | 'decline' | null>(null);
  const onSuccess = (answered: ProposalReply) => {
    setAsked(null);
    showProposal(queries, answered);
    onAnswered?.(answered);
    return queries.invalidateQueries({ queryKey: ['proposals'] });
  };
  const yes = useMutation({
    mutationFn: confirm,
    onSuccess,
    onError: (error) => {
      const now = changedTo(error)?.proposal;
      if (now !== undefined) setAsked(now);
    },
  });
  const no = useMutation({ mutationFn: (reason: string) => decline(proposal.id, reason), onSuccess });
  // A second press, or one beside a decline that is on its way, answers nothing more.
  const isPending = yes.isPending || no.isPending;
  const { facts } = proposal;
  const ask = () => {
    yes.reset();
    if (facts !== undefined) setAsked({ ...proposal, facts });
  };
  useShortcuts({ c: hasKey && !isPending && facts !== undefined ? ask : undefined });
  const known = { 403: proposals.ownProposal, 404: proposals.moved };
  const close = () => setAsked(null);
  return (
    <>
      <button type="button" data-main disabled={isPending || facts === undefined} onClick={ask}>
        {decide.confirm} <kbd className={hasKey ? undefined : styles.absent}>c</kbd>
      </button>
      <button type="button" disabled={isPending} onClick={() => setAsked('decline')}>
        {decide.decline}
      </button>
      {asked !== null && asked !== 'decline' && (
        <ConfirmDialog
          proposal={asked}
          isPending={yes.isPending}
          failure={yes.isError ? failureText(yes.error, texts, known) : null}
          onClose={close}
          onConfirm={() => yes.mutate(asked)}
        />
      )}
      {asked === 'decline' && (
        <DeclineDialog
          title={`${decide.decline}: ${decide.application(proposal.application_id)}`}
          isPending={no.isPending}
          failure={no.isError ? failureText(no.error, texts, known) : null}
          onClose={close}
          onDecline={(reason) => no.mutate(reason)}
        />
      )}
    </>
  );
}

interface DeclineDialogProps {
  readonly title: string;
  readonly isPending: boolean;
  readonly failure: string | null;
  readonly onClose: () => void;
  readonly onDecline: (reason: string) => void;
}

function DeclineDialog({ title, isPending, failure, onClose, onDecline }: DeclineDialogProps) {
  const { decide, frame } = useTexts();
  const [reason, setReason] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onDecline(reason.trim());
  };
  return (
    <Dialog isOpen isPending={isPending} onClose={onClose} title={title}>
      <form className={styles.form} onSubmit={submit}>
        <label>
          {decide.declineReason}
          <input
            required
            maxLength={500}
            autoComplete="off"
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </label>
        {failure !== null && <p role="alert">{failure}</p>}
        <DialogButtons>
          <button type="submit" data-main disabled={isPending}>
            {decide.decline}
          </button>
          <button type="button" disabled={isPending} onClick={onClose}>
            {frame.cancel}
          </button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}
