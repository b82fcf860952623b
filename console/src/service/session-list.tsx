/** Sessions with when, where and with what each began, and a button that ends it. */
import type { OwnSessionsReply } from '../../../src/subjects/operators/routes/operators.ts';
import card from '../base-ui/card.module.css';
import { useFormat } from '../format/format.ts';
import styles from './service.module.css';
import { useServiceTexts } from './service-texts.ts';

interface SessionListProps {
  readonly sessions: OwnSessionsReply['sessions'];
  /** Whose they are, for the names of the buttons. */
  readonly login: string;
  readonly isEnding: boolean;
  readonly onEnd: (session: string) => void;
}

export function SessionList({ sessions, login, isEnding, onEnd }: SessionListProps) {
  const service = useServiceTexts();
  const format = useFormat();
  if (sessions.length === 0) return <p>{service.noSession}</p>;
  return (
    <ul className={card.list}>
      {sessions.map(({ id, started_at, seen_at, is_own, is_whole, network, browser }) => (
        <li key={id} className={styles.session}>
          <span>
            {service.session(format.time(started_at), format.relative(seen_at))}{' '}
            {service.origin(browser, network)}
            {!is_whole && ` ${service.halfWay}`}
            {is_own && ` ${service.own}`}
          </span>
          {!is_own && (
            <button
              type="button"
              disabled={isEnding}
              aria-label={`${service.end}: ${login}, ${format.time(started_at)}`}
              onClick={() => onEnd(id)}
            >
              {service.end}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
