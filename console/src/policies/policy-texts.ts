/** The texts of the page of policies by language. They load with the page, and not before. */
import { AnswerError } from '../api/ask.ts';
import { failureText } from '../api/failure.ts';
import { en, type PolicyTexts } from '../texts/en/policies.ts';
import { es } from '../texts/es/policies.ts';
import { pt } from '../texts/pt/policies.ts';
import { type Language, type Texts, useLanguage, useTexts } from '../texts/texts.ts';

export type { PolicyTexts };

const TEXTS: Readonly<Record<Language, PolicyTexts>> = { en, es, pt };

export function usePolicyTexts(): PolicyTexts {
  return TEXTS[useLanguage()];
}

/** What a failure of a request about policies means. */
export function useFailure(): (error: unknown, known?: Readonly<Record<number, string>>) => string {
  const texts = useTexts();
  const policies = usePolicyTexts();
  return (error, known) => policyFailure(error, texts, policies, known);
}

function policyFailure(
  error: unknown,
  texts: Texts,
  policies: PolicyTexts,
  known: Readonly<Record<number, string>> = {},
): string {
  if (error instanceof AnswerError && error.status === 409) {
    const code = error.body?.code;
    const told = policies.conflicts[code as keyof PolicyTexts['conflicts']];
    if (told !== undefined) return told;
  }
  return failureText(error, texts, known);
}
