/** The loop that pushes partner events: one turn after the other, each followed by a rest. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PartnerId } from '../../partners/rules/credential.ts';
import type { Loop } from '../../subject/subject.ts';
import { type PushContext, type PushUnderway, pushDue } from './turn.ts';

/** Rests after a turn, and after a turn that failed, in milliseconds. */
const REST_MS = 20;
const FAILED_MS = 2_000;
/**
 * The rest after a turn that found nothing: a sixtieth of the time since this process pushed something, within these
 * bounds. So an installation without endpoints does little for them.
 */
const IDLE_SHARE = 1 / 60;
const MIN_IDLE_MS = 500;
const MAX_IDLE_MS = 2_000;
/** Batches come first, and a slow turn says that the database is busy: it is followed by a rest as long, up to this. */
const MAX_REST_MS = 250;
/** Attempts without an answer this long after `stop()` are cut off; after their lease they are made again. */
const CUT_OFF_MS = 4_000;

/**
 * With this many attempts under way a process begins no turn, so at most one turn more are under way. It bounds the
 * connections that endpoints without an answer can hold; they are noticed as broken after five events each.
 */
const MOST_UNDERWAY = 1_000;

/** Starts the loop. `onError` is called when a turn fails. */
export function startPusher(context: PushContext, onError: (error: unknown) => void): Loop {
  const stopping = new AbortController();
  const cut = new AbortController();
  const underway = new Set<PushUnderway>();
  let lastTurnMs = performance.now();
  let lastBegunMs = Number.NEGATIVE_INFINITY;
  // An attempt that ends makes room, and may make the next push of its application due.
  let isWoken = false;
  let endPause = () => {};
  const wake = () => {
    isWoken = true;
    endPause();
  };
  const turn = async (): Promise<number> => {
    if (underway.size >= MOST_UNDERWAY) return 0;
    const byPartner = new Map<PartnerId, number>();
    for (const { partnerId } of underway) byPartner.set(partnerId, (byPartner.get(partnerId) ?? 0) + 1);
    const begun = await pushDue(context, byPartner, cut.signal);
    for (const push of begun) {
      underway.add(push);
      push.ended.catch(onError).then(() => {
        underway.delete(push);
        wake();
      });
    }
    return begun.length;
  };
  const pause = (ms: number) => sleep(ms, undefined, { signal: stopping.signal }).catch(() => {});
  const pauseUntilWoken = async (ms: number) => {
    if (isWoken) return;
    const enough = new AbortController();
    endPause = () => enough.abort();
    await sleep(ms, undefined, { signal: enough.signal }).catch(() => {});
  };
  const work = async () => {
    while (!stopping.signal.aborted) {
      try {
        lastTurnMs = performance.now();
        isWoken = false;
        const begun = await turn();
        const tookMs = performance.now() - lastTurnMs;
        await pause(Math.min(Math.max(tookMs, REST_MS), MAX_REST_MS));
        if (begun > 0) lastBegunMs = performance.now();
        else await pauseUntilWoken(idleAfter(performance.now() - lastBegunMs));
      } catch (error) {
        if (stopping.signal.aborted) return;
        onError(error);
        await pause(FAILED_MS);
      }
    }
  };
  const worked = work();
  return {
    lastTurnMs: () => lastTurnMs,
    stop: () => {
      stopping.abort();
      wake();
      setTimeout(() => cut.abort(), CUT_OFF_MS).unref();
      return worked;
    },
    ended: worked.then(async () => {
      while (underway.size > 0) await Promise.allSettled([...underway].map(({ ended }) => ended));
    }),
  };
}

function idleAfter(quietMs: number): number {
  return Math.min(Math.max(quietMs * IDLE_SHARE, MIN_IDLE_MS), MAX_IDLE_MS);
}
