/** Shadows with what they have counted against the live version of their time. */
import type { ShadowReply } from '../../../src/subjects/evaluation/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { useFormat } from '../format/format.ts';
import styles from './policies.module.css';
import { usePolicyTexts } from './policy-texts.ts';
import { Swapped } from './swap-table.tsx';
import { differing } from './swaps.ts';

interface ShadowListProps {
  readonly shadows: readonly ShadowReply[];
  /** Asks for the end of the shadow of a version; null: nobody may. */
  readonly onStop?: ((version: string) => void) | null;
}

export function ShadowList({ shadows, onStop = null }: ShadowListProps) {
  const policies = usePolicyTexts();
  const format = useFormat();
  if (shadows.length === 0) return <p>{policies.noShadow}</p>;
  return (
    <ul className={card.list}>
      {shadows.map(({ id, version, live, state, applications, matrix, ...shadow }) => (
        <li key={id}>
          <h3>
            {policies.shadowOf(version, live)}{' '}
            <span className={card.chip}>{policies.shadowStates[state]}</span>
          </h3>
          <p className={card.quiet}>
            {policies.fromTo(format.time(shadow.started_at), format.time(shadow.ended_at ?? shadow.ends_at))}{' '}
            {shadow.ended_why !== null && policies.endedWhy[shadow.ended_why]}
          </p>
          <p>
            {applications === 0
              ? policies.nothingCounted
              : policies.differ(format.number(differing(matrix)), format.number(applications))}
          </p>
          {applications > 0 && <Swapped rows={matrix} />}
          {onStop !== null && state === 'running' && (
            <div className={styles.actions}>
              <button
                type="button"
                aria-label={`${policies.stopShadow}: ${version}`}
                onClick={() => onStop(version)}
              >
                {policies.stopShadow}
              </button>
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
