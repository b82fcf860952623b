/** What stands at the end of the window on every page: open decisions and, of an application, what may be decided. */
import { useRoute } from 'wouter';
import { ActsBar } from './acts-bar.tsx';
import styles from './decide.module.css';
import { DecideBar } from './decide-bar.tsx';
import { Returned } from './returned.tsx';

export function Dock({ operatorId }: { operatorId: number }) {
  const [isApplication, params] = useRoute('/applications/:id');
  return (
    <div className={styles.dock}>
      <Returned />
      <ActsBar />
      {isApplication && <DecideBar id={params.id} operatorId={operatorId} />}
    </div>
  );
}
