/** The languages in which the service answers partners. */
export const LANGUAGES = ['en', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The same words in each language. */
export type Words = Readonly<Record<Language, string>>;

/** Words that `text` puts together in each language. */
export function inEach(text: (language: Language) => string): Words {
  return { en: text('en'), es: text('es') };
}

/** The language settings of a key. With `auto` the request decides; the others pin the key to a language. */
export const LANGUAGE_SETTINGS = ['auto', ...LANGUAGES] as const;
export type LanguageSetting = (typeof LANGUAGE_SETTINGS)[number];
