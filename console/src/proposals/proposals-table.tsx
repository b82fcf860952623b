/** The rows of a list of proposals, and what the operator may do with each. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { ProposalReply } from '../../../src/desk/routes/proposal-forms.ts';
import { showProposal } from '../api/application.ts';
import { failureText } from '../api/failure.ts';
import { type ProposalList, undo } from '../api/proposals.ts';
import { ConfirmButtons } from '../decide/confirm-buttons.tsx';
import { useFormat } from '../format.ts';
import { useShortcuts } from '../keyboard/shortcuts.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './proposals.module.css';

interface ProposalsTableProps {
  readonly list: ProposalList;
  readonly proposals: readonly ProposalReply[];
  readonly operatorId: number;
}

export function ProposalsTable({ list, proposals: rows, operatorId }: ProposalsTableProps) {
  const { proposals } = useTexts();
  const [said, setSaid] = useState('');
  const { table, focused, onFocus } = useRows(rows);
  return (
    <>
      <p role="status" className={styles.said}>
        {said}
      </p>
      {rows.length === 0 && <p>{proposals.none}</p>}
      {rows.length > 0 && (
        <table ref={table} className={styles.table}>
          <Head hasActions={list !== 'ended'} />
          <tbody>
            {rows.map((proposal) => (
              <tr key={proposal.id} onFocus={() => onFocus(proposal.id)}>
                <Facts proposal={proposal} />
                {list !== 'ended' && (
                  <td data-label={proposals.actions} className={styles.actions}>
                    {list === 'mine' && proposal.state === 'proposed' && (
                      <Undo proposal={proposal} onUndone={() => setSaid(proposals.undone)} />
                    )}
                    {list === 'to_confirm' && proposal.by.id !== operatorId && (
                      <ConfirmButtons
                        proposal={proposal}
                        hasKey={proposal.id === focused}
                        onAnswered={({ state }) =>
                          setSaid(state === 'declined' ? proposals.declined : proposals.confirmed)
                        }
                      />
                    )}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

/** Moves the focus over the rows, and keeps it at its place where a row goes. */
function useRows(rows: readonly ProposalReply[]) {
  const table = useRef<HTMLTableElement>(null);
  const [, navigate] = useLocation();
  const [focused, setFocused] = useState<number | null>(null);
  const place = useRef(-1);
  const links = () => [...(table.current?.querySelectorAll<HTMLAnchorElement>('tbody th a') ?? [])];
  const move = (by: number) => {
    const all = links();
    all[Math.max(0, Math.min(all.length - 1, place.current + by))]?.focus();
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    o: () => {
      const row = rows.find(({ id }) => id === focused);
      if (row) navigate(`/applications/${row.application_id}`);
    },
  });
  const onFocus = (id: number) => {
    setFocused(id);
    place.current = rows.findIndex((row) => row.id === id);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus is looked after when the rows change.
  useEffect(() => {
    if (place.current >= 0 && document.activeElement === document.body) move(0);
  }, [rows]);
  return { table, focused, onFocus };
}

function Head({ hasActions }: { hasActions: boolean }) {
  const { proposals } = useTexts();
  const { application, act, reason, by, at, state, second } = proposals;
  return (
    <thead>
      <tr>
        {[application, act, reason, by, at, state, second].map((title) => (
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
  const { application_id, act, reason, reason_code, by, at, state, outcome, second, needs_second } = proposal;
  return (
    <>
      <th scope="row">
        <Link href={`/applications/${application_id}`}>{application_id}</Link>
      </th>
      <td data-label={proposals.act}>{desk.proposed[act]}</td>
      <td data-label={proposals.reason} className={styles.reason}>
        {desk.reasonCodes[reason_code]}
        {reason !== reason_code && <span className={styles.quiet}> {reason}</span>}
      </td>
      <td data-label={proposals.by}>{by.login}</td>
      <td data-label={proposals.at}>{format.time(at)}</td>
      <td data-label={proposals.state}>
        {desk.proposalStates[state]}
        {outcome !== null && <span className={styles.problem}>: {outcome}</span>}
      </td>
      <td data-label={proposals.second}>
        {second?.login ?? (needs_second === null ? '—' : desk.secondReasons[needs_second])}
      </td>
    </>
  );
}

function Undo({ proposal, onUndone }: { proposal: ProposalReply; onUndone: () => void }) {
  const texts = useTexts();
  const queries = useQueryClient();
  const ask = useMutation({
    mutationFn: () => undo(proposal.id),
    onSuccess: (undone) => {
      showProposal(queries, undone);
      onUndone();
      return queries.invalidateQueries({ queryKey: ['proposals'] });
    },
  });
  const known = { 404: texts.decide.tooLate, 409: texts.decide.tooLate };
  return (
    <>
      {ask.isError && <span role="alert">{failureText(ask.error, texts, known)}</span>}
      <button type="button" disabled={ask.isPending} onClick={() => ask.mutate()}>
        {texts.decide.undo}
      </button>
    </>
  );
}
