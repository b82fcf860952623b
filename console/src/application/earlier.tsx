/** Earlier applications of the person. */
import { Link } from 'wouter';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { useStatusText } from './status-text.ts';

interface Of {
  readonly application: ApplicationReply;
}

/** One list for both: an application of the same phone often has the same ID number. */
export function Earlier({ application: { id: own, earlier } }: Of) {
  const { application: texts } = useTexts();
  const format = useFormat();
  const statusText = useStatusText();
  const phones = new Set(earlier.same_phone.applications.map(({ id }) => id));
  const numbers = new Set(earlier.same_id_number.applications.map(({ id }) => id));
  const all = [...earlier.same_phone.applications, ...earlier.same_id_number.applications];
  const known = [...new Map(all.map((application) => [application.id, application])).values()];
  const sameOf = (id: number) =>
    [phones.has(id) && texts.samePhone, numbers.has(id) && texts.sameIdNumber].filter(Boolean).join(', ');
  return (
    <Card title={texts.earlier} beside={<Counts earlier={earlier} />}>
      {known.length === 0 && <p>{texts.none}</p>}
      {known.length > 0 && <Link href={`/persons/${own}`}>{texts.toPerson}</Link>}
      <ul className={card.list}>
        {known
          .toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at))
          .map(({ id, partner, status, signed_at, created_at }) => (
            <li key={id}>
              <Link href={`/applications/${id}`}>{id}</Link>{' '}
              <span className={card.chip}>{statusText(status, signed_at)}</span>
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
