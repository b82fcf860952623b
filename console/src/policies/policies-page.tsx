/** The page of policies: versions, a card as tables, the difference of two, what if, and watch. */
import { Link, useSearchParams } from 'wouter';
import { usePolicies } from '../api/policies.ts';
import type { Operator } from '../api/session.ts';
import { PageHeading } from '../base-ui/page-heading.tsx';
import lists from '../proposals/proposals.module.css';
import { useTexts } from '../texts/texts.ts';
import { CardView } from './card-view.tsx';
import { DifferenceView } from './difference-view.tsx';
import styles from './policies.module.css';
import { useFailure, usePolicyTexts } from './policy-texts.ts';
import { TrialView } from './trial-view.tsx';
import { VersionsView } from './versions-view.tsx';
import { WatchView } from './watch-view.tsx';
import { WhatIfView } from './what-if-view.tsx';

const VIEWS = ['versions', 'card', 'difference', 'what-if', 'trial', 'watch'] as const;

export default function PoliciesPage({ operator }: { operator: Operator }) {
  const policies = usePolicyTexts();
  const { frame } = useTexts();
  const failure = useFailure();
  const [search] = useSearchParams();
  const view = VIEWS.find((known) => known === search.get('view')) ?? 'versions';
  const { data, error } = usePolicies();
  const shown = data?.body;
  const live = shown?.versions.find(({ state }) => state === 'live')?.version ?? null;
  const asked = search.get('version');
  const version = shown?.versions.find((one) => one.version === asked)?.version ?? live;
  const newest = shown?.versions.find(
    ({ state, is_withdrawn }) => state !== 'live' && !is_withdrawn,
  )?.version;
  const isAdmin = operator.role === 'admin';
  return (
    <div className={styles.page}>
      <PageHeading title={policies.title} />
      <nav className={lists.lists} aria-label={policies.views}>
        {VIEWS.map((name) => (
          <Link
            key={name}
            href={`/policies?${new URLSearchParams({ view: name, ...(asked !== null && { version: asked }) })}`}
            aria-current={name === view ? 'page' : undefined}
          >
            {policies.view[name]}
          </Link>
        ))}
      </nav>
      {error && <p role="alert">{failure(error)}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      {shown && view === 'versions' && <VersionsView {...{ shown, isAdmin }} operatorId={operator.id} />}
      {shown && view === 'card' && <CardView {...{ shown, version, isAdmin }} />}
      {shown && view === 'difference' && <DifferenceView {...{ shown, live, version }} />}
      {shown && view === 'what-if' && <WhatIfView key={version} {...{ shown, version, isAdmin }} />}
      {shown && view === 'trial' && version !== null && (
        <TrialView {...{ shown, isAdmin }} version={asked === null ? (newest ?? version) : version} />
      )}
      {shown && view === 'watch' && <WatchView />}
    </div>
  );
}
