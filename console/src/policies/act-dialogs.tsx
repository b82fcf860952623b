/** The dialogs of what an admin does: propose, confirm, decline, undo, withdraw. Nothing is done before it is shown. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { ProposalReply } from '../../../src/subjects/policies/routes/forms.ts';
import {
  endProposal,
  propose,
  refreshPolicies,
  stopShadow,
  useCard,
  useDifference,
  usePolicies,
  withdraw,
} from '../api/policies.ts';
import card from '../base-ui/card.module.css';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useFormat } from '../format/format.ts';
import lead from '../lead/lead.module.css';
import { useTexts } from '../texts/texts.ts';
import { useNaming } from './card-tables.tsx';
import { CountingNote } from './counting.tsx';
import { findingText } from './names.ts';
import { useFailure, usePolicyTexts } from './policy-texts.ts';

interface ActProps {
  readonly title: string;
  readonly note?: ReactNode;
  readonly button: string;
  /** false: something is missing, and the button does nothing. */
  readonly isReady?: boolean;
  readonly onAct: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** Does one act. Whatever came of it, the page asks again. */
function ActDialog({ title, note, button, isReady = true, onAct, onClose, children }: ActProps) {
  const policies = usePolicyTexts();
  const { frame } = useTexts();
  const failure = useFailure();
  const queries = useQueryClient();
  const acting = useMutation({
    mutationFn: onAct,
    onSuccess: onClose,
    onSettled: () => refreshPolicies(queries),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !acting.isPending) acting.mutate();
  };
  return (
    <Dialog isOpen isPending={acting.isPending} onClose={onClose} title={title} note={note}>
      <form className={card.form} noValidate onSubmit={submit}>
        {children}
        {acting.error && (
          <p role="alert">{failure(acting.error, { 400: policies.badReason, 403: policies.own })}</p>
        )}
        <DialogButtons>
          <button type="submit" data-main disabled={!isReady || acting.isPending}>
            {button}
          </button>
          <button type="button" disabled={acting.isPending} onClick={onClose}>
            {frame.cancel}
          </button>
        </DialogButtons>
      </form>
    </Dialog>
  );
}

