/** The texts of the portal by language; those of the sign-in and the frame are the console's. */

import { AnswerError } from '../../console/src/api/ask.ts';
import { failureText } from '../../console/src/api/failure.ts';
import { type Language, useLanguage, useTexts } from '../../console/src/texts/texts.ts';
import { en, type PortalTexts } from './texts-en.ts';
import { es } from './texts-es.ts';
import { pt } from './texts-pt.ts';

const TEXTS: Readonly<Record<Language, PortalTexts>> = { en, es, pt };

export function usePortalTexts(): PortalTexts {
  return TEXTS[useLanguage()];
}

/** What a refused act means, in the language of the page. */
export function useFailure(): (error: Error) => string {
  const texts = useTexts();
  const { refusals } = usePortalTexts();
  return (error) => {
    if (!(error instanceof AnswerError)) return failureText(error, texts);
    const code = String(error.body?.code ?? '');
    if (Object.hasOwn(refusals.codes, code)) return refusals.codes[code as keyof typeof refusals.codes];
    return failureText(error, texts, { 400: refusals.wrong, 404: refusals.gone });
  };
}
