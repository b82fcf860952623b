/** What stands around every page of the console and of the portal: the name, the pages, the language. */
import type { ReactNode } from 'react';
import {
  isLanguage,
  LANGUAGES,
  type Language,
  storeLanguage,
  useLanguage,
  useTexts,
} from '../texts/texts.ts';
import styles from './frame.module.css';

interface ShellProps {
  /** The links to the pages; null: nobody is signed in. */
  readonly pages: ReactNode;
  readonly tools: ReactNode;
  readonly children: ReactNode;
}

export function Shell({ pages, tools, children }: ShellProps) {
  const { frame } = useTexts();
  return (
    <>
      <a className={styles.skip} href="#content">
        {frame.skip}
      </a>
      <header className={styles.bar}>
        <p className={styles.brand}>Ventanilla</p>
        {pages}
        <span className={styles.tools}>{tools}</span>
      </header>
      <main id="content" tabIndex={-1} className={styles.content}>
        {children}
      </main>
    </>
  );
}

export function LanguageField({ onLanguage }: { readonly onLanguage: (language: Language) => void }) {
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
