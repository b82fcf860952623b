/** A batch with a key has one answer, however often it is sent (D36). */
import type { Batch, Found, History } from '../history.ts';

export function checkReplays({ batches }: Pick<History, 'batches'>): Found[] {
  return batches
    .filter(({ hasKey }) => hasKey)
    .flatMap((batch) => textsOf(batch).map((text) => ({ partnerId: batch.partnerId, text })));
}

function textsOf(batch: Batch): string[] {
  // A 500 says that the batch may come again; every other answer is for good.
  const answers = batch.calls.flatMap(({ answer }) =>
    answer === null || answer.status === 500 ? [] : [answer],
  );
  const [first] = answers;
  if (first === undefined) return [];
  const texts: string[] = [];
  const others = answers.filter(
    ({ status, digest }) => status !== first.status || digest !== first.digest,
  ).length;
  if (others > 0) texts.push(`${others} of ${answers.length} answers differ from the first one`);
  const firsts = answers.filter(({ status, isReplay }) => status === 200 && !isReplay).length;
  if (firsts > 1) texts.push(`${firsts} answers say that they are the first one`);
  const isLost = batch.calls.some(({ answer }) => answer === null);
  if (first.isReplay && firsts === 0 && !isLost) {
    texts.push('a batch was refused each time, and its answer is a replay');
  }
  return texts;
}
