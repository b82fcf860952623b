/**
 * Finds the outcome of each input. The answer has two lists, results and errors, each in submission order, and each
 * entry echoes the ID number that was sent. Where no two elements of a batch have the same echo, the lists merge in
 * exactly one way: an echo names its element, and elements without an echo are always errors, which their order tells
 * apart. So the client never sends a batch with the same echo twice.
 */
import { ResponseError } from './errors.ts';
import type { BatchAnswer } from './read-answer.ts';
import type { Outcome } from './wire.ts';

/** The most code points of an ID number that the service echoes. */
const ECHOED_CODE_POINTS = 64;

/**
 * The ID number that the service echoes of an element: of a text what `echoOfText` gives, a number below 2^53 as its
 * string, anything else null. The function reads the text that is sent, because a getter or `toJSON` could change the
 * value.
 */
export function echoOf(json: string): string | null {
  const element: unknown = JSON.parse(json);
  if (typeof element !== 'object' || element === null || Array.isArray(element)) return null;
  const { id_number, cedula } = element as Record<string, unknown>;
  const value = id_number ?? cedula;
  if (typeof value === 'string') return echoOfText(value);
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : null;
}

/** The first 64 code points of the trimmed text, with U+FFFD in place of a lone surrogate. */
export function echoOfText(idNumber: string): string {
  const text = idNumber.trim();
  if (text.length <= ECHOED_CODE_POINTS) return text.toWellFormed();
  const start = text.slice(0, 2 * ECHOED_CODE_POINTS);
  return [...start].slice(0, ECHOED_CODE_POINTS).join('').toWellFormed();
}

/** One outcome for each echo, in order. Throws `ResponseError` where the lists do not merge to the echoes. */
export function pair(echoes: readonly (string | null)[], { results, errors }: BatchAnswer): Outcome[] {
  let result = 0;
  let error = 0;
  const outcomes = echoes.map((echo): Outcome => {
    const registered = results[result];
    if (echo !== null && registered?.idNumber === echo) {
      result += 1;
      return registered;
    }
    const refused = errors[error];
    if (refused?.idNumber === echo) {
      error += 1;
      return refused;
    }
    throw new ResponseError('the answer does not belong to the batch that was sent');
  });
  if (result < results.length || error < errors.length) {
    throw new ResponseError('the answer has more entries than the batch had applications');
  }
  return outcomes;
}
