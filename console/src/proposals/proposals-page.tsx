/** Proposals: one's own, those that wait for a second operator, and those that are over. */
import { Link, Redirect, useLocation, useSearch } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { failureText } from '../api/failure.ts';
import { type ProposalList, useCameBack, useProposals } from '../api/proposals.ts';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { Pager } from '../queue/pager.tsx';
import { useTexts } from '../texts/texts.ts';
import styles from './proposals.module.css';
import { ProposalsTable } from './proposals-table.tsx';

const LISTS = ['to_confirm', 'mine', 'came_back', 'ended'] as const satisfies readonly ProposalList[];

/** Without a list in the address it opens the one to confirm where something waits there, else the own ones. */
export function ProposalsPage({ operatorId }: { operatorId: number }) {
  const query = new URLSearchParams(useSearch());
  const list = LISTS.find((known) => known === query.get('list'));
  return list === undefined ? <FirstList /> : <List {...{ list, query, operatorId }} />;
}

function FirstList() {
  const texts = useTexts();
  const { frame, proposals } = texts;
  const { data, error } = useCameBack();
  const told = data?.body;
  if (told !== undefined)
    return <Redirect to={`/proposals?list=${told.to_confirm > 0 ? 'to_confirm' : 'mine'}`} replace />;
  return (
    <>
      <PageHeading title={proposals.title} />
      {error ? <p role="alert">{failureText(error, texts)}</p> : <p>{frame.loading}</p>}
    </>
  );
}

interface ListProps {
  readonly list: ProposalList;
  readonly query: URLSearchParams;
  readonly operatorId: number;
}

function List({ list, query, operatorId }: ListProps) {
  const texts = useTexts();
  const { desk, frame, proposals } = texts;
  const [, navigate] = useLocation();
  const remembered = useHistoryState<{ trail?: readonly string[] } | null>();
  const cursor = query.get('cursor');
  const { data, error } = useProposals(list, cursor);
  const open = (to: string | null, trail: readonly string[]) => {
    const next = new URLSearchParams({ list, ...(to !== null && { cursor: to }) });
    navigate(`/proposals?${next}`, { state: { trail } });
  };
  return (
    <div className={styles.page}>
      <PageHeading title={proposals.title} />
      <nav className={styles.lists} aria-label={proposals.lists}>
        {LISTS.map((name) => (
          <Link key={name} href={`/proposals?list=${name}`} aria-current={name === list ? 'page' : undefined}>
            {desk.proposalLists[name]}
          </Link>
        ))}
      </nav>
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!data && !error && <p>{frame.loading}</p>}
      {data && <ProposalsTable key={list} {...{ list, operatorId }} proposals={data.body.proposals} />}
      {data && (
        <Pager
          {...{ cursor, next: data.body.next, trail: remembered?.trail ?? null }}
          title={proposals.title}
          onOpen={open}
        />
      )}
    </div>
  );
}
