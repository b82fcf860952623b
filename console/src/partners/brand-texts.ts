/** The texts of the page of a brand by language, and a fault in words. They load with this page. */
import type { BrandLookReply } from '../../../src/subjects/partners/routes/brand.ts';
import { type BrandTexts, en } from '../texts/en/brand.ts';
import { es } from '../texts/es/brand.ts';
import { pt } from '../texts/pt/brand.ts';
import { type Language, useLanguage } from '../texts/texts.ts';

const TEXTS: Readonly<Record<Language, BrandTexts>> = { en, es, pt };

export function useBrandTexts(): BrandTexts {
  return TEXTS[useLanguage()];
}

export type Fault = BrandLookReply['faults'][number];

/** A fault in the language of the page; null: only English has words for it. */
export function faultWords({ code, about }: Fault, texts: BrandTexts): string | null {
  if (code === 'conversation') return null;
  const words = texts.faults[code];
  return typeof words === 'string' ? words : words(about ?? '');
}
