/**
 * Which outcome belongs to which input. The answer has two lists, results and errors, each in submission order,
 * and each entry echoes the ID number that was sent. Where no two elements of a batch have the same echo, the
 * lists merge in exactly one way: an echo names its element, and those without one are always errors, whose order
 * tells them apart. So no batch is sent with an echo in it twice.
 */
import { ResponseError } from './errors.ts';
import type { BatchAnswer } from './read-answer.ts';
import type { Outcome } from './wire.ts';

/**
 * What the service echoes of an element: the ID number trimmed, a number as its string, anything else null, a
 * lone surrogate as U+FFFD. It is read from the very text that is sent, so that no getter or `toJSON` can say
 * anything else.
 */
export function echoOf(json: string): string | null {
  const element: unknown = JSON.parse(json);
  if (typeof element !== 'object' || element === null || Array.isArray(element)) return null;
  const { id_number, cedula } = element as Record<string, unknown>;
  const value = id_number ?? cedula;
  if (typeof value === 'string') return value.trim().toWellFormed();
  return typeof value === 'number' ? String(value) : null;
}

/** One outcome for each echo, in order. Throws `ResponseError` where the lists do not merge to the echoes. */
export function pair(echoes: readonly (string | null)[], { results, errors }: BatchAnswer): Outcome[] {
  let result = 0;
  let error = 0;
  const outcomes = echoes.map((echo) => {
    if (echo !== null && results[result]?.idNumber === echo) return results[result++] as Outcome;
    if (errors[error]?.idNumber === echo) return errors[error++] as Outcome;
    throw new ResponseError('the answer does not belong to the batch that was sent');
  });
  if (result < results.length || error < errors.length) {
    throw new ResponseError('the answer has more entries than the batch had applications');
  }
  return outcomes;
}
