/** A person: all applications of the same phone or ID number over time, masked until a reviewer gives a reason. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { RevealedReply } from '../../../src/subjects/desk/routes/forms.ts';
import type { PersonReply } from '../../../src/subjects/desk/routes/person-forms.ts';
import { reveal } from '../api/application.ts';
import { failureText } from '../api/failure.ts';
import { usePerson } from '../api/find.ts';
import { usePersonal } from '../application/personal.ts';
import { RevealDialog } from '../application/reveal-dialog.tsx';
import { useStatusText } from '../application/status-text.ts';
import card from '../base-ui/card.module.css';
import { Card, Facts } from '../base-ui/card.tsx';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { useFindTexts } from '../find/find-texts.ts';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './views.module.css';

interface PersonPageProps {
  /** The number of an application of the person, as the address has it. */
  readonly id: string;
  readonly mayReveal: boolean;
}

export default function PersonPage({ id, mayReveal }: PersonPageProps) {
  const texts = useTexts();
  const find = useFindTexts();
  const { data, error } = usePerson(id);
  const own = data?.body.applications.find((one) => String(one.id) === id);
  return (
    <div className={styles.page}>
      <PageHeading title={find.personTitle(id)} />
      {error && <p role="alert">{failureText(error, texts, { 404: texts.application.notFound })}</p>}
      {!data && !error && <p>{texts.frame.loading}</p>}
      {data && own && (
        <>
          <Who key={id} person={data.body} own={own} mayReveal={mayReveal} />
          {data.body.applications.map((one) => (
            <One key={one.id} shown={one} />
          ))}
          {data.body.more && <p>{find.moreOfPerson}</p>}
        </>
      )}
    </div>
  );
}

type Own = PersonReply['applications'][number];

/** Who it is, as one application says it, and what holds for the phone. */
function Who({ person, own, mayReveal }: { person: PersonReply; own: Own; mayReveal: boolean }) {
  const { application: texts } = useTexts();
  const find = useFindTexts();
  const format = useFormat();
  const [revealed, setRevealed] = usePersonal<RevealedReply>();
  const [isAsking, setAsking] = useState(false);
  const { initials, phone, id_number: idNumber } = own.person;
  const stops = person.suppressions.map(
    ({ is_active, source, changed_at }) =>
      `${is_active ? find.suppressed : find.notSuppressed} (${find.sources[source as 'keyword'] ?? source}, ${format.time(changed_at)})`,
  );
  return (
    <Card
      title={find.person}
      beside={
        mayReveal && (
          <button type="button" onClick={() => (revealed === null ? setAsking(true) : setRevealed(null))}>
            {revealed === null ? texts.reveal : texts.hide}
          </button>
        )
      }
    >
      <Facts
        facts={[
          [texts.name, revealed?.name ?? initials ?? find.nobody],
          [texts.phone, revealed?.phone ?? phone ?? '—'],
          [texts.idNumber, revealed?.id_number ?? idNumber ?? '—'],
          [find.messages, stops.length === 0 ? find.notSuppressed : stops.join(', ')],
          [find.erased, person.erased_at.map((at) => format.time(at)).join(', ') || '—'],
        ]}
      />
      <RevealDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={texts.revealTitle}
        ask={(reason, key) => reveal(own.id, reason, key)}
        onRevealed={setRevealed}
      />
    </Card>
  );
}

function One({ shown }: { shown: Own }) {
  const { application: texts, codes } = useTexts();
  const find = useFindTexts();
  const format = useFormat();
  const statusText = useStatusText();
  const { id, partner, status, signed_at, matched, chat, documents, contract, exports } = shown;
  return (
    <Card
      title={`${texts.title} ${id}`}
      beside={<span className={card.chip}>{statusText(status, signed_at !== null)}</span>}
    >
      <Facts
        facts={[
          [texts.partner, partner.name],
          [texts.created, format.time(shown.created_at)],
          [texts.asked, format.wholeAmount(shown.debt_amount, shown.currency)],
          [
            find.same,
            matched
              .filter((kind) => kind !== 'number')
              .map((kind) => find.matched[kind])
              .join(', ') || '—',
          ],
          [texts.chat, chat === null ? '—' : codes.places[chat.step]],
          [texts.documents, format.number(documents)],
          [find.contract, contract === null ? '—' : find.contracts[contract]],
          [find.exported, exports.map(({ at, by }) => `${format.time(at)}, ${by}`).join('; ') || '—'],
        ]}
      />
      <Link href={`/applications/${id}`}>{find.open(id)}</Link>
    </Card>
  );
}
