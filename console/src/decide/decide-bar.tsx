/** What an operator may do with the application on the page, by buttons and by keys. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { ReviewAction } from '../../../src/domain/application/lifecycle.ts';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import type { NewProposalBody } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import { useApplication } from '../api/application.ts';
import type { Reply } from '../api/ask.ts';
import { resume } from '../api/proposals.ts';
import { useFormat } from '../format/format.ts';
import { useShortcuts } from '../keyboard/shortcuts.ts';
import { useTexts } from '../texts/texts.ts';
import { ACT_KEYS, type Choices, choicesOf } from './choices.ts';
import { ConfirmButtons } from './confirm-buttons.tsx';
import styles from './decide.module.css';
import { useClaimState, useDesk } from './desk.tsx';
import { failedActText } from './failed-act.ts';
import { PayDialog } from './pay-dialog.tsx';
import { PendDialog } from './pend-dialog.tsx';
import { ReasonDialog } from './reason-dialog.tsx';
import { useNext } from './use-next.ts';

/** `id` is the number as the address has it. */
export function DecideBar({ id, operatorId }: { id: string; operatorId: number }) {
  const { data } = useApplication(id);
  const next = useNext(Number(id), data?.body);
  const { decide } = useTexts();
  const [, navigate] = useLocation();
  const search = useSearch();
  const toQueue = () => navigate(search === '' ? '/queue' : `/queue?${search}`);
  useShortcuts({ n: next.skip, q: toQueue });
  return (
    <section className={styles.bar} aria-label={decide.bar}>
      {data && <Decide key={id} shown={data} operatorId={operatorId} onDecided={next.open} />}
      <span className={styles.last}>
        {next.failure !== null && <span role="alert">{next.failure}</span>}
        <button type="button" onClick={toQueue}>
          <Way sign="←">{decide.toQueue}</Way> <kbd>q</kbd>
        </button>
        <button type="button" disabled={next.isPending} onClick={next.skip}>
          <Way sign="→">{decide.next}</Way> <kbd>n</kbd>
        </button>
      </span>
    </section>
  );
}

/** A word, and on a phone a sign in its place. */
function Way({ sign, children }: { sign: string; children: string }) {
  return (
    <>
      <span className={styles.word}>{children}</span>
      <span aria-hidden="true" className={styles.sign}>
        {sign}
      </span>
    </>
  );
}

interface DecideProps {
  readonly shown: Reply<ApplicationReply>;
  readonly operatorId: number;
  readonly onDecided: () => void;
}

/** What is asked for in a dialog, with the entity tag of the application when it opened. */
type Asked = { readonly act: ReviewAction | 'pend'; readonly etag: string } | null;

function Decide({ shown, operatorId, onDecided }: DecideProps) {
  const { decide, desk: names } = useTexts();
  const desk = useDesk();
  const application = shown.body;
  const { id } = application;
  const choices = choicesOf(application, operatorId);
  const [asked, setAsked] = useState<Asked>(null);
  const etag = shown.etag ?? `"${application.last_event}"`;
  const ask = (act: ReviewAction | 'pend', may: boolean) => (may ? () => setAsked({ act, etag }) : undefined);
  const offers = {
    approve: ask('approve', choices.acts.includes('approve')),
    reject: ask('reject', choices.acts.includes('reject')),
    disburse: ask('disburse', choices.acts.includes('disburse')),
  };
  const askPend = ask('pend', choices.mayPend);
  useShortcuts({ a: offers.approve, r: offers.reject, d: offers.disburse, p: askPend });
  const done = () => {
    setAsked(null);
    desk.claims.forget(id);
    onDecided();
  };
  const decideOn = (body: NewProposalBody, on: string) => {
    desk.acts.decide({ applicationId: id, body, etag: on });
    // What is not of the queue has no next one.
    if (application.status === 'in_review') done();
    else setAsked(null);
  };
  return (
    <>
      <Standing application={application} choices={choices} etag={etag} />
      {choices.acts.map((act) => (
        <button key={act} type="button" data-main={act === 'approve' || undefined} onClick={offers[act]}>
          {names.acts[act]} <kbd>{ACT_KEYS[act]}</kbd>
        </button>
      ))}
      {askPend && (
        <button type="button" onClick={askPend}>
          {decide.pend} <kbd>p</kbd>
        </button>
      )}
      {choices.mayResume && <Resume id={id} />}
      {choices.open !== null && choices.mayConfirm && <ConfirmButtons proposal={choices.open} hasKey />}
      {asked?.act === 'pend' && (
        <PendDialog
          id={id}
          takesText={application.chat.takes_text}
          etag={asked.etag}
          onClose={() => setAsked(null)}
          onPended={done}
        />
      )}
      {asked?.act === 'disburse' && (
        <PayDialog
          application={application}
          etag={asked.etag}
          title={`${names.acts.disburse}: ${decide.application(id)}`}
          onClose={() => setAsked(null)}
        />
      )}
      {asked !== null && asked.act !== 'pend' && asked.act !== 'disburse' && (
        <ReasonDialog
          act={asked.act}
          title={`${names.acts[asked.act]}: ${decide.application(id)}`}
          contradicted={
            new Map(application.contradicted.map(({ reason_code, why }) => [reason_code, names.against[why]]))
          }
          onClose={() => setAsked(null)}
          onDecide={(body) => decideOn(body, asked.etag)}
        />
      )}
    </>
  );
}

interface StandingProps {
  readonly application: ApplicationReply;
  readonly choices: Choices;
  readonly etag: string;
}

/** How it stands with the application: who holds it, what is proposed, whether it changed under the eyes. */
function Standing({ application: { id }, choices: { acts, open }, etag }: StandingProps) {
  const { decide, desk } = useTexts();
  const format = useFormat();
  const claim = useClaimState(id);
  const first = useRef(etag);
  const said = () => {
    if (open !== null) {
      const proposed = decide.proposedBy(desk.proposed[open.act], open.by.login);
      return open.needs_second === null || open.second !== null
        ? proposed
        : `${proposed}; ${decide.waitsForSecond}`;
    }
    if (acts.length === 0) return decide.notInQueue;
    if (claim.is === 'other') return decide.heldBy(claim.login, format.time(claim.until));
    if (claim.is === 'asked') return decide.asking;
    if (claim.is !== 'held') return '';
    return claim.wasRefused ? decide.freed : decide.held;
  };
  return (
    <span role="status" className={styles.standing}>
      {acts.length > 0 && etag !== first.current ? decide.changed : said()}
    </span>
  );
}

function Resume({ id }: { id: number }) {
  const texts = useTexts();
  const format = useFormat();
  const queries = useQueryClient();
  const ask = useMutation({
    mutationFn: () => resume(id),
    onSuccess: () => queries.resetQueries({ queryKey: ['application', String(id)] }),
  });
  return (
    <>
      {ask.isError && <span role="alert">{failedActText(ask.error, texts, format.time)}</span>}
      <button type="button" disabled={ask.isPending} onClick={() => ask.mutate()}>
        {texts.decide.resume}
      </button>
    </>
  );
}
