/** Times and amounts as the language of the page writes them. */
import { type Language, useLanguage } from '../texts/texts.ts';
import { type Format, formatOf, localeOf } from './formats.ts';

const formats = new Map<Language, Format>();

export function useFormat(): Format {
  const language = useLanguage();
  const known = formats.get(language) ?? formatOf(language, localeOf(language, navigator.languages));
  formats.set(language, known);
  return known;
}
