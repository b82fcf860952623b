/** Whose session it is, and behind its button what is seldom needed: the language, and the end of all sessions. */
import type { ReactNode } from 'react';
import type { Operator } from '../api/session.ts';
import { useTexts } from '../texts/texts.ts';
import { Disclosure } from './disclosure.tsx';
import styles from './frame.module.css';

interface AccountProps {
  readonly operator: Operator;
  /** What the button shows and hides. */
  readonly children: ReactNode;
}

export function Account({ operator: { login, role }, children }: AccountProps) {
  const { frame } = useTexts();
  return (
    <Disclosure
      label={login}
      name={`${frame.account}: ${login}`}
      className={styles.account}
      panelClassName={styles.accountPanel}
    >
      <p>
        {login}, {frame.roles[role]}
      </p>
      {children}
    </Disclosure>
  );
}
