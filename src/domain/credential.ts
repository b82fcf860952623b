/** A partner's API key and what it carries (contract, "Authentication"; D20, D24). */
import type { Country } from './country-data.ts';
import type { Templates } from './notify.ts';

export const ENVIRONMENTS = ['PRO', 'DEV'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export const LANGUAGES = ['en', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** What an operator may pin a key to; `auto` leaves the choice to the request. */
export const LANGUAGE_SETTINGS = ['auto', ...LANGUAGES] as const;
export type LanguageSetting = (typeof LANGUAGE_SETTINGS)[number];

export interface Credential {
  readonly keyId: number;
  /** The environment that the key is issued for; null means both. */
  readonly environment: Environment | null;
  readonly language: LanguageSetting;
  /** Applications in the rolling 24 hours; null means no cap. */
  readonly dailyCap: number | null;
  readonly templates: Templates;
  readonly partner: { readonly id: number; readonly name: string; readonly country: Country };
}
