/** The texts about a partner's endpoint by language, and what became of an attempt, in words. */
import { type EndpointTexts, en } from '../texts/en/endpoint.ts';
import { es } from '../texts/es/endpoint.ts';
import { pt } from '../texts/pt/endpoint.ts';
import { type Language, useLanguage } from '../texts/texts.ts';

const TEXTS: Readonly<Record<Language, EndpointTexts>> = { en, es, pt };

export function useEndpointTexts(): EndpointTexts {
  return TEXTS[useLanguage()];
}

/** What the code of a failure means. An unknown one stays as it is, so that people can look it up. */
export function failureWords(failure: string, texts: EndpointTexts): string {
  const [, status] = /^status_(\d{3})$/.exec(failure) ?? [];
  if (status !== undefined) return status.startsWith('3') ? texts.redirected(status) : texts.answered(status);
  const known = texts.failures[failure as keyof EndpointTexts['failures']];
  if (known !== undefined) return known;
  if (failure.startsWith('HPE_')) return texts.notHttp(failure);
  return /^(ERR_SSL|ERR_TLS|CERT|UNABLE)_/.test(failure) ? texts.tls(failure) : failure;
}
