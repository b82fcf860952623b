/**
 * What a loan costs a month, as those read it who decide on an application (docs/operators.md, "One application").
 * Pure.
 */
import { COUNTRY_BLOCKS, PRICE_BLOCKS } from './offer.ts';

/** Why no installment can be told. */
export const UNPRICED = [...COUNTRY_BLOCKS, ...PRICE_BLOCKS, 'unreadable'] as const;
export type Unpriced = (typeof UNPRICED)[number];

/** The installment, an exact decimal of the application's currency, and how often it is paid; or why there is none. */
export type Installment =
  | { readonly amount: string; readonly months: number; readonly unpriced: null }
  | { readonly amount: null; readonly months: null; readonly unpriced: Unpriced };
