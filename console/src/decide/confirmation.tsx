/** What a second operator confirms: the decision, what it is about, and what speaks against it. */
import type { FormEvent, ReactNode } from 'react';
import type { ProposalFactsReply } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import { bandOf } from '../api/filters.ts';
import type { ShownProposal } from '../api/proposals.ts';
import { Facts } from '../base-ui/card.tsx';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useFormat } from '../format/format.ts';
import { type Texts, useTexts } from '../texts/texts.ts';
import styles from './decide.module.css';

const DOCUMENT_STATES = ['accepted', 'received', 'rejected'] as const;

interface ConfirmDialogProps {
  readonly proposal: ShownProposal;
  readonly isPending: boolean;
  /** Why the last try failed; null: none did. */
  readonly failure: string | null;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}

/** Nothing is confirmed before it is shown: the dialog opens first, and its button confirms. */
export function ConfirmDialog({ proposal, isPending, failure, onClose, onConfirm }: ConfirmDialogProps) {
  const { decide, desk, frame } = useTexts();
  const { facts } = proposal;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isPending && !facts.lacks_authority) onConfirm();
  };
  return (
    <Dialog
      isOpen
      isPending={isPending}
      onClose={onClose}
      title={`${decide.confirm}: ${desk.proposed[proposal.act]}, ${decide.application(proposal.application_id)}`}
      note={<Confirmed proposal={proposal} />}
    >
      <form className={styles.form} onSubmit={submit}>
        {facts.lacks_authority && <p className={styles.held}>{desk.conflicts.no_authority}</p>}
        {failure !== null && <p role="alert">{failure}</p>}
        <DialogButtons>
          <button type="submit" data-main disabled={isPending || facts.lacks_authority}>
            {decide.confirm}
          </button>
          <button type="button" disabled={isPending} onClick={onClose}>
            {frame.cancel}
          </button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}

function Confirmed({ proposal }: { proposal: ShownProposal }) {
  const { application, codes, decide, desk, queue } = useTexts();
  const format = useFormat();
  const { reason, reason_code, by, at, needs_second, facts } = proposal;
  const { partner, currency, debt_amount, decision, documents, observed_income } = facts;
  const shown: (readonly [string, ReactNode])[] = [
    [queue.amount, <strong key="amount">{format.amount(debt_amount, currency)}</strong>],
    [queue.score, <ScoreText key="score" {...facts} />],
    [decide.scoreSaid, decision === null ? queue.unreadable : codes.decisions[decision]],
    [queue.partner, partner?.name ?? queue.unreadable],
    [application.documents, documentsText(documents, codes.documentStates) || application.none],
    [application.observed, <Income key="income" {...{ observed_income, currency }} />],
    [application.by, `${by.login}, ${format.time(at)}`],
    [application.code, desk.reasonCodes[reason_code]],
  ];
  if (facts.lines === null) shown.push([decide.payment, queue.unreadable]);
  facts.lines?.forEach(({ payee, amount, reference, value_date }, at) => {
    const sum = format.amount(Number(amount), currency);
    shown.push([decide.line(at + 1), `${payee}: ${sum}, ${reference}, ${value_date}`]);
  });
  if (proposal.act === 'disburse' && facts.lines?.length === 0) shown.push([decide.payment, decide.noLines]);
  if (facts.lines?.length && !facts.objections.includes('lines_differ'))
    shown.push([decide.payment, decide.asContract]);
  if (reason !== '' && reason !== reason_code) shown.push([application.why, reason]);
  if (needs_second !== null) shown.push([application.second, desk.secondReasons[needs_second]]);
  return (
    <>
      <Facts facts={shown} />
      <h3>{decide.against}</h3>
      <AgainstList {...facts} />
    </>
  );
}

/** How many documents have each state, but for none. */
function documentsText(
  documents: ProposalFactsReply['documents'],
  states: Texts['codes']['documentStates'],
): string {
  return DOCUMENT_STATES.filter((state) => documents[state] > 0)
    .map((state) => `${states[state]}: ${documents[state]}`)
    .join(', ');
}

function Income({ observed_income, currency }: Pick<ProposalFactsReply, 'observed_income' | 'currency'>) {
  const { application, decide } = useTexts();
  const format = useFormat();
  if (observed_income === null) return application.none;
  const { observed, confirmed } = observed_income;
  return `${format.amount(observed, currency)}, ${confirmed ? decide.incomeConfirmed : decide.incomeOpen}`;
}

/** What speaks against a decision, or that nothing does. */
export function AgainstList({ against, objections }: Pick<ProposalFactsReply, 'against' | 'objections'>) {
  const { decide, desk } = useTexts();
  if (against.length + objections.length === 0)
    return <span className={styles.quiet}>{decide.nothingAgainst}</span>;
  return (
    <ul className={styles.against}>
      {against.map((one) => (
        <li key={one}>{desk.against[one]}</li>
      ))}
      {objections.map((one) => (
        <li key={one}>{desk.returnedFor[one]}</li>
      ))}
    </ul>
  );
}

/** The score with the band that it is in. */
export function ScoreText({ score }: Pick<ProposalFactsReply, 'score'>) {
  const { queue } = useTexts();
  if (score === null) return queue.unreadable;
  return (
    <>
      {score} <span className={styles.quiet}>({bandOf(score).join('–')})</span>
    </>
  );
}
