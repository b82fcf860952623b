/** The own sessions: when, where and with what each began, and an end for each other one. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { failureText } from '../api/failure.ts';
import { endOwnSession, useOwnSessions } from '../api/service.ts';
import { Card } from '../base-ui/card.tsx';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { useTexts } from '../texts/texts.ts';
import styles from './service.module.css';
import { useServiceTexts } from './service-texts.ts';
import { SessionList } from './session-list.tsx';

export default function SessionsPage({ login }: { readonly login: string }) {
  const service = useServiceTexts();
  const texts = useTexts();
  const queries = useQueryClient();
  const { data, error } = useOwnSessions();
  const ending = useMutation({ mutationFn: (session: string) => endOwnSession(queries, session) });
  return (
    <div className={styles.page}>
      <PageHeading title={texts.frame.sessions} />
      <p role="status" className={styles.said}>
        {ending.isSuccess && service.ended}
      </p>
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {ending.error && <p role="alert">{failureText(ending.error, texts, { 404: service.endedBefore })}</p>}
      {!data && !error && <p>{texts.frame.loading}</p>}
      {data && (
        <Card title={login}>
          <p>{service.strange}</p>
          <SessionList
            sessions={data.body.sessions}
            login={login}
            isEnding={ending.isPending}
            onEnd={(session) => ending.mutate(session)}
          />
        </Card>
      )}
    </div>
  );
}
