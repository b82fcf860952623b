/** Proposals of the operator that came back while the page was open: they became illegal, or were declined. */
import { useState } from 'react';
import { Link } from 'wouter';
import { useCameBack } from '../api/proposals.ts';
import { useTexts } from '../texts/texts.ts';
import { cameBack } from './came-back.ts';
import styles from './decide.module.css';
import { outcomeText } from './outcome.ts';

export function Returned() {
  const { decide, desk } = useTexts();
  const back = useCameBack().data?.body;
  // What had come back before is on the page of proposals. The last one is the first.
  const [before, setBefore] = useState<string | null>(null);
  const [dismissed, setDismissed] = useState<ReadonlySet<number>>(new Set());
  if (back === undefined) return null;
  const newest = back.proposals[0]?.ended_at ?? '';
  if (before === null) {
    setBefore(newest);
    return null;
  }
  const { shown, more } = cameBack(back, before, dismissed);
  if (shown.length === 0) return null;
  return (
    // One alert, so that many that come back at once are read out as one; then only what is new.
    <div role="alert" aria-atomic="false">
      {shown.map(({ id, application_id, act, state, ...ended }) => (
        <div key={id} className={styles.failed}>
          <span>
            {application_id}: {desk.proposed[act]}. {desk.proposalStates[state]}: {outcomeText(ended, desk)}
          </span>
          <Link href={`/applications/${application_id}`}>{decide.open}</Link>
          <button type="button" onClick={() => setDismissed(new Set([...dismissed, id]))}>
            {decide.dismiss}
          </button>
        </div>
      ))}
      {more !== null && (
        <div className={styles.failed}>
          <Link href="/proposals?list=came_back">{decide.moreBack(more)}</Link>
          <button type="button" onClick={() => setBefore(newest)}>
            {decide.dismissAll}
          </button>
        </div>
      )}
    </div>
  );
}