function ReasonField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const policies = usePolicyTexts();
  return (
    <label>
      {policies.reason}
      <input
        type="text"
        maxLength={500}
        autoComplete="off"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

interface WarningsProps {
  /** null: they are on their way. */
  readonly codes: readonly string[] | null;
  readonly texts: ReadonlyMap<string, string>;
  readonly accepted: ReadonlySet<string>;
  readonly onChange: (accepted: ReadonlySet<string>) => void;
}

/** Each warning is accepted by its name. */
function Warnings({ codes, texts, accepted, onChange }: WarningsProps) {
  const naming = useNaming();
  const { policies } = naming;
  const { frame } = useTexts();
  if (codes === null) return <p>{frame.loading}</p>;
  if (codes.length === 0) return <p>{policies.noWarnings}</p>;
  return (
    <fieldset className={lead.choices}>
      <legend>{policies.warnings}</legend>
      {codes.map((code) => (
        <label key={code} className={lead.choice}>
          <input
            type="checkbox"
            checked={accepted.has(code)}
            onChange={({ target }) => {
              const next = new Set(accepted);
              if (target.checked) next.add(code);
              else next.delete(code);
              onChange(next);
            }}
          />
          <span>{texts.get(code) ?? findingText({ code, facts: [] }, naming)}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** How many people a version touches against the live one, and the way to what differs. */
function Touched({ version }: { version: string }) {
  const policies = usePolicyTexts();
  const format = useFormat();
  const live = usePolicies().data?.body.versions.find(({ state }) => state === 'live')?.version ?? null;
  const { data } = useDifference(live, version);
  const { applications, changed, since } = data?.body ?? {};
  const isKnown = applications != null && changed != null && since != null;
  return (
    <>
      <CountingNote reply={data?.body} />
      {isKnown && (
        <p>
          {applications === 0
            ? policies.nobody
            : policies.changed(format.number(changed), format.number(applications), since)}
        </p>
      )}
      <p>
        <Link href={`/policies?${new URLSearchParams({ view: 'difference', version })}`}>
          {policies.view.difference}
        </Link>{' '}
        <Link href={`/policies?${new URLSearchParams({ view: 'trial', version })}`}>
          {policies.view.trial}
        </Link>
      </p>
    </>
  );
}

/** What a version says of itself, for a dialog about it. */
function useWarnings(version: string) {
  const { data } = useCard(version);
  const naming = useNaming();
  const texts = new Map(data?.body.findings.map((one) => [one.code, findingText(one, naming)]));
  return { codes: data?.body.to_accept ?? null, texts };
}

interface VersionProps {
  readonly version: string;
  readonly onClose: () => void;
}

export function ProposeDialog({ version, onClose }: VersionProps) {
  const policies = usePolicyTexts();
  const { codes, texts } = useWarnings(version);
  const [reason, setReason] = useState('');
  const [accepted, setAccepted] = useState<ReadonlySet<string>>(new Set());
  const isReady = codes?.every((code) => accepted.has(code)) === true && reason.trim() !== '';
  return (
    <ActDialog
      title={policies.proposeTitle(version)}
      note={policies.proposeNote}
      button={policies.propose}
      isReady={isReady}
      onAct={() => propose(version, reason.trim(), [...accepted])}
      onClose={onClose}
    >
      <Touched version={version} />
      <ReasonField value={reason} onChange={setReason} />
      <Warnings {...{ codes, texts, accepted }} onChange={setAccepted} />
    </ActDialog>
  );
}

interface ProposalProps {
  readonly proposal: ProposalReply;
  readonly onClose: () => void;
}

export function ConfirmDialog({ proposal, onClose }: ProposalProps) {
  const policies = usePolicyTexts();
  const { texts } = useWarnings(proposal.version);
  const [accepted, setAccepted] = useState<ReadonlySet<string>>(new Set());
  return (
    <ActDialog
      title={policies.confirmTitle(proposal.version)}
      note={<ProposalNote proposal={proposal} text={policies.confirmNote} />}
      button={policies.confirm}
      isReady={proposal.accepted.every((code) => accepted.has(code))}
      onAct={() => endProposal(proposal.id, 'confirm', { accept: [...accepted] })}
      onClose={onClose}
    >
      <Touched version={proposal.version} />
      <Warnings {...{ texts, accepted }} codes={proposal.accepted} onChange={setAccepted} />
    </ActDialog>
  );
}

function ProposalNote({ proposal: { by, at, reason }, text }: { proposal: ProposalReply; text?: string }) {
  const policies = usePolicyTexts();
  const format = useFormat();
  return (
    <>
      {text !== undefined && <p>{text}</p>}
      <p>{reason}</p>
      <p>{policies.by(by.login, format.time(at))}</p>
    </>
  );
}

export function DeclineDialog({ proposal, onClose }: ProposalProps) {
  const policies = usePolicyTexts();
  const [reason, setReason] = useState('');
  return (
    <ActDialog
      title={policies.declineTitle(proposal.version)}
      note={<ProposalNote proposal={proposal} />}
      button={policies.decline}
      isReady={reason.trim() !== ''}
      onAct={() => endProposal(proposal.id, 'decline', { reason: reason.trim() })}
      onClose={onClose}
    >
      <ReasonField value={reason} onChange={setReason} />
    </ActDialog>
  );
}

export function UndoDialog({ proposal, onClose }: ProposalProps) {
  const policies = usePolicyTexts();
  return (
    <ActDialog
      title={`${policies.undo}: ${proposal.version}`}
      note={<ProposalNote proposal={proposal} />}
      button={policies.undo}
      onAct={() => endProposal(proposal.id, 'undo', {})}
      onClose={onClose}
    />
  );
}

export function WithdrawDialog({ version, onClose }: VersionProps) {
  const policies = usePolicyTexts();
  return (
    <ActDialog
      title={policies.withdrawTitle(version)}
      note={policies.withdrawNote}
      button={policies.withdraw}
      onAct={() => withdraw(version)}
      onClose={onClose}
    />
  );
}

export function StopShadowDialog({ version, onClose }: VersionProps) {
  const policies = usePolicyTexts();
  return (
    <ActDialog
      title={policies.stopTitle(version)}
      note={policies.stopNote}
      button={policies.stopShadow}
      onAct={() => stopShadow(version)}
      onClose={onClose}
    />
  );
}
