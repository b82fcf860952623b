/** The links to the pages that a role may see, and the search. */
import { Link, useLocation } from 'wouter';
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
              {page === 'proposals' && <Count of="to_confirm" what={frame.toConfirm} />}
              {page === 'inbox' && role !== 'viewer' && <Count of="persons_waiting" what={frame.waiting} />}
              {page === 'policies' && role === 'admin' && (
                <Count of="activations_to_confirm" what={frame.toConfirm} />
              )}
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

interface CountProps {
  readonly of: 'to_confirm' | 'activations_to_confirm' | 'persons_waiting';
  readonly what: string;
}

/** How many wait for this operator; nothing where none does. */
function Count({ of, what }: CountProps) {
  const format = useFormat();
  const count = useCameBack().data?.body[of] ?? 0;
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
