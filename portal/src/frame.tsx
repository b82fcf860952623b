/** What stands around every page of the portal: the pages, whose account it is, the language, the way out. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { failureText } from '../../console/src/api/failure.ts';
import { signOut, signOutEverywhere } from '../../console/src/api/session.ts';
import { leave } from '../../console/src/api/signed-in.ts';
import { Account } from '../../console/src/frame/account.tsx';
import styles from '../../console/src/frame/frame.module.css';
import { LanguageField, Shell } from '../../console/src/frame/shell.tsx';
import { type Language, useTexts } from '../../console/src/texts/texts.ts';
import type { Person } from './api.ts';
import { usePortalTexts } from './texts.ts';

const PAGES = {
  overview: '/',
  events: '/events',
  requests: '/requests',
  keys: '/keys',
  sandbox: '/sandbox',
  send: '/send',
  accounts: '/accounts',
} as const;

interface FrameProps {
  /** null: nobody is signed in. */
  readonly person: Person | null;
  readonly onLanguage: (to: Language) => void;
  readonly children: ReactNode;
}

export function Frame({ person, onLanguage, children }: FrameProps) {
  return (
    <Shell
      pages={person && <Links />}
      tools={
        person === null ? (
          <LanguageField onLanguage={onLanguage} />
        ) : (
          <Tools person={person} onLanguage={onLanguage} />
        )
      }
    >
      {children}
    </Shell>
  );
}

function Links() {
  const { frame } = useTexts();
  const { pages } = usePortalTexts();
  const [location] = useLocation();
  return (
    <nav aria-label={frame.pages}>
      <ul className={styles.pages}>
        {Object.entries(PAGES).map(([page, path]) => (
          <li key={page}>
            <Link href={path} aria-current={location === path ? 'page' : undefined}>
              {pages[page as keyof typeof PAGES]}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Tools({ person, onLanguage }: { person: Person; onLanguage: (to: Language) => void }) {
  const texts = useTexts();
  const { roles } = usePortalTexts();
  const queries = useQueryClient();
  const leaving = useMutation({ mutationFn: (end: () => Promise<void>) => leave(queries, end) });
  return (
    <>
      {leaving.error && <span role="alert">{failureText(leaving.error, texts)}</span>}
      <Account login={person.login} note={`${person.partner.name}, ${roles[person.role]}`}>
        <LanguageField onLanguage={onLanguage} />
        <button type="button" disabled={leaving.isPending} onClick={() => leaving.mutate(signOutEverywhere)}>
          {texts.frame.signOutEverywhere}
        </button>
      </Account>
      <button type="button" disabled={leaving.isPending} onClick={() => leaving.mutate(signOut)}>
        {texts.frame.signOut}
      </button>
    </>
  );
}
