/** What stands around every page: the name, the language, the way out. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { failureText } from '../api/failure.ts';
import { type Operator, signOut, signOutEverywhere } from '../api/session.ts';
import { KeyboardHelp } from '../keyboard/keyboard-help.tsx';
import { type Language, useTexts } from '../texts/texts.ts';
import { Account } from './account.tsx';
import { LeaveDialog, useLeaving } from './leaving.tsx';
import { Pages } from './pages.tsx';
import { LanguageField, Shell } from './shell.tsx';

interface FrameProps {
  /** null: nobody is signed in. */
  readonly operator: Operator | null;
  readonly onLanguage: (language: Language) => void;
  readonly children: ReactNode;
}

export function Frame({ operator, onLanguage, children }: FrameProps) {
  return (
    <Shell
      pages={operator && <Pages role={operator.role} />}
      tools={
        operator === null ? (
          <LanguageField onLanguage={onLanguage} />
        ) : (
          <Tools operator={operator} onLanguage={onLanguage} />
        )
      }
    >
      {children}
    </Shell>
  );
}

interface ToolsProps extends FrameProps {
  readonly operator: Operator;
}

function Tools({ operator, onLanguage }: Omit<ToolsProps, 'children'>) {
  const texts = useTexts();
  const leaving = useLeaving();
  return (
    <>
      {leaving.error && <span role="alert">{failureText(leaving.error, texts)}</span>}
      <Account login={operator.login} note={texts.frame.roles[operator.role]}>
        <LanguageField onLanguage={onLanguage} />
        <Link href="/sessions">{texts.frame.sessions}</Link>
        <button type="button" disabled={leaving.isPending} onClick={() => leaving.begin(signOutEverywhere)}>
          {texts.frame.signOutEverywhere}
        </button>
      </Account>
      <KeyboardHelp />
      <button type="button" disabled={leaving.isPending} onClick={() => leaving.begin(signOut)}>
        {leaving.isSending ? texts.frame.sendingFirst : texts.frame.signOut}
      </button>
      <LeaveDialog leaving={leaving} />
    </>
  );
}
