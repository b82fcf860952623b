/** A partner's API key and its settings, as a request sees them (contract, "Authentication"; D20, D24). Pure. */
import type { Country } from '../../ground/base/country-data.ts';
import type { LanguageSetting } from '../../ground/base/language.ts';
import type { Templates } from '../message/notify.ts';

declare const PARTNER: unique symbol;
declare const KEY: unique symbol;

/** The id of a partner: a whole number from 1 on. A key's id is one too, so the types keep the two apart. */
export type PartnerId = number & { readonly [PARTNER]: true };

/** The id of an API key: a whole number from 1 on. */
export type KeyId = number & { readonly [KEY]: true };

/** Makes an id from a checked number. */
export function toPartnerId(value: number): PartnerId {
  return value as PartnerId;
}

/** Makes an id from a checked number. */
export function toKeyId(value: number): KeyId {
  return value as KeyId;
}

export const ENVIRONMENTS = ['PRO', 'DEV'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** A key as a request sees it. */
export interface Credential {
  readonly keyId: KeyId;
  /** The environment that the key is issued for; null means both. */
  readonly environment: Environment | null;
  readonly language: LanguageSetting;
  /** The most applications in any 24 hours; null means no cap. */
  readonly dailyCap: number | null;
  readonly templates: Templates;
  /** The brand's setting (D50); absent: it has none. */
  readonly rejectedReasons?: boolean;
  readonly partner: { readonly id: PartnerId; readonly name: string; readonly country: Country };
}
