/** What stands around every page: the name, the language, the way out. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { failureText } from '../api/failure.ts';
import { type Operator, signOut } from '../api/session.ts';
import { forget } from '../api/signed-in.ts';
import { KeyboardHelp } from '../keyboard/keyboard-help.tsx';
import {
  isLanguage,
  LANGUAGES,
  type Language,
  storeLanguage,
  useLanguage,
  useTexts,
} from '../texts/texts.ts';
import styles from './frame.module.css';
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
        <span className={styles.tools}>
          {operator && <KeyboardHelp />}
          <LanguageField onLanguage={onLanguage} />
          {operator && <SignOut operator={operator} />}
        </span>
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

function SignOut({ operator }: { operator: Operator }) {
  const texts = useTexts();
  const queries = useQueryClient();
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => forget(queries),
  });
  return (
    <>
      {leave.isError && <span role="alert">{failureText(leave.error, texts)}</span>}
      <span className={styles.login}>{operator.login}</span>
      <button type="button" disabled={leave.isPending} onClick={() => leave.mutate()}>
        {texts.frame.signOut}
      </button>
    </>
  );
}
