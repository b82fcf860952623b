/** What happened to the application, by whom. */
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { Card } from '../base-ui/card.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './application.module.css';

type Entry = ApplicationReply['timeline'][number];

export function Timeline({ application: { timeline } }: { readonly application: ApplicationReply }) {
  const { application: texts } = useTexts();
  return (
    <Card title={texts.timeline}>
      <ol className={styles.timeline}>
        {timeline.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: what happened stays in its order.
          <li key={index}>
            <Happened entry={entry} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Happened({ entry }: { entry: Entry }) {
  const { at, by, act, reason, reason_code, second, missing, end, proposal } = entry;
  const { application: texts, codes, desk } = useTexts();
  const format = useFormat();
  const nameOf = useActorName();
  const pended = end === null ? missing?.map((what) => desk.missing[what]).join(', ') : codes.pendEnds[end];
  const of = proposal === null ? pended : `${desk.proposed[proposal.act]}, ${nameOf(proposal.maker)}`;
  const what = reason_code === null ? of : desk.reasonCodes[reason_code];
  // What the service writes itself is English, and says no more than the act.
  const isOfPerson = by.way === 'operator' || by.way === 'command_line';
  return (
    <>
      <strong>{codes.acts[act]}</strong>
      {what !== undefined && `: ${what}`}
      <p className={card.quiet}>
        <time dateTime={at}>{format.time(at)}</time> · {nameOf(by)}
        {second !== null && `, ${texts.second}: ${nameOf(second)}`}
      </p>
      {proposal?.returned_for && <p className={card.text}>{desk.returnedFor[proposal.returned_for]}</p>}
      {isOfPerson && reason !== '' && reason !== reason_code && <p className={card.text}>{reason}</p>}
    </>
  );
}

function useActorName() {
  const { application: texts } = useTexts();
  return ({ way, login }: Entry['by']): string => {
    if (way === 'applicant') return texts.applicant;
    if (way === 'service') return texts.service;
    return way === 'operator' ? login : texts.byCommandLine(login);
  };
}
