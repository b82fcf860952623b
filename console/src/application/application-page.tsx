/** The page of one application: what a reviewer reads before a decision. */
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { ApplicationReply, RevealedReply } from '../../../src/subjects/desk/routes/forms.ts';
import { reveal, useApplication } from '../api/application.ts';
import { failureText } from '../api/failure.ts';
import card from '../base-ui/card.module.css';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { type Texts, useTexts } from '../texts/texts.ts';
import styles from './application.module.css';
import { Asked } from './asked.tsx';
import { FoldedChat } from './chat.tsx';
import { Corrections } from './corrections.tsx';
import { Debts } from './debts.tsx';
import { Evidence } from './evidence.tsx';
import { KeyFigures } from './key-figures.tsx';
import { Neighbours } from './neighbours.tsx';
import { Notes } from './notes.tsx';
import { Payment } from './payment.tsx';
import { usePersonal } from './personal.ts';
import { Points } from './points.tsx';
import { RevealDialog } from './reveal-dialog.tsx';
import { type SectionName, Sections } from './sections.tsx';
import { Standing } from './standing.tsx';
import { useStatusText } from './status-text.ts';
import { Summary } from './summary.tsx';
import { Timeline } from './timeline.tsx';

interface PageProps {
  /** The number as the address has it. */
  readonly id: string;
  readonly mayReveal: boolean;
  readonly mayCorrect: boolean;
}

export default function ApplicationPage({ id, ...may }: PageProps) {
  const texts = useTexts();
  const { application } = texts;
  const { data, error, isPending } = useApplication(id);
  if (isPending) return <p>{texts.frame.loading}</p>;
  // What stands below it may be old.
  const failure = error && <p role="alert">{failureText(error, texts, { 404: application.notFound })}</p>;
  return (
    <>
      {!data && <PageHeading title={application.title} />}
      {failure}
      {data && <Shown key={id} application={data.body} {...may} />}
    </>
  );
}

type ShownProps = Omit<PageProps, 'id'> & { readonly application: ApplicationReply };

function Shown({ application, mayReveal, mayCorrect }: ShownProps) {
  const { application: texts, inbox } = useTexts();
  const [revealed, setRevealed] = usePersonal<RevealedReply>();
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <PageHeading title={`${texts.title} ${application.id}`}>
        <Status application={application} />
        {application.chat.conversation !== null && (
          <Link href={`/inbox/${application.id}`}>{inbox.conversation}</Link>
        )}
        {mayReveal && (
          <button
            type="button"
            className={styles.reveal}
            onClick={() => (revealed === null ? setAsking(true) : setRevealed(null))}
          >
            {revealed === null ? texts.reveal : texts.hide}
          </button>
        )}
      </PageHeading>
      <RevealDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={texts.revealTitle}
        ask={(reason, key) => reveal(application.id, reason, key)}
        onRevealed={setRevealed}
      />
      <KeyFigures application={application} />
      <Sections sections={sectionsOf(application, texts)} />
      <div className={styles.columns}>
        <div className={styles.column}>
          <Section id="evidence">
            <Evidence application={application} revealed={revealed} mayReveal={mayReveal} />
          </Section>
          <Section id="facts">
            <Summary application={application} revealed={revealed} />
            <Corrections application={application} revealed={revealed} mayCorrect={mayCorrect} />
          </Section>
          <Section id="points">
            <Points application={application} />
          </Section>
          <Section id="debts">
            <Debts application={application} revealed={revealed} />
          </Section>
          <Section id="chat">
            <FoldedChat application={application} revealed={revealed} />
            <Asked revealed={revealed} />
          </Section>
        </div>
        <div className={styles.column}>
          <Section id="review">
            <Standing application={application} />
            <Payment application={application} />
          </Section>
          <Section id="neighbours">
            <Neighbours id={application.id} />
          </Section>
          <Section id="notes">
            <Notes application={application} mayWrite={mayReveal} />
          </Section>
          <Section id="timeline">
            <Timeline application={application} />
          </Section>
        </div>
      </div>
    </>
  );
}

/** Those that the application has, in the order of the page. */
function sectionsOf(
  { debts, review, proposal }: ApplicationReply,
  texts: Texts['application'],
): readonly SectionName[] {
  return [
    ...([
      ['evidence', texts.evidence],
      ['facts', texts.facts],
      ['points', texts.points],
    ] as const),
    ...(debts === null ? [] : [['debts', texts.debtList] as const]),
    ['chat', texts.chat],
    ...(review || proposal ? [['review', texts.review] as const] : []),
    ...([
      ['neighbours', texts.neighbours],
      ['notes', texts.notes],
      ['timeline', texts.timeline],
    ] as const),
  ];
}

function Section({ id, children }: { id: string; children: ReactNode }) {
  return (
    <div id={id} className={styles.section}>
      {children}
    </div>
  );
}

function Status({ application: { status, signed_at, score, decision } }: { application: ApplicationReply }) {
  const { application: texts, codes } = useTexts();
  const statusText = useStatusText();
  return (
    <>
      <span className={card.chip} data-state={status ?? undefined}>
        {statusText(status, signed_at !== null)}
      </span>
      <span>
        {texts.score} <strong>{score ?? '—'}</strong>
        {decision !== null && <span className={card.quiet}> ({codes.decisions[decision]})</span>}
      </span>
    </>
  );
}
