/** The links to the pages that a role may see, and the search. */
import { Link, useLocation } from 'wouter';
import { useWaiting } from '../api/inbox.ts';
import { useCameBack } from '../api/proposals.ts';
import type { Operator } from '../api/session.ts';
import { Find } from '../find/find.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { Disclosure } from './disclosure.tsx';
import styles from './frame.module.css';

type Role = Operator['role'];

/** Each page with the roles that may see it. Those of a group stand behind one button, so that the bar is one line. */
const PAGES = [
  { page: 'queue', path: '/queue', roles: ['viewer', 'reviewer', 'admin'], group: null },
  { page: 'views', path: '/views', roles: ['viewer', 'reviewer', 'admin'], group: null },
  { page: 'inbox', path: '/inbox', roles: ['viewer', 'reviewer', 'admin'], group: null },
  { page: 'proposals', path: '/proposals', roles: ['reviewer', 'admin'], group: null },
  {
    page: 'reconsiderations',
    path: '/reconsiderations',
    roles: ['viewer', 'reviewer', 'admin'],
    group: null,
  },
  { page: 'lead', path: '/lead', roles: ['admin'], group: 'management' },
  { page: 'business', path: '/business', roles: ['admin'], group: 'management' },
  { page: 'policies', path: '/policies', roles: ['viewer', 'reviewer', 'admin'], group: 'management' },
  { page: 'partners', path: '/partners', roles: ['admin'], group: 'service' },
  { page: 'operators', path: '/operators', roles: ['admin'], group: 'service' },
  { page: 'health', path: '/health', roles: ['admin'], group: 'service' },
] as const satisfies readonly { page: string; path: string; roles: readonly Role[]; group: string | null }[];

type Page = (typeof PAGES)[number];

export function Pages({ role }: { role: Role }) {
  const { frame } = useTexts();
  const [location] = useLocation();
  const seen = PAGES.filter(({ roles }) => (roles as readonly Role[]).includes(role));
  // A group of one page needs no button.
  const groups = Map.groupBy(seen, ({ page, group }) => group ?? page);
  return (
    <nav aria-label={frame.pages}>
      <ul className={styles.pages}>
        {[...groups.values()].map(([first, ...others]) => (
          <li key={first!.page}>
            {others.length === 0 || first!.group === null ? (
              <PageLink page={first!} role={role} />
            ) : (
              <Disclosure
                label={
                  <>
                    {frame.pageGroups[first!.group]}
                    {first!.group === 'management' && <ToConfirm of="activations_to_confirm" />}
                  </>
                }
                isCurrent={[first!, ...others].some(({ path }) => path === location)}
                className={styles.group}
                panelClassName={styles.groupPanel}
              >
                <ul>
                  {[first!, ...others].map((page) => (
                    <li key={page.page}>
                      <PageLink page={page} role={role} />
                    </li>
                  ))}
                </ul>
              </Disclosure>
            )}
          </li>
        ))}
        <li>
          <Find isAdmin={role === 'admin'} />
        </li>
      </ul>
    </nav>
  );
}

function PageLink({ page: { page, path }, role }: { page: Page; role: Role }) {
  const { frame } = useTexts();
  const [location] = useLocation();
  return (
    <Link href={path} aria-current={location === path ? 'page' : undefined}>
      {frame.pageNames[page]}
      {page === 'proposals' && <ToConfirm of="to_confirm" />}
      {page === 'inbox' && role !== 'viewer' && <Waiting />}
      {page === 'policies' && role === 'admin' && <ToConfirm of="activations_to_confirm" />}
    </Link>
  );
}

/** No more are shown. */
const MOST_COUNTED = 100;

/** How many proposals or activations wait for this operator. */
function ToConfirm({ of }: { of: 'to_confirm' | 'activations_to_confirm' }) {
  const { frame } = useTexts();
  return <Count count={useCameBack().data?.body[of] ?? 0} what={frame.toConfirm} />;
}

/** How many persons wait in the inbox. */
function Waiting() {
  const { frame } = useTexts();
  return <Count count={useWaiting()} what={frame.waiting} />;
}

/** Nothing where none waits. */
function Count({ count, what }: { count: number; what: string }) {
  const format = useFormat();
  if (count === 0) return null;
  const text = count < MOST_COUNTED ? format.number(count) : `${format.number(MOST_COUNTED - 1)}+`;
  return (
    <>
      {' '}
      <span className={styles.count}>
        {text} <span className={styles.unseen}>{what}</span>
      </span>
    </>
  );
}
