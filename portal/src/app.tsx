/** The page of the portal: the sign-in, or what a person at a partner may see. */
import { type ComponentType, lazy, useEffect, useState } from 'react';
import { Route, Switch } from 'wouter';
import { failureText } from '../../console/src/api/failure.ts';
import { PageHeading } from '../../console/src/base-ui/page-heading.tsx';
import { LazyPage } from '../../console/src/frame/lazy-page.tsx';
import { SignInAgain } from '../../console/src/sign-in/again.tsx';
import { Enrol } from '../../console/src/sign-in/enrol.tsx';
import { useGoingOn } from '../../console/src/sign-in/going-on.ts';
import { SignIn } from '../../console/src/sign-in/sign-in.tsx';
import { firstLanguage, type Language, LanguageContext, useTexts } from '../../console/src/texts/texts.ts';
import { AccountsPage } from './accounts-page.tsx';
import { type Person, usePerson } from './api.ts';
import { EventsPage } from './events-page.tsx';
import { Frame } from './frame.tsx';
import { KeysPage } from './keys-page.tsx';
import { OverviewPage } from './overview-page.tsx';
import { SandboxPage } from './sandbox-page.tsx';

/** Texts of the console come with it, and the reader of spreadsheets is large: each page is a file of its own. */
const RequestsPage = lazy(() => import('./requests-page.tsx'));
const SendPage = lazy(() => import('./send/send-page.tsx'));

/** `token` is that of the link that opened the page; null: it opened without one. */
export function App({ token }: { token: string | null }) {
  const [language, setLanguage] = useState(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return (
    <LanguageContext value={language}>
      <Inside token={token} onLanguage={setLanguage} />
    </LanguageContext>
  );
}

function Inside({ token, onLanguage }: { token: string | null; onLanguage: (to: Language) => void }) {
  const texts = useTexts();
  const [isEnrolling, setEnrolling] = useState(token !== null);
  const session = usePerson();
  useGoingOn(session as never);
  const { operator: person = null, isOver = false } = session.data ?? {};
  if (token !== null && isEnrolling) {
    return (
      <Frame person={null} onLanguage={onLanguage}>
        <Enrol token={token} isBound={false} onDone={() => setEnrolling(false)} />
      </Frame>
    );
  }
  return (
    <Frame person={isOver ? null : person} onLanguage={onLanguage}>
      {session.isPending && <p>{texts.frame.loading}</p>}
      {session.isError && <p role="alert">{failureText(session.error, texts)}</p>}
      {session.data && (person === null || isOver) && <SignIn key={person?.id} ended={person} />}
      {person && !isOver && <Pages key={person.id} person={person} />}
      {person && <SignInAgain operator={person} />}
    </Frame>
  );
}

/** The pages by path. */
const PAGES: Readonly<Record<string, ComponentType<{ person: Person }>>> = {
  '/': OverviewPage,
  '/events': EventsPage,
  '/requests': () => (
    <LazyPage>
      <RequestsPage />
    </LazyPage>
  ),
  '/keys': KeysPage,
  '/sandbox': SandboxPage,
  '/accounts': AccountsPage,
  '/send': ({ person }) => (
    <LazyPage>
      <SendPage person={person} />
    </LazyPage>
  ),
};

function Pages({ person }: { person: Person }) {
  const { frame } = useTexts();
  return (
    <Switch>
      {Object.entries(PAGES).map(([path, Page]) => (
        <Route key={path} path={path}>
          <Page person={person} />
        </Route>
      ))}
      <Route>
        <PageHeading title={frame.notFound} />
      </Route>
    </Switch>
  );
}
