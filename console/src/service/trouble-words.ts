/** What a trouble is in the language of the page, which the service says in English alone. */
import type { TroubleCode } from '../../../src/subjects/monitoring/rules/trouble.ts';
import { es } from '../texts/es/troubles.ts';
import { pt } from '../texts/pt/troubles.ts';
import { type Language, useLanguage } from '../texts/texts.ts';

const WORDS: Readonly<Record<Language, Readonly<Record<TroubleCode, string>> | null>> = { en: null, es, pt };

/** By code; null: the service's own words are the page's, or the code is of a newer service. */
export function useTroubleWords(): (code: string) => string | null {
  const words = WORDS[useLanguage()];
  return (code) => words?.[code as TroubleCode] ?? null;
}
