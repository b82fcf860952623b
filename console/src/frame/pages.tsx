/** The links to the pages that a role may see, and the search. */
import { Link, useLocation } from 'wouter';
import { useWaiting } from '../api/inbox.ts';
import { useCameBack } from '../api/proposals.ts';
import type { Operator } from '../api/session.ts';
import { Find } from '../find/find.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './frame.module.css';

type Role = Operator['role'];

/** Each page with the roles that may see it. */
const PAGES = [
  { page: 'queue', path: '/queue', roles: ['viewer', 'reviewer', 'admin'] },
  { page: 'views', path: '/views', roles: ['viewer', 'reviewer', 'admin'] },
  { page: 'inbox', path: '/inbox', roles: ['viewer', 'reviewer', 'admin'] },
  { page: 'proposals', path: '/proposals', roles: ['reviewer', 'admin'] },
  { page: 'reconsiderations', path: '/reconsiderations', roles: ['viewer', 'reviewer', 'admin'] },
  { page: 'lead', path: '/lead', roles: ['admin'] },
  { page: 'business', path: '/business', roles: ['admin'] },
  { page: 'policies', path: '/policies', roles: ['viewer', 'reviewer', 'admin'] },
  { page: 'operators', path: '/operators', roles: ['admin'] },
  { page: 'health', path: '/health', roles: ['admin'] },
] as const satisfies readonly { page: string; path: string; roles: readonly Role[] }[];

export function Pages({ role }: { role: Role }) {
  const { frame } = useTexts();
  const [location] = useLocation();
  return (
    <nav aria-label={frame.pages}>
      <ul className={styles.pages}>
        {PAGES.filter(({ roles }) => (roles as readonly Role[]).includes(role)).map(({ page, path }) => (
          <li key={page}>
            <Link href={path} aria-current={location === path ? 'page' : undefined}>
              {frame.pageNames[page]}
              {page === 'proposals' && <ToConfirm of="to_confirm" />}
              {page === 'inbox' && role !== 'viewer' && <Waiting />}
              {page === 'policies' && role === 'admin' && <ToConfirm of="activations_to_confirm" />}
            </Link>
          </li>
        ))}
        <li>
          <Find />
        </li>
      </ul>
    </nav>
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
