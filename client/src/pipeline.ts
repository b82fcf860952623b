/** Sends batches, several at once, and hands their outcomes on in input order. */
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

/** Sends a batch; calls `onRetry` when a first attempt was not the last. */
export type Send = (batch: Batch, signal: AbortSignal, onRetry: () => void) => Promise<readonly Outcome[]>;

interface UnderWay {
  readonly batch: Batch;
  /** Its own: a signal that many batches listen to looks like a leak to Node. */
  readonly stop: AbortController;
  /** Never rejects: by then `outcomes` or `failure` is set. */
  readonly end: Promise<void>;
  outcomes?: readonly Outcome[];
  failure?: { readonly error: unknown };
  retried: boolean;
}

/**
 * The batches with their outcomes, in order. At most `concurrency` are under way and twice as many held, so the
 * inputs are read no further ahead than that. After a failure nothing more is sent; what is under way is waited
 * for, and the error carries what is known of every batch that was sent and not handed on. The signal, and a
 * consumer that leaves, end what is under way at once.
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
    // Not waited for: inputs that hang would hold up whoever leaves because of it.
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

/** The error with what is known of the batches, once all of them have ended. */
async function withKnown(error: unknown, held: readonly UnderWay[]): Promise<unknown> {
  await Promise.all(held.map(({ end }) => end));
  if (error instanceof VentanillaError) attachKnown(error, held.flatMap(knownOf));
  return error;
}

function knownOf(underWay: UnderWay): KnownInput[] {
  const { batch, outcomes } = underWay;
  const kind = wasRefused(underWay) ? 'not_registered' : 'unknown';
  return batch.elements.map(({ input }, place) => ({
    index: batch.start + place,
    input,
    known: outcomes?.[place] ?? { kind },
  }));
}

/** Where an earlier attempt may have registered it, a refusal of a later one says nothing. */
function wasRefused({ failure, retried }: UnderWay): boolean {
  const refused =
    failure?.error instanceof AuthenticationError || failure?.error instanceof RequestRefusedError;
  return refused && !retried;
}
