/** Proposals of the operator that came back while the page was open: they became illegal, or were declined. */
import { useState } from 'react';
import { Link } from 'wouter';
import { useProposals } from '../api/proposals.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './decide.module.css';

/** It stands on every page, and little comes back. */
const POLL_MS = 15_000;

export function Returned() {
  const { decide, desk } = useTexts();
  const { data } = useProposals('mine', null, POLL_MS);
  const back = data?.body.proposals.filter(({ state }) => state === 'returned' || state === 'declined');
  // What had come back before is on the page of proposals.
  const [known, setKnown] = useState<ReadonlySet<number> | null>(null);
  if (back === undefined) return null;
  if (known === null) {
    setKnown(new Set(back.map(({ id }) => id)));
    return null;
  }
  return back
    .filter(({ id }) => !known.has(id))
    .map(({ id, application_id, act, state, outcome }) => (
      <div key={id} className={styles.failed} role="alert">
        <span>
          {application_id}: {desk.proposed[act]}. {desk.proposalStates[state]}: {outcome}
        </span>
        <Link href={`/applications/${application_id}`}>{decide.open}</Link>
        <button type="button" onClick={() => setKnown(new Set([...known, id]))}>
          {decide.dismiss}
        </button>
      </div>
    ));
}
