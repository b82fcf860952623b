/** Which language an answer is in (D24). */
import type { Language, LanguageSetting } from '../domain/language.ts';

/** Spanish when the header prefers `es` over `en`, else English; a malformed header prefers nothing. */
export function languageOfHeader(acceptLanguage: string | undefined): Language {
  if (acceptLanguage === undefined) return 'en';
  return quality(acceptLanguage, 'es') > quality(acceptLanguage, 'en') ? 'es' : 'en';
}

/** The language that a key's setting leads to: pinned wins over what the request asks for. */
export function chooseLanguage(setting: LanguageSetting, requested: Language): Language {
  return setting === 'auto' ? requested : setting;
}

/** The highest q-value that the header gives a language, by name or with a region; `*` covers the unnamed. */
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
