/** The texts of the page of the business by language. They load with the page, and not before. */
import { type BusinessTexts, en } from '../texts/en/business.ts';
import { es } from '../texts/es/business.ts';
import { pt } from '../texts/pt/business.ts';
import { type Language, useLanguage } from '../texts/texts.ts';

const TEXTS: Readonly<Record<Language, BusinessTexts>> = { en, es, pt };

export function useBusinessTexts(): BusinessTexts {
  return TEXTS[useLanguage()];
}
