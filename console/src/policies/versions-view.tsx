/** Versions, the activations that wait for a second admin, and the history. */
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type {
  ListedReply,
  PoliciesReply,
  ProposalReply,
} from '../../../src/subjects/policies/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import rows from '../base-ui/rows.module.css';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { ConfirmDialog, DeclineDialog, ProposeDialog, UndoDialog, WithdrawDialog } from './act-dialogs.tsx';
import { warningNames, whoName } from './names.ts';
import styles from './policies.module.css';
import { usePolicyTexts } from './policy-texts.ts';

interface VersionsProps {
  readonly shown: PoliciesReply;
  readonly isAdmin: boolean;
  readonly operatorId: number;
}

/** What a dialog is open for. */
type Asked =
  | { readonly act: 'propose' | 'withdraw'; readonly version: ListedReply }
  | { readonly act: 'confirm' | 'decline' | 'undo'; readonly proposal: ProposalReply };

export function VersionsView({ shown, isAdmin, operatorId }: VersionsProps) {
  const policies = usePolicyTexts();
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const open = shown.proposals.filter(({ state }) => state === 'proposed');
  return (
    <>
      <Card title={policies.open}>
        {open.length === 0 ? (
          <p>{policies.noOpen}</p>
        ) : (
          <ul className={card.list}>
            {open.map((proposal) => (
              <OpenProposal key={proposal.id} {...{ proposal, isAdmin, operatorId, onAsk: setAsked }} />
            ))}
          </ul>
        )}
        {isAdmin && <p className={card.quiet}>{policies.onlyAdmin}</p>}
      </Card>
      <h2>{policies.view.versions}</h2>
      <VersionTable versions={shown.versions} isAdmin={isAdmin} onAsk={setAsked} />
      <h2>{policies.history}</h2>
      <HistoryTable shown={shown} />
      {asked?.act === 'propose' && <ProposeDialog version={asked.version.version} onClose={close} />}
      {asked?.act === 'withdraw' && <WithdrawDialog version={asked.version.version} onClose={close} />}
      {asked?.act === 'confirm' && <ConfirmDialog proposal={asked.proposal} onClose={close} />}
      {asked?.act === 'decline' && <DeclineDialog proposal={asked.proposal} onClose={close} />}
      {asked?.act === 'undo' && <UndoDialog proposal={asked.proposal} onClose={close} />}
    </>
  );
}

/** What is wider than a phone scrolls by itself, also by keyboard. */
export function Scroll({ label, children }: { label: string; children: ReactNode }) {
  const { lead } = useTexts();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls takes the focus.
    <section className={card.scroll} aria-label={`${label}, ${lead.asTable}`} tabIndex={0}>
      {children}
    </section>
  );
}

interface OpenProps {
  readonly proposal: ProposalReply;
  readonly isAdmin: boolean;
  readonly operatorId: number;
  readonly onAsk: (asked: Asked) => void;
}

function OpenProposal({ proposal, isAdmin, operatorId, onAsk }: OpenProps) {
  const policies = usePolicyTexts();
  const format = useFormat();
  const { version, by, at, reason, accepted } = proposal;
  const isOwn = by.id === operatorId;
  return (
    <li>
      <p>
        <strong>{version}</strong> <span className={card.chip}>{policies.waits}</span>
      </p>
      <p>{reason}</p>
      <p className={card.quiet}>{policies.by(by.login, format.time(at))}</p>
      {accepted.length > 0 && (
        <p className={card.quiet}>
          {policies.accepted}: {warningNames(accepted, policies)}
        </p>
      )}
      <p>
        <Link href={`/policies?${new URLSearchParams({ view: 'difference', version })}`}>
          {policies.view.difference}
        </Link>
      </p>
      {isAdmin && (
        <div className={styles.actions}>
          {!isOwn && (
            <button
              type="button"
              data-main
              aria-label={`${policies.confirm}: ${version}`}
              onClick={() => onAsk({ act: 'confirm', proposal })}
            >
              {policies.confirm}
            </button>
          )}
          {!isOwn && (
            <button
              type="button"
              aria-label={`${policies.decline}: ${version}`}
              onClick={() => onAsk({ act: 'decline', proposal })}
            >
              {policies.decline}
            </button>
          )}
          {isOwn && (
            <button
              type="button"
              aria-label={`${policies.undo}: ${version}`}
              onClick={() => onAsk({ act: 'undo', proposal })}
            >
              {policies.undo}
            </button>
          )}
          {isOwn && <span className={card.quiet}>{policies.own}</span>}
        </div>
      )}
    </li>
  );
}

interface TableProps {
  readonly versions: readonly ListedReply[];
  readonly isAdmin: boolean;
  readonly onAsk: (asked: Asked) => void;
}

