/**
 * After an opt-out nothing follows: no reply of a later turn, and nothing goes to the channel. A reply that was under
 * way when the channel got its answer to the opt-out may still arrive.
 */
import type { Found, History } from '../seen.ts';

/** From the claim of a reply to its arrival: a read mark of two seconds, and a send of ten. */
const UNDER_WAY_MS = 15_000;

export function checkOptOuts({ persons, store, indexOf }: History): Found[] {
  const turns = new Map(store.inputs.map(({ message, turn }) => [message, turn]));
  const replies = Map.groupBy(store.replies, ({ applicationId }) => applicationId);
  return persons.flatMap(({ applicationId, told, taken }): Found[] => {
    const out = told.find(({ optsOut, heardAtMs }) => optsOut && heardAtMs !== null);
    if (out === undefined) return [];
    const turn = turns.get(indexOf(out.id)) ?? 0;
    const until = out.heardAtMs! + UNDER_WAY_MS;
    return [
      ...(replies.get(applicationId) ?? [])
        .filter((reply) => turn > 0 && reply.turn >= turn)
        .map((reply) => ({ applicationId, text: `turn ${reply.turn} replies after the opt-out` })),
      ...taken
        .filter(({ atMs }) => atMs > until)
        .map(({ replyId, atMs }) => ({
          applicationId,
          text: `reply ${replyId} goes out ${Math.round(atMs - out.heardAtMs!)} ms after the opt-out`,
        })),
    ];
  });
}
