/** Sends several batches at once, and yields their outcomes in input order. */
import type { Batch } from './batches.ts';
import {
  AbortedError,
  AuthenticationError,
  attachKnown,
  type KnownInput,
  RequestRefusedError,
  VentanillaError,
} from './errors.ts';
import type { Outcome } from './wire.ts';

export interface SettledBatch {
  readonly batch: Batch;
  readonly outcomes: readonly Outcome[];
}

/** Sends a batch; calls `onRetry` when the first attempt failed and another follows. */
export type Send = (batch: Batch, signal: AbortSignal, onRetry: () => void) => Promise<readonly Outcome[]>;

interface UnderWay {
  readonly batch: Batch;
  /** Each batch has its own controller: many listeners on one signal look like a leak to Node. */
  readonly stop: AbortController;
  /** Resolves when `outcomes` or `failure` is set. Never rejects. */
  readonly end: Promise<void>;
  outcomes?: readonly Outcome[];
  failure?: { readonly error: unknown };
  retried: boolean;
}

/**
 * The batches with their outcomes, in order. At most `concurrency` batches are under way and twice as many are held,
 * so the inputs are read no further ahead. After a failure nothing more is sent. The batches under way end first; then
 * the error carries what became of every batch that was sent and not yielded. An aborted signal, and a consumer that
 * leaves, end the batches under way at once.
 */
export async function* inOrder(
  batches: AsyncGenerator<Batch, void, undefined>,
  send: Send,
  concurrency: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<SettledBatch, void, undefined> {
  const held: UnderWay[] = [];
  let end: { readonly error?: unknown } | undefined;
  let reading: Promise<void> | undefined;
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stop.signal.addEventListener('abort', () => {
      for (const underWay of held) underWay.stop.abort(stop.signal.reason);
      resolve();
    });
  });
  const abort = () => stop.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();

  const goesOn = () => end === undefined && !stop.signal.aborted && held.every(({ failure }) => !failure);
  const read = async () => {
    try {
      const { value: batch } = await batches.next();
      if (batch === undefined) end = {};
      else if (goesOn()) held.push(start(batch, send));
    } catch (error) {
      end = { error };
    }
    reading = undefined;
  };

  try {
    while (end === undefined || held.length > 0) {
      if (stop.signal.aborted) throw await withKnown(new AbortedError(stop.signal.reason), held);
      const [head] = held;
      if (head?.failure) throw await withKnown(head.failure.error, held);
      if (head?.outcomes) {
        held.shift();
        yield { batch: head.batch, outcomes: head.outcomes };
        continue;
      }
      const underWay = held.filter(({ outcomes, failure }) => !outcomes && !failure);
      if (goesOn() && underWay.length < concurrency && held.length < 2 * concurrency) reading ??= read();
      await Promise.race([stopped, ...(reading ? [reading] : []), ...underWay.map((batch) => batch.end)]);
    }
    if ('error' in end) throw end.error;
  } finally {
    signal?.removeEventListener('abort', abort);
    stop.abort();
    // Nobody waits for this, because inputs that hang would hold up a consumer that leaves.
    batches.return().catch(() => {});
  }
}

function start(batch: Batch, send: Send): UnderWay {
  const stop = new AbortController();
  const sent = send(batch, stop.signal, () => {
    underWay.retried = true;
  });
  const end = sent.then(
    (outcomes) => {
      underWay.outcomes = outcomes;
    },
    (error: unknown) => {
      underWay.failure = { error };
    },
  );
  const underWay: UnderWay = { batch, stop, end, retried: false };
  return underWay;
}

/** Waits until all batches have ended, and attaches what became of them to the error. */
async function withKnown(error: unknown, held: readonly UnderWay[]): Promise<unknown> {
  await Promise.all(held.map(({ end }) => end));
  if (error instanceof VentanillaError) attachKnown(error, held.flatMap(knownOf));
  return error;
}

function knownOf(underWay: UnderWay): KnownInput[] {
  const { batch, outcomes } = underWay;
  const kind = wasRefused(underWay) ? 'not_registered' : 'unknown';
  return batch.elements.map(({ input }, position) => ({
    index: batch.start + position,
    input,
    known: outcomes?.[position] ?? { kind },
  }));
}

/** True for a batch that was certainly refused. After a retry an earlier attempt may have registered the batch. */
function wasRefused({ failure, retried }: UnderWay): boolean {
  const refused =
    failure?.error instanceof AuthenticationError || failure?.error instanceof RequestRefusedError;
  return refused && !retried;
}
