/** One row of the queue. It has no personal data. */
import { Link } from 'wouter';
import type { QueueItemReply } from '../../../src/subjects/desk/routes/queue-forms.ts';
import { timeNow } from '../api/service-time.ts';
import { useFormat } from '../format/format.ts';
import { useLanguage, useTexts } from '../texts/texts.ts';
import { durationText } from './duration.ts';
import styles from './queue.module.css';

interface QueueRowProps {
  readonly item: QueueItemReply;
  readonly isGone: boolean;
  readonly operatorId: number;
  /** Whether the amount in US dollars is shown too. */
  readonly isInUsd: boolean;
  readonly href: string;
  readonly isSelected: boolean;
  readonly onSelect: ((item: QueueItemReply) => void) | null;
  readonly onFocus: () => void;
}

export function QueueRow(props: QueueRowProps) {
  const { item, isGone, operatorId, isInUsd, href, isSelected, onSelect, onFocus } = props;
  const { desk, queue } = useTexts();
  const format = useFormat();
  const language = useLanguage();
  const { id, partner, state, score, claim, capacity, documents } = item;
  const age = durationText(timeNow() - Date.parse(item.created_at), language);
  const isMine = claim?.by.id === operatorId;
  const holder = claim && (isMine ? queue.heldByMe : queue.heldBy(claim.by.login));
  return (
    <tr
      data-id={id}
      data-gone={isGone || undefined}
      data-selected={isSelected || undefined}
      onFocus={onFocus}
    >
      {onSelect !== null && (
        <td className={styles.box}>
          <label>
            <input
              type="checkbox"
              aria-label={queue.select(id)}
              checked={isSelected}
              onChange={() => onSelect(item)}
            />
          </label>
        </td>
      )}
      <th scope="row">
        <Link href={href}>{id}</Link>
      </th>
      <td data-label={queue.partner} className={styles.partner}>
        {partner.name}
      </td>
      <td data-label={queue.score}>{score === null ? queue.unreadable : <Score score={score} />}</td>
      <td data-label={queue.amount} data-number>
        {format.wholeAmount(item.debt_amount, item.currency)}
      </td>
      <td data-label={queue.income} data-number>
        {format.wholeAmount(capacity?.income ?? null, null)}
        {capacity !== null && capacity.income_by !== 'declared' && (
          <span className={styles.quiet}> {queue.incomeBy[capacity.income_by]}</span>
        )}
      </td>
      <td data-label={queue.share} data-number>
        {capacity?.share == null ? '—' : format.percent(capacity.share)}
      </td>
      <td data-label={queue.documents} data-number>
        {format.number(documents.accepted + documents.received)}
      </td>
      {isInUsd && (
        <td data-label={queue.reference} data-number>
          {format.wholeAmount(item.reference_amount, null)}
        </td>
      )}
      <td data-label={queue.age} data-number>
        {age}
      </td>
      <td data-label={queue.due} data-number>
        <TimeLeft dueAt={item.due_at} />
      </td>
      <td data-label={queue.state}>{isGone ? queue.gone : (holder ?? desk.queueStates[state])}</td>
    </tr>
  );
}

/** The score as a number and as a bar. */
function Score({ score }: { score: number }) {
  return (
    <span className={styles.score}>
      <span>{score}</span>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="6" />
        <rect data-got width={score} height="6" />
      </svg>
    </span>
  );
}

/** What is overdue says so in words and with a mark. */
function TimeLeft({ dueAt }: { dueAt: string | null }) {
  const { queue } = useTexts();
  const language = useLanguage();
  if (dueAt === null) return <span className={styles.quiet}>{queue.stopped}</span>;
  const left = Date.parse(dueAt) - timeNow();
  const text = durationText(left, language);
  if (left > 0) return text;
  return (
    <span className={styles.late}>
      <span aria-hidden="true">▲ </span>
      {queue.late(text)}
    </span>
  );
}
