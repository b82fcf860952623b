/** The page: the sign-in, or what an operator who is signed in may see. */
import { Activity, lazy, useEffect, useState } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { failureText } from './api/failure.ts';
import type { Operator } from './api/session.ts';
import { useSession } from './api/signed-in.ts';
import styles from './app.module.css';
import { PageHeading } from './base-ui/page-heading.tsx';
import { DeskProvider } from './decide/desk.tsx';
import { Dock } from './decide/dock.tsx';
import { guardLeaving } from './decide/unsent.ts';
import { Frame } from './frame/frame.tsx';
import { LazyPage } from './frame/lazy-page.tsx';
import { ProposalsPage } from './proposals/proposals-page.tsx';
import { QueuePage } from './queue/queue-page.tsx';
import { SignInAgain } from './sign-in/again.tsx';
import type { Arrival } from './sign-in/arrival.ts';
import { Enrol } from './sign-in/enrol.tsx';
import { useGoingOn } from './sign-in/going-on.ts';
import { OutcomeNote } from './sign-in/outcome-note.tsx';
import { SignIn } from './sign-in/sign-in.tsx';
import { firstLanguage, LanguageContext, useTexts } from './texts/texts.ts';

const loadApplication = () => import('./application/application-page.tsx');
const ApplicationPage = lazy(loadApplication);
/** Few operators lead: the page is a file of its own. */
const LeadPage = lazy(() => import('./lead/lead-page.tsx'));
const ViewsPage = lazy(() => import('./views/views-page.tsx'));
const PersonPage = lazy(() => import('./views/person-page.tsx'));
const InboxPage = lazy(() => import('./inbox/inbox-page.tsx'));
const ConversationPage = lazy(() => import('./inbox/conversation-page.tsx'));
const ReconsiderationsPage = lazy(() => import('./reconsiderations/reconsiderations-page.tsx'));
/** The same of the business, of the service and of the policies. */
const BehindPage = lazy(() => import('./business/behind-page.tsx'));
const BusinessPage = lazy(() => import('./business/business-page.tsx'));
const OperatorsPage = lazy(() => import('./service/operators-page.tsx'));
const SessionsPage = lazy(() => import('./service/sessions-page.tsx'));
const HealthPage = lazy(() => import('./service/health-page.tsx'));
const PartnersPage = lazy(() => import('./partners/partners-page.tsx'));
const PartnerPage = lazy(() => import('./partners/partner-page.tsx'));
const BrandPage = lazy(() => import('./partners/brand-page.tsx'));
const PoliciesPage = lazy(() => import('./policies/policies-page.tsx'));

