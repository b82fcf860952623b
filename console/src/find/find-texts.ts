/** The texts of the search and of the views by language. They load with these, and not before. */
import { en, type FindTexts } from '../texts/en/find.ts';
import { es } from '../texts/es/find.ts';
import { pt } from '../texts/pt/find.ts';
import { type Language, useLanguage } from '../texts/texts.ts';

const TEXTS: Readonly<Record<Language, FindTexts>> = { en, es, pt };

export function useFindTexts(): FindTexts {
  return TEXTS[useLanguage()];
}
