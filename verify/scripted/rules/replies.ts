/**
 * A reply goes out once, unless the channel reports the first one as failed; each has a cause; none waits for ever.
 */
import type { Found, History } from '../seen.ts';

const WENT_OUT = ['accepted', 'sent', 'delivered', 'read'];

export function checkReplies({ persons, store }: History): Found[] {
  const replies = Map.groupBy(store.replies, ({ applicationId }) => applicationId);
  const causes = new Set(store.inputs.map(({ applicationId, turn }) => `${applicationId} ${turn}`));
  return persons.flatMap(({ applicationId, taken, script }): Found[] => {
    const found: Found[] = [];
    const note = (text: string) => void found.push({ applicationId, text });
    const own = replies.get(applicationId) ?? [];
    const stored = new Set(own.map(({ id }) => id));
    const outs = Map.groupBy(taken, ({ replyId }) => replyId);
    for (const [id, some] of outs) {
      const good = some.filter(({ isFailed }) => !isFailed).length;
      if (good > 1) note(`reply ${id} went out ${good} times`);
      if (!stored.has(id)) note(`reply ${id} went out, and is not stored`);
    }
    for (const { id, turn, status, isAnswer } of own) {
      const out = outs.get(id)?.length ?? 0;
      if (status === 'queued' || status === 'sending') note(`reply ${id} is ${status} for ever`);
      if (WENT_OUT.includes(status) && out === 0) note(`reply ${id} is ${status}, and did not go out`);
      const isTimed = script.ends.place === 'expired';
      // Turns of conversations begin with 1: the others answer a person before the tap was heard.
      const isOfTurn = turn > 0 && !isTimed && !isAnswer;
      if (isOfTurn && !causes.has(`${applicationId} ${turn}`)) note(`turn ${turn} has a reply and no input`);
    }
    const reminders = store.reminders.get(applicationId) ?? 0;
    // One where the conversation expires, and one where a question could not be told.
    if (reminders > 1) note(`${reminders} templates remind`);
    return found;
  });
}
