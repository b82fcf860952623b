/** The language in which `ventanilla submit` speaks. */
import { LANGUAGES, type Language } from '../../../ground/base/language.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import type { Surroundings } from './submit-terminal.ts';

/**
 * The language that `--lang` chooses; else that of the environment, as programs read it (POSIX: LC_ALL, LC_MESSAGES,
 * LANG), or of the system where it has none of these variables. English where it is neither. Throws `ToldError`.
 */
export function languageOf(chosen: string | undefined, around: Surroundings): Language {
  const { LC_ALL, LC_MESSAGES, LANG } = around.env;
  const told = LC_ALL || LC_MESSAGES || LANG || around.locale();
  const usual = /^es(?![a-z])/i.test(told) ? 'es' : 'en';
  if (chosen === undefined) return usual;
  const found = LANGUAGES.find((language) => language === chosen.trim().toLowerCase());
  if (found !== undefined) return found;
  const all = LANGUAGES.join(', ');
  throw new ToldError({ en: `--lang must be one of: ${all}`, es: `--lang debe ser uno de: ${all}` }[usual]);
}
