/** How it stands with the review: due when, who holds it, what is missing, what is proposed. */
import type { ReactNode } from 'react';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import type { ProposalReply } from '../../../src/subjects/desk/routes/proposal-forms.ts';
import type { PendReply } from '../../../src/subjects/desk/routes/work-forms.ts';
import { timeNow } from '../api/service-time.ts';
import card from '../base-ui/card.module.css';
import { Card, Facts } from '../base-ui/card.tsx';
import { useClaimState } from '../decide/desk.tsx';
import { outcomeText } from '../decide/outcome.ts';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './application.module.css';

export function Standing({ application: { id, review, proposal } }: { application: ApplicationReply }) {
  const { application: texts, desk, queue } = useTexts();
  // What was read of a claim may be older than the claim of this page.
  const isMine = useClaimState(id).is === 'held';
  const format = useFormat();
  if (!review && !proposal) return null;
  const facts: (readonly [string, ReactNode])[] = [];
  if (review) {
    facts.push([texts.state, desk.queueStates[review.state]]);
    if (review.due_at !== null) facts.push([texts.due, <Due key="due" at={review.due_at} />]);
    const { claim } = review;
    const read = claim === null ? texts.nobody : texts.until(claim.by.login, format.time(claim.until));
    facts.push([texts.heldBy, isMine ? queue.me : read]);
  }
  return (
    <Card title={texts.review}>
      {facts.length > 0 && <Facts facts={facts} />}
      {review?.pend && <Pended pend={review.pend} />}
      {proposal && <Proposed proposal={proposal} />}
    </Card>
  );
}

/** The time that is left, and the time itself. */
function Due({ at }: { at: string }) {
  const { application: texts } = useTexts();
  const format = useFormat();
  const isOverdue = Date.parse(at) < timeNow();
  return (
    <span className={isOverdue ? styles.overdue : undefined}>
      {isOverdue && `${texts.overdue}, `}
      {format.relative(at)} <span className={card.quiet}>({format.time(at)})</span>
    </span>
  );
}

function Pended({ pend: { missing, by, at, ends_at, message } }: { pend: PendReply }) {
  const { application: texts, codes, desk } = useTexts();
  const format = useFormat();
  return (
    <div className={styles.part}>
      <h3>{texts.missing}</h3>
      <ul className={styles.bullets}>
        {missing.map((what) => (
          <li key={what}>{desk.missing[what]}</li>
        ))}
      </ul>
      <p className={card.quiet}>
        {texts.pendedBy(by.login, format.time(at))} {texts.comesBack(format.time(ends_at))}{' '}
        {codes.pendMessages[message]}
      </p>
    </div>
  );
}

function Proposed({ proposal }: { proposal: ProposalReply }) {
  const { application: texts, desk } = useTexts();
  const format = useFormat();
  const { act, reason_code, reason, by, at, apply_at, state, needs_second, second, ended_at } = proposal;
  const facts: (readonly [string, ReactNode])[] = [
    [texts.state, desk.proposalStates[state]],
    [texts.code, desk.reasonCodes[reason_code]],
    [texts.by, `${by.login}, ${format.time(at)}`],
  ];
  if (reason !== '' && reason !== reason_code) facts.push([texts.why, reason]);
  // Until the second operator confirms, nothing applies it at that time.
  const waitsForSecond = needs_second !== null && second === null;
  if (state === 'proposed' && !waitsForSecond) facts.push([texts.appliesAt, format.time(apply_at)]);
  if (needs_second !== null)
    facts.push([texts.second, second === null ? desk.secondReasons[needs_second] : second.login]);
  if (ended_at !== null) facts.push([texts.ended, format.time(ended_at)]);
  const outcome = outcomeText(proposal, desk);
  if (outcome !== null) facts.push([texts.outcome, outcome]);
  return (
    <div className={styles.part}>
      <h3>
        {texts.proposal}: {desk.proposed[act]}
      </h3>
      <Facts facts={facts} />
    </div>
  );
}
