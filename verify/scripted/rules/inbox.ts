/** Whoever waited for a person and may be written to was answered once, and waits no more. */
import type { Found, History } from '../seen.ts';

export function checkInbox({ store, waited }: History): Found[] {
  const answers = Map.groupBy(
    store.replies.filter(({ isAnswer }) => isAnswer),
    ({ applicationId }) => applicationId,
  );
  return [...new Set([...waited, ...answers.keys()])].flatMap((applicationId): Found[] => {
    const count = answers.get(applicationId)?.length ?? 0;
    const acts = store.answerActs.get(applicationId) ?? 0;
    if (count === 1 && acts === 1) return [];
    const who = waited.includes(applicationId) ? 'waited' : 'did not wait';
    return [{ applicationId, text: `who ${who} has ${count} answers of operators, and the record ${acts}` }];
  });
}
