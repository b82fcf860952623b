/** The texts of the pages of operators and of health by language. They load with these pages, and not before. */
import { en, type ServiceTexts } from '../texts/en/service.ts';
import { es } from '../texts/es/service.ts';
import { pt } from '../texts/pt/service.ts';
import { type Language, useLanguage } from '../texts/texts.ts';

const TEXTS: Readonly<Record<Language, ServiceTexts>> = { en, es, pt };

export function useServiceTexts(): ServiceTexts {
  return TEXTS[useLanguage()];
}
