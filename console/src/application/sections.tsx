/** The ways to the sections of an application, which may be long: by links that stay in sight, and by `j` and `k`. */
import { useShortcuts } from '../keyboard/shortcuts.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './application.module.css';

/** The id of a section in the page, and its name. */
export type SectionName = readonly [id: string, name: string];

export function Sections({ sections }: { sections: readonly SectionName[] }) {
  const { application: texts } = useTexts();
  const move = (by: 1 | -1) => {
    const place = sections.findIndex(([id]) => document.getElementById(id)?.contains(document.activeElement));
    const next = place === -1 ? 0 : place + by;
    const section = sections[Math.max(0, Math.min(sections.length - 1, next))];
    if (section !== undefined) goTo(section[0]);
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  return (
    <nav className={styles.sections} aria-label={texts.sections}>
      <ul>
        {sections.map(([id, name]) => (
          <li key={id}>
            <a
              href={`#${id}`}
              onClick={(event) => {
                event.preventDefault();
                goTo(id);
              }}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The address stays. The focus goes along, so that the keyboard and a reader of the screen go on there. */
function goTo(id: string): void {
  const section = document.getElementById(id);
  section?.scrollIntoView();
  section?.querySelector('h2')?.focus({ preventScroll: true });
}
