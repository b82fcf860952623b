/**
 * The form of a policy's document (D51; docs/policy.md, "The document"): a scorecard with its limits, rates, bands,
 * reasons and examples. Amounts, ratios and rates are decimals in text, so that none is rounded on its way. Types and
 * the order of values alone; pure. `check-document.ts` checks a file of this form, `card.ts` makes it a function.
 */
import type { Currency } from '../../ground/base/country-data.ts';
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../application/fields.ts';
import type { Criterion, Decision, DecisionFacts, IncomeRules } from './scorecard.ts';

/** The terms of the reference installment (D27). */
export interface ReferenceInstallment {
  readonly months: number;
  /** A fraction: `0.02` is 2 % a month. */
  readonly monthly_rate: string;
}

interface Attribute {
  readonly points: number;
  /** The code of the reason that this attribute is; it is needed where the points are below the baseline. */
  readonly reason?: string;
}

/** An interval of the ratio of the income to the reference installment. */
export interface RatioAttribute extends Attribute {
  /** Inclusive. */
  readonly from: string;
  /** Exclusive; absent: there is no upper bound. */
  readonly to?: string;
}

/** Some of the values of a field. */
export interface ValueAttribute extends Attribute {
  readonly is: readonly string[];
}

/** A criterion of the contract, as this policy gives its points. */
export interface Characteristic<A> {
  /** `increasing`, the default: the points never fall as the applicant gets better. `none`: they may. */
  readonly direction?: 'increasing' | 'none';
  /** The points that a reason counts from; by default the most points that an attribute gives. */
  readonly baseline?: number;
  readonly attributes: readonly A[];
}

/** A limit rejects with any score. Just one of `usd` and `installments_of_income` is there. */
export interface Limit {
  readonly id: string;
  /** The highest amount in US dollars (D29). */
  readonly usd?: string;
  /** The largest share of the monthly income that the reference installment may take (D29). */
  readonly installments_of_income?: string;
  readonly reason: string;
}

/** The text of a reason, fit for a notice to the applicant. */
export interface ReasonWords {
  readonly en: string;
  readonly es: string;
  readonly pt: string;
}

/** An application and what the policy makes of it. Examples run when the policy is added. */
export interface Example {
  readonly application: DecisionFacts;
  readonly expect: {
    readonly score: number;
    readonly decision: Decision;
    readonly reasons?: readonly string[];
  };
}

/** A policy of the form `policy/2`. */
export interface PolicyDocument {
  readonly version: string;
  readonly title?: string;
  /** The first day of an activation, as `YYYY-MM-DD` in UTC; absent or null: any day. */
  readonly valid_from?: string | null;
  readonly reference_installment: ReferenceInstallment & {
    readonly by_currency?: Readonly<Partial<Record<Currency, ReferenceInstallment>>>;
  };
  readonly characteristics: { readonly payment_capacity: Characteristic<RatioAttribute> } & Readonly<
    Record<ValueCriterion, Characteristic<ValueAttribute>>
  >;
  readonly limits: readonly Limit[];
  /** Units of the currency for one US dollar, and the day of the rates. */
  readonly rates: Readonly<Record<Currency, string>> & { readonly as_of: string };
  /** The least scores. Below `in_review` an application is rejected. */
  readonly decision: { readonly approved: number; readonly in_review: number };
  /** When an observed income confirms the declared one (D44); ratios are decimals in text. */
  readonly income?: { readonly [K in keyof IncomeRules]: K extends `${string}_ratio` ? string : number };
  /** The texts of the policy's own reasons. The built-in reasons have theirs (`reasons.ts`). */
  readonly reasons?: Readonly<Record<string, ReasonWords>>;
  readonly examples?: readonly Example[];
}

/** The criteria whose attributes are values of a field. */
export type ValueCriterion = Exclude<Criterion, 'payment_capacity'>;

/** The values of each of these criteria, the best for a lender first. */
export const VALUES = {
  channel: ['gig'],
  debt_age: DEBT_AGES,
  num_debts: NUM_DEBTS,
  prior_history: PRIOR_HISTORIES,
} as const satisfies Readonly<Record<ValueCriterion, readonly string[]>>;

/** The most attributes of a characteristic, the most limits, and the most bytes of a document in JSON. */
export const MOST = { attributes: 32, limits: 8, bytes: 65_536 } as const;