/** `arrival` is what the address said that opened the page. */
export function App({ arrival }: { arrival: Arrival }) {
  const [language, setLanguage] = useState(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  useEffect(() => guardLeaving(window), []);
  return (
    <LanguageContext value={language}>
      <Inside arrival={arrival} onLanguage={setLanguage} />
    </LanguageContext>
  );
}

function Inside({
  arrival: { token, isBound, outcome },
  onLanguage,
}: {
  arrival: Arrival;
  onLanguage: (to: ReturnType<typeof firstLanguage>) => void;
}) {
  const texts = useTexts();
  const [isEnrolling, setEnrolling] = useState(token !== null);
  const session = useSession();
  useGoingOn(session);
  if (token !== null && isEnrolling) {
    return (
      <Frame operator={null} onLanguage={onLanguage}>
        <Enrol token={token} isBound={isBound} onDone={() => setEnrolling(false)} />
      </Frame>
    );
  }
  const { operator = null, isOver = false } = session.data ?? {};
  return (
    <Frame operator={isOver ? null : operator} onLanguage={onLanguage}>
      <OutcomeNote outcome={outcome} />
      {session.isPending && <p>{texts.frame.loading}</p>}
      {session.isError && <p role="alert">{failureText(session.error, texts)}</p>}
      {session.data && (operator === null || isOver) && <SignIn key={operator?.id} ended={operator} />}
      {operator && (
        // What the operator was at stays as it is, unseen, until they have signed in again.
        <Activity mode={isOver ? 'hidden' : 'visible'}>
          <Pages key={operator.id} operator={operator} />
        </Activity>
      )}
    </Frame>
  );
}

/** The pages, and below them what the operator decides. */
function Pages({ operator }: { operator: Operator }) {
  const { frame } = useTexts();
  const mayDecide = operator.role !== 'viewer';
  // Whoever opens the queue opens an application next. Where it fails, the page that needs it says so.
  useEffect(() => void loadApplication().catch(() => undefined), []);
  return (
    <DeskProvider operator={operator.id}>
      <div className={styles.pages}>
        <Switch>
          <Route path="/applications/:id">
            {({ id }) => (
              <LazyPage>
                <ApplicationPage id={id} mayReveal={mayDecide} mayCorrect={operator.role === 'admin'} />
              </LazyPage>
            )}
          </Route>
          <Route path="/queue">
            <QueuePage operator={operator} />
          </Route>
          {mayDecide && (
            <Route path="/proposals">
              <ProposalsPage operatorId={operator.id} />
            </Route>
          )}
          <Route path="/persons/:id">
            {({ id }) => (
              <LazyPage>
                <PersonPage id={id} mayReveal={mayDecide} />
              </LazyPage>
            )}
          </Route>
          <Route path="/views">
            <LazyPage>
              <ViewsPage />
            </LazyPage>
          </Route>
          <Route path="/inbox">
            <LazyPage>
              <InboxPage mayAnswer={mayDecide} />
            </LazyPage>
          </Route>
          <Route path="/inbox/:id">
            {({ id }) => (
              <LazyPage>
                <ConversationPage key={id} id={id} mayAnswer={mayDecide} operatorId={operator.id} />
              </LazyPage>
            )}
          </Route>
          <Route path="/reconsiderations">
            <LazyPage>
              <ReconsiderationsPage mayAnswer={mayDecide} />
            </LazyPage>
          </Route>
          <Route path="/">
            <Redirect to="/queue" replace />
          </Route>
          <Route path="/policies">
            <LazyPage>
              <PoliciesPage operator={operator} />
            </LazyPage>
          </Route>
          {operator.role === 'admin' && (
            <Route path="/lead">
              <LazyPage>
                <LeadPage />
              </LazyPage>
            </Route>
          )}
          {operator.role === 'admin' && (
            <Route path="/operators">
              <LazyPage>
                <OperatorsPage />
              </LazyPage>
            </Route>
          )}
          {operator.role === 'admin' && (
            <Route path="/partners">
              <LazyPage>
                <PartnersPage />
              </LazyPage>
            </Route>
          )}
          {operator.role === 'admin' && (
            <Route path="/partners/:id">
              {({ id }) => (
                <LazyPage>
                  <PartnerPage key={id} id={id} />
                </LazyPage>
              )}
            </Route>
          )}
          {operator.role === 'admin' && (
            <Route path="/partners/:id/keys/:key/brand">
              {({ id, key }) => (
                <LazyPage>
                  <BrandPage key={key} partner={id} id={key} />
                </LazyPage>
              )}
            </Route>
          )}
          {operator.role === 'admin' && (
            <Route path="/health">
              <LazyPage>
                <HealthPage />
              </LazyPage>
            </Route>
          )}
          {operator.role === 'admin' && (
            <Route path="/business/applications">
              <LazyPage>
                <BehindPage />
              </LazyPage>
            </Route>
          )}
          {operator.role === 'admin' && (
            <Route path="/business">
              <LazyPage>
                <BusinessPage />
              </LazyPage>
            </Route>
          )}
          <Route path="/sessions">
            <LazyPage>
              <SessionsPage login={operator.login} />
            </LazyPage>
          </Route>
          <Route>
            <PageHeading title={frame.notFound} />
          </Route>
        </Switch>
        {mayDecide && <Dock operatorId={operator.id} />}
        <SignInAgain operator={operator} />
      </div>
    </DeskProvider>
  );
}
