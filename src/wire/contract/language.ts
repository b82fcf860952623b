/** Chooses the language of an answer (D24). */
import type { Language, LanguageSetting } from '../../ground/base/language.ts';

/** Spanish where the header prefers `es` over `en`, else English, also for a malformed header. */
export function languageOfHeader(acceptLanguage: string | undefined): Language {
  if (acceptLanguage === undefined) return 'en';
  return quality(acceptLanguage, 'es') > quality(acceptLanguage, 'en') ? 'es' : 'en';
}

/** The key's pinned language, else the requested language. */
export function chooseLanguage(setting: LanguageSetting, requested: Language): Language {
  return setting === 'auto' ? requested : setting;
}

/** The highest q-value of a language in the header, with or without a region. `*` stands for languages not named. */
function quality(header: string, language: Language): number {
  let named: number | undefined;
  let wildcard = 0;
  for (const item of header.toLowerCase().split(',')) {
    const [range = '', ...parameters] = item.split(';').map((part) => part.trim());
    const q = qualityValue(parameters);
    if (range === '*') wildcard = Math.max(wildcard, q);
    else if (range === language || range.startsWith(`${language}-`)) named = Math.max(named ?? 0, q);
  }
  return named ?? wildcard;
}

function qualityValue(parameters: readonly string[]): number {
  const parameter = parameters.find((candidate) => candidate.startsWith('q='));
  if (parameter === undefined) return 1;
  const text = parameter.slice(2).trim();
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}
