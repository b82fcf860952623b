/** One conversation of the inbox: the chat, the reply, and the ways to end the answer. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { RevealedReply } from '../../../src/subjects/desk/routes/forms.ts';
import type { InboxConversationReply } from '../../../src/subjects/desk/routes/inbox-forms.ts';
import { reveal, useWholeApplication } from '../api/application.ts';
import { AnswerError } from '../api/ask.ts';
import { failureText } from '../api/failure.ts';
import { releaseConversation, useConversation, useConversationClaim } from '../api/inbox.ts';
import { Chat } from '../application/chat.tsx';
import { Notes } from '../application/notes.tsx';
import { usePersonal } from '../application/personal.ts';
import { RevealDialog } from '../application/reveal-dialog.tsx';
import { Card, Facts } from '../base-ui/card.tsx';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { browserClock } from '../clock.ts';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { CloseConversation, HandBack, TakeOver } from './end-acts.tsx';
import styles from './inbox.module.css';
import { NextPerson } from './next-person.tsx';
import { Reply } from './reply.tsx';

interface PageProps {
  /** The application's number, as the address has it. */
  readonly id: string;
  readonly mayAnswer: boolean;
  readonly operatorId: number;
}

export default function ConversationPage({ id, mayAnswer, operatorId }: PageProps) {
  const texts = useTexts();
  const { inbox, frame } = texts;
  const { data, error } = useConversation(id);
  return (
    <>
      <PageHeading title={`${inbox.conversation} ${id}`}>
        {mayAnswer && <NextPerson isMain={data?.body.waits_since === null} />}
      </PageHeading>
      <p className={styles.line}>
        <Link href="/inbox">{inbox.toInbox}</Link>
        <Link href={`/applications/${id}`}>{inbox.toApplication}</Link>
      </p>
      {error && <p role="alert">{failureText(error, texts, { 404: inbox.gone })}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      {data && <Shown id={id} shown={data.body} mayAnswer={mayAnswer} operatorId={operatorId} />}
    </>
  );
}

function Shown({ id, shown, mayAnswer, operatorId }: PageProps & { readonly shown: InboxConversationReply }) {
  const { inbox, codes } = useTexts();
  const format = useFormat();
  const isHeld = shown.held_by === 'operator';
  const claim = useConversationClaim(id, mayAnswer && isHeld);
  useEffect(() => () => releaseConversation(browserClock, id, operatorId), [id, operatorId]);
  useTick();
  const isLost = claim.error instanceof AnswerError && claim.error.status === 409;
  const isMine = isHeld && claim.data !== undefined && !isLost;
  const { window_until: until, waits_since: waits } = shown;
  const isClosed = shown.unsayable === 'window_closed';
  return (
    <div className={styles.columns}>
      <div className={styles.column}>
        <LiveChat id={id} shown={shown} mayReveal={mayAnswer} />
        {mayAnswer && isHeld && <Reply id={id} shown={shown} isMine={isMine} />}
      </div>
      <div className={styles.column}>
        <Card title={inbox.standing}>
          <p role="status" className={styles.status}>
            <Speaker shown={shown} claim={mayAnswer ? claim : null} />
          </p>
          <Facts
            facts={[
              [inbox.partner, shown.partner.name],
              [inbox.step, codes.places[shown.step]],
              [inbox.why, shown.why && inbox.reasons[shown.why]],
              [inbox.waits, waits && format.relative(waits)],
              [
                isClosed ? inbox.windowOver : inbox.window,
                until === null ? inbox.never : `${format.time(until)} (${format.relative(until)})`,
              ],
            ]}
          />
          {mayAnswer && !isHeld && shown.ended_at === null && <TakeOver id={id} />}
        </Card>
        {isMine && <HandBack key={shown.step} id={id} steps={shown.steps} />}
        {isMine && shown.ended_at === null && <CloseConversation id={id} />}
        <ApplicationNotes id={id} mayWrite={mayAnswer} />
      </div>
    </div>
  );
}

interface SpeakerProps {
  readonly shown: InboxConversationReply;
  /** null: the operator answers nobody. */
  readonly claim: ReturnType<typeof useConversationClaim> | null;
}

/** Who speaks, and who answers. */
function Speaker({ shown, claim }: SpeakerProps) {
  const texts = useTexts();
  const format = useFormat();
  const { inbox } = texts;
  if (shown.held_by === 'service') return shown.ended_at === null ? inbox.serviceSpeaks : inbox.over;
  if (claim === null) return shown.claim?.by.login ?? inbox.nobody;
  if (claim.isSuccess) return inbox.held;
  if (!claim.isError) return null;
  const { body } = claim.error instanceof AnswerError ? claim.error : { body: null };
  const by = body?.by as { login: string } | undefined;
  return by && typeof body?.until === 'string'
    ? inbox.heldByOther(by.login, format.time(body.until))
    : failureText(claim.error, texts);
}

/** The window counts down between two answers too. */
function useTick() {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = browserClock.every(30_000, () => tick((n) => n + 1));
    return () => timer.cancel();
  }, []);
}

function ApplicationNotes({ id, mayWrite }: { id: string; mayWrite: boolean }) {
  const { data } = useWholeApplication(id);
  return data === undefined ? null : <Notes application={data.body} mayWrite={mayWrite} />;
}

interface LiveChatProps {
  readonly id: string;
  readonly shown: InboxConversationReply;
  readonly mayReveal: boolean;
}

/** The chat, read again when something was said. What is revealed is read again with the reason that was given. */
function LiveChat({ id, shown, mayReveal }: LiveChatProps) {
  const { application: texts, inbox } = useTexts();
  const { data, refetch } = useWholeApplication(id);
  const queries = useQueryClient();
  const [revealed, setRevealed] = usePersonal<RevealedReply>();
  const [isAsking, setAsking] = useState(false);
  const given = useRef<{ reason: string; key: string } | null>(null);
  const heard = useRef(shown.heard_at);
  const [hasArrived, setArrived] = useState(false);
  const said = `${shown.heard_at} ${shown.waits_since} ${shown.step} ${data?.body.chat.conversation?.replies.length}`;
  const read = async (reason: string, key: string) => {
    given.current = { reason, key };
    return reveal(Number(id), reason, key);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was said is the reason to read again.
  useEffect(() => {
    setArrived(heard.current !== shown.heard_at);
    heard.current = shown.heard_at;
    void refetch();
    if (given.current === null || revealed === null) return;
    const { reason, key } = given.current;
    // A key stands for a reading for ten minutes: then it is another one.
    read(reason, key)
      .catch(() => read(reason, crypto.randomUUID()))
      .then(setRevealed)
      .catch(() => setRevealed(null));
  }, [said, queries]);
  const box = useRef<HTMLElement>(null);
  const lines = data?.body.chat.conversation?.inputs.length;
  // The newest line is what is answered.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was said or revealed is the reason to go to the end.
  useEffect(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [said, lines, revealed]);
  if (data === undefined) return null;
  return (
    <>
      {mayReveal && (
        <p className={styles.line}>
          <button type="button" onClick={() => (revealed === null ? setAsking(true) : setRevealed(null))}>
            {revealed === null ? texts.reveal : texts.hide}
          </button>
        </p>
      )}
      <RevealDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={texts.revealTitle}
        ask={read}
        onRevealed={setRevealed}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls takes the focus. */}
      <section ref={box} className={styles.chat} aria-label={inbox.lines} tabIndex={0}>
        <Chat application={data.body} revealed={revealed} />
      </section>
      <p role="status" className={styles.status}>
        {hasArrived && inbox.arrived}
      </p>
    </>
  );
}
