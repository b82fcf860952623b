/** A batch with a key has one answer, however often it is sent (D36). */
import type { Batch, Found, History } from '../history.ts';
import { answered } from '../lookup.ts';

export function checkReplays({ batches }: History): Found[] {
  return batches
    .filter(({ hasKey }) => hasKey)
    .flatMap((batch) => textsOf(batch).map((text) => ({ partnerId: batch.partnerId, text })));
}

function textsOf(batch: Batch): string[] {
  const answers = answered(batch).map(({ answer }) => answer);
  const [first] = answers;
  if (first === undefined) return [];
  const texts: string[] = [];
  const others = answers.filter(({ digest }) => digest !== first.digest).length;
  if (others > 0) texts.push(`${others} of ${answers.length} answers differ from the first one`);
  const firsts = answers.filter(({ isReplay }) => !isReplay).length;
  if (firsts > 1) texts.push(`${firsts} answers say that they are the first one`);
  const isLost = batch.calls.some(({ answer }) => answer === null);
  if (firsts === 0 && !isLost) texts.push('a batch was refused each time, and its answer is a replay');
  return texts;
}
