/** Other applications that share the ID number or the phone with this one, or partner and city within a day. */
import { Link } from 'wouter';
import type { NeighboursReply } from '../../../src/subjects/desk/routes/neighbour-forms.ts';
import { useNeighbours } from '../api/application.ts';
import { failureText } from '../api/failure.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { useStatusText } from './status-text.ts';

type Neighbour = NeighboursReply['same_phone']['applications'][number];
type Shared = keyof NeighboursReply;

const SHARED = ['same_id_number', 'same_phone', 'same_city'] as const satisfies readonly Shared[];
/** The others are folded. */
const SHOWN_AT_FIRST = 5;

export function Neighbours({ id }: { id: number }) {
  const texts = useTexts();
  const { application } = texts;
  const { data, error } = useNeighbours(`${id}`);
  const neighbours = data?.body;
  return (
    <Card title={application.neighbours}>
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {!neighbours && !error && <p>{texts.frame.loading}</p>}
      {neighbours && <Found id={id} neighbours={neighbours} />}
    </Card>
  );
}

/** One list for all: an application of the same phone often has the same ID number. */
function Found({ id, neighbours }: { id: number; neighbours: NeighboursReply }) {
  const { application: texts } = useTexts();
  const all = SHARED.flatMap((shared) => neighbours[shared].applications);
  const known = [...new Map(all.map((one) => [one.id, one])).values()];
  const ofPerson = neighbours.same_id_number.count + neighbours.same_phone.count > 0;
  const { same_city: city } = neighbours;
  return (
    <>
      <p className={card.quiet}>
        {SHARED.map((shared) => texts.sharedCount(texts.shared[shared], neighbours[shared].count)).join(
          ' · ',
        )}
        {!city.is_whole && ` (${texts.lookedAt(city.looked_at)})`}
      </p>
      {ofPerson && <Link href={`/persons/${id}`}>{texts.toPerson}</Link>}
      <List applications={known.slice(0, SHOWN_AT_FIRST)} neighbours={neighbours} />
      {known.length > SHOWN_AT_FIRST && (
        <details>
          <summary>{texts.moreNeighbours(known.length - SHOWN_AT_FIRST)}</summary>
          <List applications={known.slice(SHOWN_AT_FIRST)} neighbours={neighbours} />
        </details>
      )}
    </>
  );
}

function List({
  applications,
  neighbours,
}: {
  applications: readonly Neighbour[];
  neighbours: NeighboursReply;
}) {
  const { application: texts } = useTexts();
  const format = useFormat();
  const statusText = useStatusText();
  const sharedBy = (id: number) =>
    SHARED.filter((shared) => neighbours[shared].applications.some((one) => one.id === id))
      .map((shared) => texts.shared[shared])
      .join(', ');
  return (
    <ul className={card.list}>
      {applications.map(({ id, partner, status, signed_at, created_at }) => (
        <li key={id}>
          <Link href={`/applications/${id}`}>{id}</Link>{' '}
          <span className={card.chip}>{statusText(status, signed_at !== null)}</span>
          <p className={card.quiet}>
            {sharedBy(id)} · {partner.name} · {format.time(created_at)}
          </p>
        </li>
      ))}
    </ul>
  );
}
