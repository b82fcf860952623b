/**
 * The words about a file, in each language of those who read them. The command speaks the languages of the service; the
 * portal's page reads files by the same code, also for readers of Portuguese.
 */
import type { Language } from '../../../../src/ground/base/language.ts';

export type FileLanguage = Language | 'pt';

/** The same words in each language. */
export type FileWords = Readonly<Record<FileLanguage, string>>;

/** Words that `text` puts together in each language. */
export function inEach(text: (language: FileLanguage) => string): FileWords {
  return { en: text('en'), es: text('es'), pt: text('pt') };
}
