/** What the colours of a picture mean. */
import styles from './charts.module.css';

export type Colour = 'got' | 'lost' | 'plain' | 'against' | 'approved' | 'rejected' | 'disbursed' | 'mark';

export function Legend({ entries }: { entries: readonly (readonly [Colour, string])[] }) {
  return (
    <ul className={styles.legend}>
      {entries.map(([colour, text]) => (
        <li key={colour}>
          <svg className={styles.swatch} aria-hidden="true">
            {colour === 'mark' ? (
              <line className={styles.mark} x1="50%" x2="50%" y1="0" y2="100%" />
            ) : (
              <rect className={styles[colour]} width="100%" height="100%" />
            )}
          </svg>
          {text}
        </li>
      ))}
    </ul>
  );
}
