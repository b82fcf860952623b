/** The queue of reconsiderations and of requests for data: the shortest term first, each with its answer. */
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import type {
  AnsweredCaseReply,
  ReconsiderationReply,
} from '../../../src/subjects/desk/routes/reconsideration-forms.ts';
import { failureText } from '../api/failure.ts';
import { type CaseState, useReconsiderations } from '../api/reconsiderations.ts';
import card from '../base-ui/card.module.css';
import { Card, Facts } from '../base-ui/card.tsx';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { useFormat } from '../format/format.ts';
import { Pager } from '../queue/pager.tsx';
import { useLanguage, useTexts } from '../texts/texts.ts';
import { AnswerDialog } from './answer-dialog.tsx';
import styles from './reconsiderations.module.css';

const STATES = ['open', 'answered'] as const satisfies readonly CaseState[];

export default function ReconsiderationsPage({ mayAnswer }: { mayAnswer: boolean }) {
  const query = new URLSearchParams(useSearch());
  const state = STATES.find((known) => known === query.get('state')) ?? 'open';
  return <List key={state} state={state} cursor={query.get('cursor')} mayAnswer={mayAnswer} />;
}

interface ListProps {
  readonly state: CaseState;
  readonly cursor: string | null;
  readonly mayAnswer: boolean;
}

function List({ state, cursor, mayAnswer }: ListProps) {
  const texts = useTexts();
  const { reconsiderations, frame } = texts;
  const [, navigate] = useLocation();
  const remembered = useHistoryState<{ trail?: readonly string[] } | null>();
  const { data, error } = useReconsiderations(state, cursor);
  const [asked, setAsked] = useState<ReconsiderationReply | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [done, setDone] = useState<AnsweredCaseReply | null>(null);
  const open = (to: string | null, trail: readonly string[]) => {
    const next = new URLSearchParams({ state, ...(to !== null && { cursor: to }) });
    navigate(`/reconsiderations?${next}`, { state: { trail } });
  };
  const answer = (one: ReconsiderationReply) => {
    setDone(null);
    setAsked(one);
    setOpen(true);
  };
  const shown = data?.body.reconsiderations;
  return (
    <div className={styles.page}>
      <PageHeading title={reconsiderations.title} />
      <nav className={styles.lists} aria-label={reconsiderations.lists}>
        {STATES.map((name) => (
          <Link
            key={name}
            href={`/reconsiderations?state=${name}`}
            aria-current={name === state ? 'page' : undefined}
          >
            {reconsiderations.states[name]}
          </Link>
        ))}
      </nav>
      <p role="status" className={styles.said}>
        {done &&
          (done.unreached === null ? reconsiderations.told : reconsiderations.unreached[done.unreached])}
      </p>
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      {shown?.length === 0 && <p>{reconsiderations.none[state]}</p>}
      {shown?.map((one) => (
        <Case key={one.id} shown={one} onAnswer={mayAnswer && one.state === 'open' ? answer : null} />
      ))}
      {data && (
        <Pager
          {...{ cursor, next: data.body.next, trail: remembered?.trail ?? null }}
          title={reconsiderations.title}
          onOpen={open}
        />
      )}
      {asked && (
        <AnswerDialog
          key={asked.id}
          asked={asked}
          isOpen={isOpen}
          onClose={() => setOpen(false)}
          onDone={setDone}
        />
      )}
    </div>
  );
}

interface CaseProps {
  readonly shown: ReconsiderationReply;
  /** null: it cannot be answered here. */
  readonly onAnswer: ((one: ReconsiderationReply) => void) | null;
}

function Case({ shown, onAnswer }: CaseProps) {
  const { reconsiderations: texts, application, codes } = useTexts();
  const language = useLanguage();
  const format = useFormat();
  const { application: id, kind, outcome, told } = shown;
  const title = `${application.title} ${id}: ${texts.kinds[kind]}`;
  const time = (at: string) => <time dateTime={at}>{format.time(at)}</time>;
  return (
    <Card
      title={title}
      beside={
        <span className={card.quiet}>
          {shown.state === 'open' ? (
            <>
              {texts.due} {time(shown.due_at)} ({format.relative(shown.due_at)})
            </>
          ) : (
            outcome !== null && texts.outcomes[outcome]
          )}
        </span>
      }
    >
      <Facts
        facts={[
          [texts.partner, shown.partner.name],
          [texts.asked, time(shown.asked_at)],
          ...(outcome === null
            ? ([[texts.chat, shown.chat_is_open ? texts.chatOpen : texts.chatClosed]] as const)
            : ([
                [texts.answered, shown.answered_at !== null && time(shown.answered_at)],
                [texts.by, shown.answered_by],
                [texts.answer, shown.answer ?? application.unreadable],
                [texts.reply, told === null ? texts.notTold : codes.messageStatuses[told]],
              ] as const)),
        ]}
      />
      {shown.reasons.length > 0 && (
        <>
          <h3>{texts.reasons}</h3>
          <ol className={styles.reasons}>
            {shown.reasons.map(({ code, words }) => (
              <li key={code}>{words[language]}</li>
            ))}
          </ol>
        </>
      )}
      <p className={styles.acts}>
        <Link href={`/applications/${id}`}>{texts.open(id)}</Link>
        {onAnswer && (
          <button type="button" aria-label={`${texts.give}: ${title}`} onClick={() => onAnswer(shown)}>
            {texts.give}
          </button>
        )}
      </p>
    </Card>
  );
}
