/** The loop that pushes partner events: one turn after the other, each followed by a rest. */
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { startLoop } from '../../../program/subject/loop.ts';
import type { Loop } from '../../../program/subject/subject.ts';
import { type PushContext, type PushUnderway, pushDue } from './turn.ts';

/** The rest after a turn, in milliseconds. */
const REST_MS = 20;
/**
 * The rest after a turn that found nothing: a sixtieth of the time since this process pushed something, within these
 * bounds. So an installation without endpoints does little for them.
 */
const IDLE_SHARE = 1 / 60;
const MIN_IDLE_MS = 500;
const MAX_IDLE_MS = 2_000;
/** Batches come first, and a slow turn says that the database is busy: it is followed by a rest as long, up to this. */
const MAX_REST_MS = 250;
/**
 * With this many attempts under way a process begins no turn, so the attempts of one more turn may come on top. It
 * bounds the connections that endpoints without an answer can hold; they are noticed as broken after five events each.
 */
const MOST_UNDERWAY = 1_000;

/**
 * Starts the loop. `onError` is called when a turn fails. Attempts that are cut off after `stop()` are made again after
 * their lease.
 */
export function startPusher(context: PushContext, onError: (error: unknown) => void): Loop {
  const { clock } = context;
  const underway = new Set<PushUnderway>();
  let lastBegunMs = Number.NEGATIVE_INFINITY;
  // An attempt that ends makes room, and may make the next push of its application due.
  let isWoken = false;
  let endPause = () => {};
  const wake = () => {
    isWoken = true;
    endPause();
  };
  const begin = async (cut: AbortSignal): Promise<number> => {
    if (underway.size >= MOST_UNDERWAY) return 0;
    const byPartner = new Map<PartnerId, number>();
    for (const { partnerId } of underway) byPartner.set(partnerId, (byPartner.get(partnerId) ?? 0) + 1);
    const begun = await pushDue(context, byPartner, cut);
    for (const push of begun) {
      underway.add(push);
      push.ended.catch(onError).then(() => {
        underway.delete(push);
        wake();
      });
    }
    return begun.length;
  };
  const pauseUntilWoken = async (ms: number, stopping: AbortSignal) => {
    if (isWoken || stopping.aborted) return;
    const enough = new AbortController();
    endPause = () => enough.abort();
    stopping.addEventListener('abort', endPause, { signal: enough.signal });
    await clock.sleep(ms, { signal: enough.signal }).catch(() => {});
    enough.abort();
  };
  return startLoop({
    clock,
    turn: async ({ stopping, cut, pause }) => {
      const begunMs = clock.monotonicMs();
      isWoken = false;
      const begun = await begin(cut);
      const tookMs = clock.monotonicMs() - begunMs;
      await pause(Math.min(Math.max(tookMs, REST_MS), MAX_REST_MS));
      if (begun > 0) lastBegunMs = clock.monotonicMs();
      else await pauseUntilWoken(idleAfter(clock.monotonicMs() - lastBegunMs), stopping);
    },
    onError,
    settled: async () => {
      while (underway.size > 0) await Promise.allSettled([...underway].map(({ ended }) => ended));
    },
  });
}

function idleAfter(quietMs: number): number {
  return Math.min(Math.max(quietMs * IDLE_SHARE, MIN_IDLE_MS), MAX_IDLE_MS);
}
