/** The rows of a list of proposals, and what the operator may do with each. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { ListedProposalReply, ProposalReply } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import { showProposal } from '../api/application.ts';
import { failureText } from '../api/failure.ts';
import { type ProposalList, undo } from '../api/proposals.ts';
import { ConfirmButtons } from '../decide/confirm-buttons.tsx';
import { AgainstList, ScoreText } from '../decide/confirmation.tsx';
import { tooLateText } from '../decide/failed-act.ts';
import { outcomeText } from '../decide/outcome.ts';
import { useFormat } from '../format/format.ts';
import { useShortcuts } from '../keyboard/shortcuts.ts';
import { useSteadyRows } from '../queue/use-steady-rows.ts';
import { type Texts, useTexts } from '../texts/texts.ts';
import styles from './proposals.module.css';

interface ProposalsTableProps {
  readonly list: ProposalList;
  readonly proposals: readonly ListedProposalReply[];
  readonly operatorId: number;
}

export function ProposalsTable({ list, proposals: fresh, operatorId }: ProposalsTableProps) {
  const { proposals, queue } = useTexts();
  const [said, setSaid] = useState('');
  /** What the operator's own acts made of rows. Such a row stays until the focus goes, so that no key meets another one. */
  const [answers, setAnswers] = useState<ReadonlyMap<number, ProposalReply>>(new Map());
  const { rows, isBehind, hold, release, onBlur } = useSteadyRows(fresh);
  const shown = rows.map(({ item, isGone }) => ({ proposal: { ...item, ...answers.get(item.id) }, isGone }));
  const { table, focused, onFocus } = useFocusedRow(
    shown.map(({ proposal }) => proposal),
    answers,
  );
  const hasActions = list === 'mine' || list === 'to_confirm';
  const onAnswered = (answered: ProposalReply) => {
    hold();
    setAnswers((known) => new Map(known).set(answered.id, answered));
    setSaid(`${answered.application_id}: ${answerText(list, answered, proposals)}`);
  };
  return (
    <>
      <p role="status" className={styles.said}>
        {said}
      </p>
      {shown.length === 0 && <p>{proposals.none}</p>}
      {shown.length > 0 && (
        <table
          ref={table}
          className={styles.table}
          onFocus={hold}
          onBlur={(event) => {
            onBlur(event);
            onFocus(null);
          }}
        >
          <Head isToConfirm={list === 'to_confirm'} hasActions={hasActions} />
          <tbody>
            {shown.map(({ proposal, isGone }) => (
              <tr
                key={proposal.id}
                data-id={proposal.id}
                data-gone={isGone || undefined}
                onFocus={() => onFocus(proposal.id)}
              >
                {list === 'to_confirm' ? (
                  <FactsToConfirm proposal={proposal} />
                ) : (
                  <Facts proposal={proposal} />
                )}
                {hasActions && (
                  <td data-label={proposals.actions} className={styles.actions}>
                    {answers.has(proposal.id) && answerText(list, proposal, proposals)}
                    {isGone && !answers.has(proposal.id) && queue.gone}
                    {!isGone && !answers.has(proposal.id) && (
                      <Actions
                        {...{ list, proposal, operatorId, onAnswered }}
                        hasKey={proposal.id === focused}
                      />
                    )}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p role="status" className={styles.said}>
        {isBehind && (
          <>
            {queue.behind}{' '}
            <button type="button" onClick={release}>
              {queue.reorder}
            </button>
          </>
        )}
      </p>
    </>
  );
}

/** What an act on a row of the list came to. */
function answerText(list: ProposalList, { state }: ProposalReply, texts: Texts['proposals']): string {
  if (list === 'mine') return texts.undone;
  return state === 'declined' ? texts.declined : texts.confirmed;
}

interface ActionsProps {
  readonly list: ProposalList;
  readonly proposal: ListedProposalReply;
  readonly operatorId: number;
  readonly hasKey: boolean;
  readonly onAnswered: (answered: ProposalReply) => void;
}

function Actions({ list, proposal, operatorId, hasKey, onAnswered }: ActionsProps) {
  if (list === 'mine') return proposal.state === 'proposed' && <Undo {...{ proposal, onAnswered }} />;
  return proposal.by.id !== operatorId && <ConfirmButtons {...{ proposal, hasKey, onAnswered }} />;
}

/** Moves the focus over the rows. Where a button is answered and goes, the focus stays at the row, at its link. */
function useFocusedRow(rows: readonly ProposalReply[], answered: ReadonlyMap<number, ProposalReply>) {
  const table = useRef<HTMLTableElement>(null);
  const [, navigate] = useLocation();
  const [focused, setFocused] = useState<number | null>(null);
  /** The row that had the focus last. */
  const last = useRef<number | null>(null);
  const focus = (id: number | null | undefined) =>
    table.current?.querySelector<HTMLElement>(`[data-id="${id}"] th a`)?.focus();
  const move = (by: number) => {
    const place = rows.findIndex(({ id }) => id === last.current);
    focus(rows[Math.max(0, Math.min(rows.length - 1, place + by))]?.id);
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    o: () => {
      const row = rows.find(({ id }) => id === focused);
      if (row) navigate(`/applications/${row.application_id}`);
    },
  });
  const onFocus = (id: number | null) => {
    setFocused(id);
    if (id !== null) last.current = id;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus is looked after when a row is answered.
  useEffect(() => {
    if (answered.has(last.current ?? 0) && document.activeElement === document.body) focus(last.current);
  }, [answered]);
  return { table, focused, onFocus };
}

function Head({ isToConfirm, hasActions }: { isToConfirm: boolean; hasActions: boolean }) {
  const { decide, proposals, queue } = useTexts();
  const { application, act, reason, by, at, state, second } = proposals;
  const titles = isToConfirm
    ? [application, act, queue.amount, queue.score, queue.partner, reason, decide.against, by]
    : [application, act, reason, by, at, state, second];
  return (
    <thead>
      <tr>
        {titles.map((title) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
        {hasActions && <th scope="col">{proposals.actions}</th>}
      </tr>
    </thead>
  );
}

function Facts({ proposal }: { proposal: ProposalReply }) {
  const { desk, proposals } = useTexts();
  const format = useFormat();
  const { act, by, at, state } = proposal;
  const outcome = outcomeText(proposal, desk);
  return (
    <>
      <Named proposal={proposal} />
      <td data-label={proposals.act}>{desk.proposed[act]}</td>
      <Reason proposal={proposal} />
      <td data-label={proposals.by}>{by.login}</td>
      <td data-label={proposals.at}>{format.time(at)}</td>
      <td data-label={proposals.state}>
        {desk.proposalStates[state]}
        {outcome !== null && <span className={styles.problem}>: {outcome}</span>}
      </td>
      <Second proposal={proposal} />
    </>
  );
}

/** What waits for a second operator is shown with what it is about. */
function FactsToConfirm({ proposal }: { proposal: ListedProposalReply }) {
  const { codes, decide, desk, proposals, queue } = useTexts();
  const format = useFormat();
  const { act, by, at, facts, needs_second } = proposal;
  const decision = facts?.decision ?? null;
  return (
    <>
      <Named proposal={proposal} />
      <td data-label={proposals.act}>
        {desk.proposed[act]}
        {needs_second !== null && <span className={styles.quiet}> {desk.secondReasons[needs_second]}</span>}
      </td>
      <td data-label={queue.amount}>
        {format.wholeAmount(facts?.debt_amount ?? null, facts?.currency ?? null)}
      </td>
      <td data-label={queue.score}>
        <ScoreText score={facts?.score ?? null} />
        {decision !== null && <span className={styles.quiet}> {codes.decisions[decision]}</span>}
      </td>
      <td data-label={queue.partner} className={styles.reason}>
        {facts?.partner?.name ?? queue.unreadable}
      </td>
      <Reason proposal={proposal} />
      <td data-label={decide.against} className={styles.against}>
        <AgainstList against={facts?.against ?? []} objections={facts?.objections ?? []} />
      </td>
      <td data-label={proposals.by}>
        {by.login} <span className={styles.quiet}>{format.time(at)}</span>
      </td>
    </>
  );
}

function Named({ proposal: { application_id } }: { proposal: ProposalReply }) {
  return (
    <th scope="row">
      <Link href={`/applications/${application_id}`}>{application_id}</Link>
    </th>
  );
}

function Reason({ proposal: { reason, reason_code } }: { proposal: ProposalReply }) {
  const { desk, proposals } = useTexts();
  return (
    <td data-label={proposals.reason} className={styles.reason}>
      {desk.reasonCodes[reason_code]}
      {reason !== reason_code && <span className={styles.quiet}> {reason}</span>}
    </td>
  );
}

function Second({ proposal: { second, needs_second } }: { proposal: ProposalReply }) {
  const { desk, proposals } = useTexts();
  return (
    <td data-label={proposals.second}>
      {second?.login ?? (needs_second === null ? '—' : desk.secondReasons[needs_second])}
    </td>
  );
}

function Undo({ proposal, onAnswered }: Pick<ActionsProps, 'proposal' | 'onAnswered'>) {
  const texts = useTexts();
  const queries = useQueryClient();
  const ask = useMutation({
    mutationFn: () => undo(proposal.id),
    onSuccess: (undone) => {
      showProposal(queries, undone);
      onAnswered(undone);
      return queries.invalidateQueries({ queryKey: ['proposals'] });
    },
  });
  return (
    <>
      {ask.isError && (
        <span role="alert">{tooLateText(ask.error, texts) ?? failureText(ask.error, texts)}</span>
      )}
      <button type="button" disabled={ask.isPending} onClick={() => ask.mutate()}>
        {texts.decide.undo}
      </button>
    </>
  );
}
