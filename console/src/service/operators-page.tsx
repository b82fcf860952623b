/** The operators with role and authority, and their sessions, each of which an admin may end. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { OperatorsReply } from '../../../src/subjects/operators/routes/operators.ts';
import { failureText } from '../api/failure.ts';
import { endSession, useOperators } from '../api/service.ts';
import { Card, Facts } from '../base-ui/card.tsx';
import { PageHeading } from '../base-ui/page-heading.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './service.module.css';
import { useServiceTexts } from './service-texts.ts';
import { SessionList } from './session-list.tsx';

type Shown = OperatorsReply['operators'][number];

export default function OperatorsPage() {
  const service = useServiceTexts();
  const texts = useTexts();
  const queries = useQueryClient();
  const { data, error } = useOperators();
  const ending = useMutation({
    mutationFn: ({ operatorId, session }: { operatorId: number; session: string }) =>
      endSession(queries, operatorId, session),
  });
  return (
    <div className={styles.page}>
      <PageHeading title={service.operators} />
      <p role="status" className={styles.said}>
        {ending.isSuccess && service.ended}
      </p>
      {error && <p role="alert">{failureText(error, texts)}</p>}
      {ending.error && <p role="alert">{failureText(ending.error, texts, { 404: service.endedBefore })}</p>}
      {!data && !error && <p>{texts.frame.loading}</p>}
      {data?.body.operators.map((operator) => (
        <Operator
          key={operator.id}
          operator={operator}
          isEnding={ending.isPending}
          onEnd={(session) => ending.mutate({ operatorId: operator.id, session })}
        />
      ))}
    </div>
  );
}

interface OperatorProps {
  readonly operator: Shown;
  readonly isEnding: boolean;
  readonly onEnd: (session: string) => void;
}

function Operator({ operator, isEnding, onEnd }: OperatorProps) {
  const service = useServiceTexts();
  const { frame } = useTexts();
  const format = useFormat();
  const { login, role, authority, sessions } = operator;
  const own = useRef<HTMLDivElement>(null);
  // A link of the search leads to one of them.
  useEffect(() => {
    if (location.hash === `#operator-${operator.id}`) own.current?.scrollIntoView();
  }, [operator.id]);
  const alone = Object.entries(authority).map(([currency, amount]) =>
    format.amount(Number(amount), currency),
  );
  return (
    <div ref={own}>
      <Card title={login} beside={<span>{standingOf(operator, service)}</span>}>
        <Facts
          facts={[
            [service.role, frame.roles[role]],
            [service.authority, alone.length === 0 ? service.nothing : alone.join(', ')],
            [service.signsInSince, operator.enrolled_at === null ? '—' : format.time(operator.enrolled_at)],
          ]}
        />
        <h3>{service.sessions}</h3>
        <SessionList sessions={sessions} login={login} isEnding={isEnding} onEnd={onEnd} />
      </Card>
    </div>
  );
}

function standingOf(
  { disabled_at, forged, enrolled_at }: Shown,
  service: ReturnType<typeof useServiceTexts>,
): string {
  if (disabled_at !== null) return service.disabled;
  if (forged) return service.forged;
  return enrolled_at === null ? service.notEnrolled : service.active;
}