function VersionTable({ versions, isAdmin, onAsk }: TableProps) {
  const policies = usePolicyTexts();
  const format = useFormat();
  return (
    <table className={rows.rows}>
      <thead>
        <tr>
          <th scope="col">{policies.version}</th>
          <th scope="col">{policies.state}</th>
          <th scope="col">{policies.activated}</th>
          <th scope="col">{policies.added}</th>
          <th scope="col">{policies.actions}</th>
        </tr>
      </thead>
      <tbody>
        {versions.map((one) => (
          <tr key={one.version}>
            <th scope="row">
              {one.version}
              {one.title !== null && <p className={card.quiet}>{one.title}</p>}
            </th>
            <td data-label={policies.state}>
              <span className={card.chip} data-state={one.state === 'draft' ? 'in_review' : undefined}>
                {one.is_withdrawn ? policies.withdrawn : policies.states[one.state]}
              </span>
            </td>
            <td data-label={policies.activated}>
              {one.activated_at === null ? '—' : format.time(one.activated_at)}
            </td>
            <td data-label={policies.added}>
              {one.added_by === null
                ? format.time(one.added_at)
                : policies.by(whoName(one.added_by, policies), format.time(one.added_at))}
            </td>
            <td data-label={policies.actions}>
              <VersionActions {...{ one, isAdmin, onAsk }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function VersionActions({ one, isAdmin, onAsk }: Omit<TableProps, 'versions'> & { one: ListedReply }) {
  const policies = usePolicyTexts();
  const { version, state, activated_at, is_withdrawn } = one;
  const mayActivate = isAdmin && state !== 'live' && !is_withdrawn;
  const mayWithdraw = isAdmin && (state === 'draft' || state === 'ready');
  const activate = activated_at === null ? policies.activate : policies.backTo;
  const drop = state === 'draft' ? policies.drop : policies.withdraw;
  return (
    <div className={styles.actions}>
      <Link
        href={`/policies?${new URLSearchParams({ view: 'card', version })}`}
        aria-label={`${policies.show}: ${version}`}
      >
        {policies.show}
      </Link>
      <Link
        href={`/policies?${new URLSearchParams({ view: 'trial', version })}`}
        aria-label={`${policies.trial}: ${version}`}
      >
        {policies.trial}
      </Link>
      {mayActivate && (
        <button
          type="button"
          aria-label={`${activate}: ${version}`}
          onClick={() => onAsk({ act: 'propose', version: one })}
        >
          {activate}
        </button>
      )}
      {mayWithdraw && (
        <button
          type="button"
          aria-label={`${drop}: ${version}`}
          onClick={() => onAsk({ act: 'withdraw', version: one })}
        >
          {drop}
        </button>
      )}
    </div>
  );
}

/** Activations, and the proposals that led to none. */
function HistoryTable({ shown: { activations, proposals } }: { shown: PoliciesReply }) {
  const policies = usePolicyTexts();
  const format = useFormat();
  const ended = proposals.filter(({ state }) => state !== 'proposed' && state !== 'activated');
  const entries = [
    ...activations.map((one) => ({
      ...{ key: `a${one.id}`, at: one.at, version: one.version, what: policies.outcomes.activated },
      by: whoName(one.by, policies),
      second: one.second === null ? policies.alone : whoName(one.second, policies),
      reason: one.reason,
      accepted: one.accepted,
    })),
    ...ended.map((one) => ({
      ...{ key: `p${one.id}`, at: one.ended_at ?? one.at, version: one.version },
      what: policies.outcomes[one.state],
      by: one.by.login,
      second: one.second?.login ?? '—',
      reason: outcomeText(one, policies.conflicts),
      accepted: one.accepted,
    })),
  ].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return (
    <table className={rows.rows}>
      <thead>
        <tr>
          <th scope="col">{policies.version}</th>
          <th scope="col">{policies.state}</th>
          <th scope="col">{policies.proposedBy}</th>
          <th scope="col">{policies.second}</th>
          <th scope="col">{policies.why}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ key, at, version, what, by, second, reason, accepted }) => (
          <tr key={key}>
            <th scope="row">
              {version}
              <p className={card.quiet}>{format.time(at)}</p>
            </th>
            <td data-label={policies.state}>{what}</td>
            <td data-label={policies.proposedBy}>{by}</td>
            <td data-label={policies.second}>{second}</td>
            <td data-label={policies.why}>
              {reason}
              {accepted.length > 0 && (
                <p className={card.quiet}>
                  {policies.accepted}: {warningNames(accepted, policies)}
                </p>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Why a proposal ended so: the words of who declined it, or what the code of a return means. */
function outcomeText(
  { state, outcome, reason }: ProposalReply,
  conflicts: Readonly<Record<string, string>>,
): string {
  if (state === 'returned') return conflicts[outcome ?? ''] ?? outcome ?? '';
  return outcome ?? reason;
}
