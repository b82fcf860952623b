/** One decision on many applications: the selected rows, or all that matched when they were chosen. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  BulkReply,
  LookedAtReply,
  NewProposalBody,
} from '../../../src/subjects/desk/routes/proposal-forms.ts';
import { failureText } from '../api/failure.ts';
import type { Filters } from '../api/filters.ts';
import { changedTo, lookAtMany, type NewBulkBody, proposeMany } from '../api/proposals.ts';
import { freeze, type SelectionReply } from '../api/queue.ts';
import { RequestKey } from '../api/request-key.ts';
import { ReasonDialog } from '../decide/reason-dialog.tsx';
import { useFormat } from '../format/format.ts';
import { useShortcuts } from '../keyboard/shortcuts.ts';
import { useTexts } from '../texts/texts.ts';
import { BulkLook, contradictedOf, seenOf } from './bulk-look.tsx';
import { BulkResults } from './bulk-results.tsx';
import styles from './queue.module.css';

type BulkAct = NewBulkBody['act'];

interface BulkProps {
  /** The last event of each selected application by its number. */
  readonly selected: ReadonlyMap<number, string>;
  readonly filters: Filters;
  readonly count: number;
  readonly countText: string;
  readonly onClear: () => void;
}

export function Bulk({ selected, filters, count, countText, onClear }: BulkProps) {
  const texts = useTexts();
  const { desk, frame, queue } = texts;
  const format = useFormat();
  const queries = useQueryClient();
  const [frozen, setFrozen] = useState<SelectionReply | null>(null);
  const [asked, setAsked] = useState<BulkAct | null>(null);
  /** What the dialog shows of the decision; null: it is not read yet. */
  const [seen, setSeen] = useState<LookedAtReply | null>(null);
  const [done, setDone] = useState<{ readonly reply: BulkReply; readonly key: string } | null>(null);
  const [keys] = useState(() => new RequestKey());
  const all = useMutation({ mutationFn: () => freeze(filters), onSuccess: setFrozen });
  /** What failed is not said of the next decision. */
  const close = () => {
    setAsked(null);
    setSeen(null);
    look.reset();
    send.reset();
  };
  const clear = () => {
    setFrozen(null);
    close();
    all.reset();
    onClear();
  };
  const look = useMutation({
    mutationFn: (of: BulkAct) => lookAtMany({ act: of, ...targetOf(frozen, selected) }),
    onSuccess: setSeen,
  });
  const send = useMutation({
    mutationFn: async ({ decided, shown }: { decided: NewProposalBody; shown: LookedAtReply }) => {
      const body = bodyOf(decided, shown, targetOf(frozen, selected));
      const key = keys.of(body);
      return { reply: await proposeMany(body, key), key };
    },
    onSuccess: (sent) => {
      keys.done();
      setDone(sent);
      clear();
      return queries.invalidateQueries({ queryKey: ['queue'] });
    },
    onError: (error) => {
      const now = changedTo(error)?.look;
      if (now !== undefined) setSeen(now);
    },
  });
  const chosen = frozen?.count ?? selected.size;
  const ask = (of: BulkAct) =>
    chosen === 0
      ? undefined
      : () => {
          setAsked(of);
          look.mutate(of);
        };
  const failure = look.error ?? send.error;
  useShortcuts({ a: ask('approve'), r: ask('reject') });
  return (
    <>
      <div className={styles.bulk}>
        <span role="status">{chosen > 0 && queue.selected(chosen, format.number(chosen))}</span>
        {chosen > 0 &&
          (['approve', 'reject'] as const).map((of) => (
            <button key={of} type="button" onClick={ask(of)}>
              {desk.acts[of]} <kbd>{of === 'approve' ? 'a' : 'r'}</kbd>
            </button>
          ))}
        {chosen > 0 && (
          <button type="button" onClick={clear}>
            {queue.clearSelection}
          </button>
        )}
        {frozen === null && count > 1 && (
          <button type="button" disabled={all.isPending} onClick={() => all.mutate()}>
            {queue.selectAll(countText)}
          </button>
        )}
        {all.isError && <span role="alert">{failureText(all.error, texts)}</span>}
      </div>
      {asked !== null && (
        <ReasonDialog
          act={asked}
          title={queue.decideMany(desk.acts[asked], chosen, format.number(chosen))}
          note={
            <>
              {frozen && <p>{queue.frozen(frozen.count, format.number(frozen.count))}</p>}
              {seen ? <BulkLook seen={seen} /> : look.isPending && <p>{frame.loading}</p>}
            </>
          }
          contradicted={contradictedOf(seen, texts, format)}
          isReady={seen !== null}
          isPending={send.isPending}
          failure={failure === null ? null : failureText(failure, texts, { 404: queue.selectionOver })}
          onClose={close}
          onDecide={(decided) => seen && send.mutate({ decided, shown: seen })}
        />
      )}
      {done && <BulkResults reply={done.reply} decisionKey={done.key} onClose={() => setDone(null)} />}
    </>
  );
}

function bodyOf(
  { act, override: _, ...decided }: NewProposalBody,
  shown: LookedAtReply,
  target: ReturnType<typeof targetOf>,
): NewBulkBody {
  return { ...decided, act: act as BulkAct, seen: seenOf(shown, decided.reason_code), ...target };
}

function targetOf(
  frozen: SelectionReply | null,
  selected: BulkProps['selected'],
): Pick<NewBulkBody, 'selection' | 'applications'> {
  if (frozen !== null) return { selection: frozen.selection };
  return { applications: [...selected].map(([id, last_event]) => ({ id, last_event })) };
}
