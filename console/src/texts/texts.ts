/** The texts of the page by language. */
import { createContext, useContext } from 'react';
import { en, type Texts } from './en/index.ts';
import { es } from './es/index.ts';
import { pt } from './pt/index.ts';

export type { Texts };

export const LANGUAGES = { en: 'English', es: 'Español', pt: 'Português' } as const;
export type Language = keyof typeof LANGUAGES;

const TEXTS: Readonly<Record<Language, Texts>> = { en, es, pt };
const STORED = 'language';

export const LanguageContext = createContext<Language>('en');

export function isLanguage(text: string | null): text is Language {
  return text !== null && text in LANGUAGES;
}

/** The language that was chosen in this browser, else the first of the browser's that there is, else English. */
export function firstLanguage(): Language {
  const stored = localStorage.getItem(STORED);
  if (isLanguage(stored)) return stored;
  return navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? 'en';
}

export function storeLanguage(language: Language): void {
  localStorage.setItem(STORED, language);
}

export function useLanguage(): Language {
  return useContext(LanguageContext);
}

export function useTexts(): Texts {
  return TEXTS[useLanguage()];
}
