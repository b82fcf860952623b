/** One field for all that an operator looks for, and what is found. */
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { FoundReply } from '../../../src/subjects/desk/routes/search-forms.ts';
import { failureText } from '../api/failure.ts';
import { find, viewHref } from '../api/find.ts';
import card from '../base-ui/card.module.css';
import { Dialog, DialogButtons } from '../base-ui/dialog.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './find.module.css';
import { useFindTexts } from './find-texts.ts';

interface FindDialogProps {
  /** Whether a partner leads to its page, or to its applications, and an operator to that of operators. */
  readonly isAdmin: boolean;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export default function FindDialog({ isOpen, isAdmin, onClose }: FindDialogProps) {
  const { frame } = useTexts();
  const { note } = useFindTexts();
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={frame.find} note={note}>
      <Field isAdmin={isAdmin} onClose={onClose} />
    </Dialog>
  );
}

/** Gone with the dialog, and what was typed with it. */
function Field({ isAdmin, onClose }: Pick<FindDialogProps, 'isAdmin' | 'onClose'>) {
  const texts = useTexts();
  const { field, find: label, tooMany } = useFindTexts();
  const [q, setQ] = useState('');
  const finding = useMutation({ mutationFn: () => find(q.trim()), gcTime: 0 });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (q.trim() !== '') finding.mutate();
  };
  return (
    <form className={card.form} onSubmit={submit}>
      <label>
        {field}
        <input
          required
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          value={q}
          onChange={({ target }) => setQ(target.value)}
        />
      </label>
      {finding.isError && <p role="alert">{failureText(finding.error, texts, {}, () => tooMany)}</p>}
      <div role="status">{finding.data && <Count found={finding.data} />}</div>
      {finding.data && <Results found={finding.data} isAdmin={isAdmin} onOpen={onClose} />}
      <DialogButtons>
        <button type="submit" data-main disabled={finding.isPending}>
          {label}
        </button>
        <button type="button" onClick={onClose}>
          {texts.frame.close}
        </button>
      </DialogButtons>
    </form>
  );
}

interface ResultsProps extends Pick<FindDialogProps, 'isAdmin'> {
  readonly found: FoundReply;
  /** A link opens its page. */
  readonly onOpen: () => void;
}

/** Said to readers of the screen; what is found stands below it. */
function Count({ found: { applications, persons, partners, operators } }: Pick<ResultsProps, 'found'>) {
  const find = useFindTexts();
  const counts = [
    [find.persons, persons.length],
    [find.applications, applications.length],
    [find.partners, partners.length],
    [find.operators, operators.length],
  ] as const;
  const some = counts.filter(([, count]) => count > 0);
  return some.length === 0 ? (
    <p>{find.nothing}</p>
  ) : (
    <p className={card.quiet}>{some.map(([name, count]) => `${name}: ${count}`).join(', ')}</p>
  );
}

function Results({ found, isAdmin, onOpen }: ResultsProps) {
  const { codes } = useTexts();
  const find = useFindTexts();
  const format = useFormat();
  const { applications, persons, partners, operators, more } = found;
  const by = (matched: FoundReply['persons'][number]['matched']) =>
    matched.map((kind) => find.matched[kind]).join(', ');
  return (
    <>
      <Part title={find.persons} isShown={persons.length > 0}>
        {persons.map(({ application, applications: count, matched, ...person }) => (
          <li key={application}>
            <Link href={`/persons/${application}`} onClick={onOpen}>
              <Mask person={person} />
            </Link>
            <p className={card.quiet}>
              {find.personOf(count)} · {by(matched)}
            </p>
          </li>
        ))}
      </Part>
      <Part title={find.applications} isShown={applications.length > 0}>
        {applications.map(({ id, partner, status, created_at, matched, person }) => (
          <li key={id}>
            <Link href={`/applications/${id}`} onClick={onOpen}>
              {id}
            </Link>{' '}
            {status !== null && <span className={card.chip}>{codes.statuses[status]}</span>}
            <p className={card.quiet}>
              <Mask person={person} /> · {partner.name} · {format.time(created_at)} · {by(matched)}
            </p>
          </li>
        ))}
        {more && <li>{find.more}</li>}
      </Part>
      <Part title={find.partners} isShown={partners.length > 0}>
        {partners.map(({ id, name }) => (
          <li key={id}>
            <Link
              href={isAdmin ? `/partners/${id}` : viewHref({ view: 'decided', partner: String(id) })}
              onClick={onOpen}
            >
              {name}
            </Link>
          </li>
        ))}
      </Part>
      <Part title={find.operators} isShown={operators.length > 0}>
        {operators.map(({ id, login }) => (
          <li key={id}>
            {isAdmin ? (
              <Link href={`/operators#operator-${id}`} onClick={onOpen}>
                {login}
              </Link>
            ) : (
              login
            )}{' '}
            <span className={card.quiet}>({id})</span>
          </li>
        ))}
      </Part>
    </>
  );
}

function Part({ title, isShown, children }: { title: string; isShown: boolean; children: ReactNode }) {
  if (!isShown) return null;
  return (
    <section className={styles.part}>
      <h3>{title}</h3>
      <ul className={card.list}>{children}</ul>
    </section>
  );
}

/** What is left of a person without a reason to show more. */
function Mask({ person }: { person: FoundReply['applications'][number]['person'] }) {
  const { nobody } = useFindTexts();
  const { initials, phone, id_number: idNumber } = person;
  return [initials, phone, idNumber].filter((part) => part !== null).join(' · ') || nobody;
}
