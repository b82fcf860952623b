/** The texts of the pages of partners by language. They load with these pages, and not before. */

import { AnswerError } from '../api/ask.ts';
import { failureText } from '../api/failure.ts';
import { en, type PartnerTexts } from '../texts/en/partners.ts';
import { es } from '../texts/es/partners.ts';
import { pt } from '../texts/pt/partners.ts';
import { type Language, useLanguage, useTexts } from '../texts/texts.ts';

const TEXTS: Readonly<Record<Language, PartnerTexts>> = { en, es, pt };

export function usePartnerTexts(): PartnerTexts {
  return TEXTS[useLanguage()];
}

/** What a failure of these pages means; `wrong`: what a refused value of the form has to be. */
export function useFailure(): (error: unknown, wrong?: string) => string {
  const texts = useTexts();
  const partners = usePartnerTexts();
  return (error, wrong) => {
    const code = error instanceof AnswerError ? error.body?.code : undefined;
    const known = partners.conflicts[code as keyof PartnerTexts['conflicts']];
    return (
      known ?? failureText(error, texts, { 404: partners.gone, ...(wrong !== undefined && { 400: wrong }) })
    );
  };
}
