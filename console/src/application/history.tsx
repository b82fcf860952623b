/** Earlier applications of the person, what happened to this one, and the notes about it. */

import { Link } from 'wouter';
import type { ApplicationReply } from '../../../src/desk/routes/forms.ts';
import { useFormat } from '../format.ts';
import card from '../frame/card.module.css';
import { Card } from '../frame/card.tsx';
import { useTexts } from '../texts/texts.ts';
import styles from './application.module.css';

interface Of {
  readonly application: ApplicationReply;
}

/** One list for both: an application of the same phone often has the same ID number. */
export function Earlier({ application: { earlier } }: Of) {
  const { application: texts, codes } = useTexts();
  const format = useFormat();
  const phones = new Set(earlier.same_phone.applications.map(({ id }) => id));
  const numbers = new Set(earlier.same_id_number.applications.map(({ id }) => id));
  const all = [...earlier.same_phone.applications, ...earlier.same_id_number.applications];
  const known = [...new Map(all.map((application) => [application.id, application])).values()];
  const sameOf = (id: number) =>
    [phones.has(id) && texts.samePhone, numbers.has(id) && texts.sameIdNumber].filter(Boolean).join(', ');
  return (
    <Card title={texts.earlier} beside={<Counts earlier={earlier} />}>
      {known.length === 0 && <p>{texts.none}</p>}
      <ul className={card.list}>
        {known
          .toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at))
          .map(({ id, partner, status, created_at }) => (
            <li key={id}>
              <Link href={`/applications/${id}`}>{id}</Link>{' '}
              <span className={card.chip}>{status === null ? texts.unreadable : codes.statuses[status]}</span>
              <p className={card.quiet}>
                {sameOf(id)} · {partner.name} · {format.time(created_at)}
              </p>
            </li>
          ))}
      </ul>
    </Card>
  );
}

/** How many there are where the list is shorter. */
function Counts({ earlier: { same_phone, same_id_number } }: Pick<ApplicationReply, 'earlier'>) {
  const { application: texts } = useTexts();
  const counts = [
    [texts.samePhone, same_phone],
    [texts.sameIdNumber, same_id_number],
  ] as const;
  const longer = counts.filter(([, { count, applications }]) => count > applications.length);
  if (longer.length === 0) return null;
  return (
    <span className={card.quiet}>
      {longer.map(([name, { count }]) => `${name}: ${count >= 100 ? '100+' : count}`).join(', ')}
    </span>
  );
}

export function Timeline({ application: { timeline } }: Of) {
  const { application: texts, codes, desk } = useTexts();
  const format = useFormat();
  return (
    <Card title={texts.timeline}>
      <ol className={styles.timeline}>
        {timeline.map(({ at, by, act, reason, reason_code, second }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: events are only added at the end.
          <li key={index}>
            <strong>{codes.acts[act]}</strong>
            {reason_code !== null && `: ${desk.reasonCodes[reason_code]}`}
            <p className={card.quiet}>
              <time dateTime={at}>{format.time(at)}</time> · {by}
              {second !== null && `, ${texts.second}: ${second}`}
            </p>
            {reason !== '' && <p className={card.text}>{reason}</p>}
          </li>
        ))}
      </ol>
    </Card>
  );
}
