/** What a partner asked lately; one request is found by its X-Request-Id. */
import { type FormEvent, useState } from 'react';
import type { RequestsReply } from '../../../src/subjects/partners/routes/request-forms.ts';
import { useRequests } from '../api/partners.ts';
import { Card } from '../base-ui/card.tsx';
import { RowTable } from '../base-ui/row-table.tsx';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import { More } from './more.tsx';
import { useFailure, usePartnerTexts } from './partner-texts.ts';
import styles from './partners.module.css';

/** `path`: of the partner's requests, below `/api`. */
export function Requests({ path }: { path: string }) {
  const texts = usePartnerTexts();
  const { frame } = useTexts();
  const failure = useFailure();
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState('');
  const { data, error, refetch, isFetching, ...pages } = useRequests(path, asked);
  const requests = data?.pages.flatMap(({ body }) => body.requests);
  const find = (event: FormEvent) => {
    event.preventDefault();
    const next = typed.trim().toLowerCase();
    if (next === asked) void refetch();
    setAsked(next);
  };
  return (
    <Card title={texts.requests}>
      <form className={styles.find} onSubmit={find}>
        <label>
          X-Request-Id
          <input
            maxLength={40}
            autoComplete="off"
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
        <button type="submit" disabled={isFetching}>
          {texts.search}
        </button>
      </form>
      {error && <p role="alert">{failure(error, texts.wrongRequestId)}</p>}
      {!requests && !error && <p>{frame.loading}</p>}
      {requests?.length === 0 && <p>{asked === '' ? texts.noRequests : texts.noSuchRequest}</p>}
      {requests && requests.length > 0 && <RequestTable requests={requests} />}
      <More pages={pages} />
    </Card>
  );
}

function RequestTable({ requests }: Pick<RequestsReply, 'requests'>) {
  const texts = usePartnerTexts();
  const format = useFormat();
  return (
    <RowTable
      label={texts.requests}
      heads={[
        ...[texts.at, texts.request, texts.status, texts.took, texts.elements, texts.whatCame, texts.broken],
        'X-Request-Id',
      ]}
      rows={requests.map((one) => ({
        id: one.request_id,
        cells: [
          format.time(one.at),
          `${one.method} ${one.route}`,
          one.problem === null ? one.status : `${one.status} ${one.problem}`,
          texts.milliseconds(format.number(one.duration_ms)),
          one.elements === null ? '—' : format.number(one.elements),
          outcomesText(one, texts, format.number),
          one.errors
            .map(({ field, code, elements }) => `${field} ${code}: ${format.number(elements)}`)
            .join(', ') || '—',
          <span key="id" className={styles.id}>
            {one.request_id}
          </span>,
        ],
      }))}
    />
  );
}

function outcomesText(
  { outcomes, replayed }: RequestsReply['requests'][number],
  texts: ReturnType<typeof usePartnerTexts>,
  number: (value: number) => string,
): string {
  const some = Object.entries(outcomes ?? {})
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${texts.outcomes[kind as keyof typeof texts.outcomes]}: ${number(count)}`);
  return [...(replayed ? [texts.replayed] : []), ...some].join(', ') || '—';
}
