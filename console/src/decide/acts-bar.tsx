/** The decisions that are not over: seconds left to undo each one, and what failed. */
import { type ReactNode, useEffect, useId, useState } from 'react';
import { Link } from 'wouter';
import { browserClock } from '../clock.ts';
import { useFormat } from '../format/format.ts';
import { useShortcuts } from '../keyboard/shortcuts.ts';
import { useTexts } from '../texts/texts.ts';
import { type DecisionAct, mayRetry, mayUndo } from './acts.ts';
import styles from './decide.module.css';
import { useActs, useDesk } from './desk.tsx';
import { failedActText, tooLateText } from './failed-act.ts';

/** One line whatever waits: the decision that something happened to last, and the others behind a button. */
export function ActsBar() {
  const acts = useActs();
  const { acts: store } = useDesk();
  const { decide } = useTexts();
  useShortcuts({ u: () => store.undo() });
  const open = acts.filter(({ state }) => state !== 'failed');
  const failed = acts.filter(({ state }) => state === 'failed');
  const newest = open.findLast(mayUndo);
  const [known, setKnown] = useState(acts);
  const [lastKey, setLastKey] = useState('');
  if (known !== acts) {
    setKnown(acts);
    setLastKey(acts.findLast((act) => !known.includes(act))?.key ?? lastKey);
  }
  const first = open.find(({ key }) => key === lastKey) ?? newest ?? open.at(-1);
  const [lastFailed, ...otherFailed] = failed.toReversed();
  return (
    <>
      <Others
        name={decide.moreActs}
        acts={open.filter((act) => act !== first).toReversed()}
        line={
          <div role="status" aria-atomic="false" aria-label={decide.acts}>
            {first && (
              <div key={first.key} className={styles.act}>
                <OpenAct act={first} isNewest={first === newest} />
              </div>
            )}
          </div>
        }
        show={(act) => <OpenAct act={act} isNewest={false} />}
      />
      <Others
        name={decide.moreFailed}
        acts={otherFailed}
        line={lastFailed && <FailedAct act={lastFailed} />}
        show={(act) => <FailedAct act={act} />}
      />
    </>
  );
}

interface OthersProps {
  /** Of the button, by how many there are. */
  readonly name: (count: number) => string;
  /** What stands behind the button. */
  readonly acts: readonly DecisionAct[];
  /** What stands beside it. */
  readonly line: ReactNode;
  readonly show: (act: DecisionAct) => ReactNode;
}

function Others({ name, acts, line, show }: OthersProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const hasOthers = acts.length > 0;
  return (
    <>
      {hasOthers && isOpen && (
        <ul id={id} className={styles.others} aria-label={name(acts.length)}>
          {acts.map((act) => (
            <li key={act.key} className={styles.act}>
              {show(act)}
            </li>
          ))}
        </ul>
      )}
      <div className={styles.acts}>
        {line}
        {hasOthers && (
          <button
            type="button"
            className={styles.more}
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            onClick={() => setOpen(!isOpen)}
          >
            {name(acts.length)}
          </button>
        )}
      </div>
    </>
  );
}

function OpenAct({ act, isNewest }: { act: DecisionAct; isNewest: boolean }) {
  const { decide, desk } = useTexts();
  const { acts } = useDesk();
  const { key, applicationId, state, proposal } = act;
  const waitsForSecond =
    proposal?.state === 'proposed' &&
    proposal.needs_second !== null &&
    (state === 'proposed' || state === 'over');
  return (
    <>
      <span className={styles.what}>
        {applicationId}: {desk.proposed[act.body.act]}
        {state === 'undone' && `, ${decide.undone}`}
        {state === 'over' && proposal && `. ${desk.proposalStates[proposal.state]}`}
        {waitsForSecond && `, ${decide.waitsForSecond}`}
      </span>
      {state === 'sending' && (
        <span className={styles.quiet}>{act.isUnwanted ? decide.undoing : decide.sending}</span>
      )}
      {(state === 'proposed' || state === 'undoing') && <SecondsLeft until={act.undoUntil} />}
      {(mayUndo(act) || state === 'undoing') && (
        <button type="button" disabled={state === 'undoing'} onClick={() => acts.undo(key)}>
          {decide.undo} <span className={styles.unseen}>{decide.application(applicationId)}</span>
          {isNewest && <kbd>u</kbd>}
        </button>
      )}
      {(state === 'undone' || state === 'over') && (
        <Link href={`/applications/${applicationId}`}>{decide.open}</Link>
      )}
    </>
  );
}

/** Counts down without being read out each second. */
function SecondsLeft({ until }: { until: number }) {
  const { decide } = useTexts();
  const [now, setNow] = useState(() => browserClock.monotonicMs());
  useEffect(() => {
    const timer = browserClock.every(250, () => setNow(browserClock.monotonicMs()));
    return () => timer.cancel();
  }, []);
  const seconds = Math.max(0, Math.ceil((until - now) / 1_000));
  return (
    <span role="timer" aria-live="off" className={styles.seconds}>
      {decide.seconds(seconds)}
    </span>
  );
}

function FailedAct({ act: { key, applicationId, body, error, proposal, isUnwanted } }: { act: DecisionAct }) {
  const texts = useTexts();
  const { decide, desk } = texts;
  const { acts } = useDesk();
  const format = useFormat();
  const isUndo = proposal !== null || isUnwanted;
  const tooLate = proposal === null ? null : tooLateText(error, texts);
  const why = tooLate ?? failedActText(error, texts, format.time);
  return (
    <div className={styles.failed} role="alert">
      <span>
        {applicationId}: {desk.proposed[body.act]}
        {isUndo && `, ${decide.notUndone}`}. {why}
      </span>
      <Link href={`/applications/${applicationId}`}>{decide.open}</Link>
      {mayRetry(error) && (
        <button type="button" onClick={() => acts.retry(key)}>
          {decide.retry}
        </button>
      )}
      <button type="button" onClick={() => acts.dismiss(key)}>
        {decide.dismiss}
      </button>
    </div>
  );
}
