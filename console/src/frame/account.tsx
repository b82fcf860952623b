/** Whose session it is, and behind its button what is seldom needed: the language, and the end of all sessions. */
import { type ReactNode, useId, useRef, useState } from 'react';
import type { Operator } from '../api/session.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './frame.module.css';

interface AccountProps {
  readonly operator: Operator;
  /** What the button shows and hides. */
  readonly children: ReactNode;
}

export function Account({ operator: { login, role }, children }: AccountProps) {
  const { frame } = useTexts();
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears what its button and fields get.
    <div
      className={styles.account}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setOpen(false);
      }}
      onKeyDown={({ key }) => {
        if (key !== 'Escape') return;
        setOpen(false);
        button.current?.focus();
      }}
    >
      <button
        ref={button}
        type="button"
        className={styles.login}
        aria-label={`${frame.account}: ${login}`}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <span>{login}</span> <span aria-hidden="true">▾</span>
      </button>
      {/* Without the focus a click into it would close it. */}
      <div id={id} className={styles.accountPanel} hidden={!isOpen} tabIndex={-1}>
        <p>
          {login}, {frame.roles[role]}
        </p>
        {children}
      </div>
    </div>
  );
}
