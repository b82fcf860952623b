/** What operators may write in free texts of several lines. Pure. */
import { hasHidden, isPlainText } from '../../base/plain-text.ts';

/**
 * The trimmed text, its lines ended by `\n`; null where it is empty, has more than `most` characters (code points), or
 * has control or hidden characters: those could show a reader something else than what is stored.
 */
export function operatorText(text: string, most: number): string | null {
  const written = text.replaceAll('\r\n', '\n').trim();
  const isPlain = written.split('\n').every((line) => isPlainText(line) && !hasHidden(line));
  return written === '' || [...written].length > most || !isPlain ? null : written;
}
