/** Whose session it is, and behind its button what is seldom needed: the language, and the end of all sessions. */
import type { ReactNode } from 'react';
import { useTexts } from '../texts/texts.ts';
import { Disclosure } from './disclosure.tsx';
import styles from './frame.module.css';

interface AccountProps {
  readonly login: string;
  /** Beside the login: the role. */
  readonly note: string;
  /** What the button shows and hides. */
  readonly children: ReactNode;
}

export function Account({ login, note, children }: AccountProps) {
  const { frame } = useTexts();
  return (
    <Disclosure
      label={login}
      name={`${frame.account}: ${login}`}
      className={styles.account}
      panelClassName={styles.accountPanel}
    >
      <p>
        {login}, {note}
      </p>
      {children}
    </Disclosure>
  );
}
