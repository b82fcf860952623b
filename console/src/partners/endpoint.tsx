/** The endpoint of a partner: how it stands, and what an admin does with it. A new secret is shown once. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  DeliveriesReply,
  EndpointTestReply,
} from '../../../src/subjects/events/push/routes/endpoint.ts';
import { actOnPartner, useDeliveries } from '../api/partners.ts';
import card from '../base-ui/card.module.css';
import { Card, Facts } from '../base-ui/card.tsx';
import { SecretDialog } from '../base-ui/secret-dialog.tsx';
import { useFormat } from '../format/format.ts';
import { durationText } from '../queue/duration.ts';
import { useLanguage, useTexts } from '../texts/texts.ts';
import { Deliveries } from './deliveries.tsx';
import { EndpointDialog, type EndpointDialogAct } from './endpoint-dialogs.tsx';
import { failureWords, useEndpointTexts } from './endpoint-texts.ts';
import { useFailure } from './partner-texts.ts';
import styles from './partners.module.css';

type Shown = NonNullable<DeliveriesReply['endpoint']>;

/** Two cards: the endpoint, and its deliveries where the partner has one. */
export function Endpoint({ id, isOpen }: { id: string; isOpen: boolean }) {
  const texts = useEndpointTexts();
  const { frame } = useTexts();
  const failure = useFailure();
  const { data, error } = useDeliveries(id);
  const [asked, setAsked] = useState<EndpointDialogAct | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [resent, setResent] = useState<number | null>(null);
  const endpoint = data?.body.endpoint ?? null;
  return (
    <>
      <Card title={texts.endpoint}>
        {error && <p role="alert">{failure(error)}</p>}
        {!data && !error && <p>{frame.loading}</p>}
        {data && endpoint === null && <p>{texts.none}</p>}
        {endpoint && <Standing endpoint={endpoint} />}
        {data && <Acts id={id} endpoint={endpoint} isOpen={isOpen} onAsk={setAsked} />}
        <p role="status">{resent !== null && texts.resent(resent)}</p>
        {asked && (
          <EndpointDialog
            id={id}
            act={asked}
            endpoint={endpoint}
            onSecret={setSecret}
            onResent={setResent}
            onClose={() => setAsked(null)}
          />
        )}
        {secret && (
          <SecretDialog
            title={texts.newSecret}
            note={<p>{texts.newSecretNote}</p>}
            secret={secret}
            texts={{ ...texts, close: frame.close }}
            onClose={() => setSecret(null)}
          />
        )}
      </Card>
      {data && endpoint && <Deliveries id={id} newest={data.body} />}
    </>
  );
}

function Standing({ endpoint }: { endpoint: Shown }) {
  const texts = useEndpointTexts();
  const format = useFormat();
  const language = useLanguage();
  const { status, disabled_at: disabledAt, disabled_reason: reason, broken_at: brokenAt } = endpoint;
  const { last_failure: failure, last_failure_at: failedAt, last_success_at: succeededAt } = endpoint;
  const { waiting, oldest_at: oldestAt, old_secret_signs_for_s: overlap } = endpoint;
  const count = format.number(waiting);
  return (
    <>
      <Facts
        facts={[
          [
            texts.address,
            <span key="url" className={styles.id}>
              {endpoint.url ?? texts.unreadable}
            </span>,
          ],
          [
            texts.state,
            <span
              key="state"
              className={card.chip}
              data-state={status === 'enabled' ? undefined : 'rejected'}
            >
              {texts.states[status]}
            </span>,
          ],
          [texts.setAt, format.time(endpoint.set_at)],
          [texts.conversations, endpoint.conversation_events ? texts.yes : texts.no],
          [texts.waiting, oldestAt === null ? count : texts.waitingSince(count, format.time(oldestAt))],
          [texts.lastSuccess, succeededAt === null ? '—' : format.time(succeededAt)],
          [
            texts.lastFailure,
            failure === null || failedAt === null
              ? '—'
              : `${format.time(failedAt)}: ${failureWords(failure, texts)}`,
          ],
          ...(overlap === 0 ? [] : [[texts.oldSecret, durationText(overlap * 1_000, language)] as const]),
        ]}
      />
      {brokenAt !== null && disabledAt === null && (
        <p>
          {texts.failingSince(
            format.time(brokenAt),
            endpoint.probe_at === null ? '—' : format.time(endpoint.probe_at),
          )}
        </p>
      )}
      {disabledAt !== null && (
        <p>
          {texts.disabledAt(format.time(disabledAt))} {reason !== null && texts.disabledReasons[reason]}
        </p>
      )}
    </>
  );
}

interface ActsProps {
  readonly id: string;
  readonly endpoint: Shown | null;
  readonly isOpen: boolean;
  readonly onAsk: (act: EndpointDialogAct) => void;
}

/** A closed partner gets no endpoint; of a disabled one there is nothing to push again. */
function Acts({ id, endpoint, isOpen, onAsk }: ActsProps) {
  const texts = useEndpointTexts();
  const format = useFormat();
  const failure = useFailure();
  const queries = useQueryClient();
  const testing = useMutation({
    mutationFn: () => actOnPartner<EndpointTestReply>(queries, `/${id}/endpoint/test`),
  });
  const isEnabled = endpoint !== null && endpoint.disabled_at === null;
  return (
    <>
      <div className={styles.acts}>
        {isOpen && (
          <button type="button" onClick={() => onAsk('set')}>
            {endpoint === null ? texts.set : texts.change}
          </button>
        )}
        {endpoint && (
          <>
            <button type="button" disabled={testing.isPending} onClick={() => testing.mutate()}>
              {texts.test}
            </button>
            <button type="button" onClick={() => onAsk('rotate')}>
              {texts.rotate}
            </button>
          </>
        )}
        {isEnabled && (
          <>
            <button type="button" onClick={() => onAsk('resend')}>
              {texts.resend}
            </button>
            <button type="button" onClick={() => onAsk('disable')}>
              {texts.disable}
            </button>
          </>
        )}
      </div>
      <p role="status">
        {testing.isPending && texts.testing}
        {testing.data && testText(testing.data, texts, format.number)}
      </p>
      {testing.error && <p role="alert">{failure(testing.error)}</p>}
    </>
  );
}

function testText(
  { status, failure, took_ms }: EndpointTestReply,
  texts: ReturnType<typeof useEndpointTexts>,
  number: (value: number) => string,
): string {
  if (failure !== null) return texts.testFailed(failureWords(failure, texts));
  return status === null ? '' : texts.tested(status, number(took_ms));
}
