/** Says what became of a sign-in at the identity provider. */
import { useState } from 'react';
import { useTexts } from '../texts/texts.ts';
import type { ArrivalOutcome } from './arrival.ts';
import styles from './sign-in.module.css';

export function OutcomeNote({ outcome }: { outcome: ArrivalOutcome | null }) {
  const { frame, signIn } = useTexts();
  const [isOpen, setOpen] = useState(true);
  if (outcome === null || !isOpen) return null;
  return (
    <div className={styles.note}>
      <p role={outcome === 'again' ? 'status' : 'alert'}>{signIn.outcomes[outcome]}</p>
      <button type="button" onClick={() => setOpen(false)}>
        {frame.close}
      </button>
    </div>
  );
}
