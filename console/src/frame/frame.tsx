/** What stands around every page: the name, the language, the way out. */
import type { ReactNode } from 'react';
import { failureText } from '../api/failure.ts';
import { type Operator, signOut, signOutEverywhere } from '../api/session.ts';
import { KeyboardHelp } from '../keyboard/keyboard-help.tsx';
import {
  isLanguage,
  LANGUAGES,
  type Language,
  storeLanguage,
  useLanguage,
  useTexts,
} from '../texts/texts.ts';
import { Account } from './account.tsx';
import styles from './frame.module.css';
import { LeaveDialog, useLeaving } from './leaving.tsx';
import { Pages } from './pages.tsx';

interface FrameProps {
  /** null: nobody is signed in. */
  readonly operator: Operator | null;
  readonly onLanguage: (language: Language) => void;
  readonly children: ReactNode;
}

export function Frame({ operator, onLanguage, children }: FrameProps) {
  const { frame } = useTexts();
  return (
    <>
      <a className={styles.skip} href="#content">
        {frame.skip}
      </a>
      <header className={styles.bar}>
        <p className={styles.brand}>Ventanilla</p>
        {operator && <Pages role={operator.role} />}
        {operator === null ? (
          <span className={styles.tools}>
            <LanguageField onLanguage={onLanguage} />
          </span>
        ) : (
          <Tools operator={operator} onLanguage={onLanguage} />
        )}
      </header>
      <main id="content" tabIndex={-1} className={styles.content}>
        {children}
      </main>
    </>
  );
}

function LanguageField({ onLanguage }: Pick<FrameProps, 'onLanguage'>) {
  const { frame } = useTexts();
  const language = useLanguage();
  return (
    <select
      aria-label={frame.language}
      value={language}
      onChange={({ target: { value } }) => {
        if (!isLanguage(value)) return;
        storeLanguage(value);
        onLanguage(value);
      }}
    >
      {Object.entries(LANGUAGES).map(([tag, name]) => (
        <option key={tag} value={tag} lang={tag}>
          {name}
        </option>
      ))}
    </select>
  );
}

interface ToolsProps extends FrameProps {
  readonly operator: Operator;
}

function Tools({ operator, onLanguage }: Omit<ToolsProps, 'children'>) {
  const texts = useTexts();
  const leaving = useLeaving();
  return (
    <span className={styles.tools}>
      {leaving.error && <span role="alert">{failureText(leaving.error, texts)}</span>}
      <Account operator={operator}>
        <LanguageField onLanguage={onLanguage} />
        <button type="button" disabled={leaving.isPending} onClick={() => leaving.begin(signOutEverywhere)}>
          {texts.frame.signOutEverywhere}
        </button>
      </Account>
      <KeyboardHelp />
      <button type="button" disabled={leaving.isPending} onClick={() => leaving.begin(signOut)}>
        {leaving.isSending ? texts.frame.sendingFirst : texts.frame.signOut}
      </button>
      <LeaveDialog leaving={leaving} />
    </span>
  );
}
