/** A finding about a policy's document, and the codes of all of them (D51; docs/policy.md, "Findings"). Pure. */

/** Each code of a finding, and whether it refuses the document. */
export const FINDINGS = {
  gap: 'error',
  overlap: 'error',
  value_missing: 'error',
  value_twice: 'error',
  points_above_maximum: 'error',
  baseline_above_maximum: 'error',
  bands_out_of_order: 'error',
  currency_without_rate: 'error',
  not_a_day: 'error',
  limit_twice: 'error',
  reason_without_text: 'error',
  reason_missing: 'error',
  income_out_of_order: 'error',
  example_differs: 'error',
  against_direction: 'warning',
  no_direction: 'warning',
  constant_characteristic: 'warning',
  unreachable_attribute: 'warning',
  decision_unreachable: 'warning',
  single_cell_decision: 'warning',
  decision_without_reason: 'warning',
  contract_bands: 'warning',
  amount_limit_high: 'warning',
  approves_without_capacity: 'warning',
  rates_old: 'warning',
  rates_off: 'warning',
  installment_below_terms: 'warning',
} as const satisfies Readonly<Record<string, 'error' | 'warning'>>;

export type FindingCode = keyof typeof FINDINGS;

export interface Finding {
  readonly code: FindingCode;
  readonly severity: 'error' | 'warning';
  /** The path in the document, such as `characteristics.debt_age.attributes.2`. */
  readonly place: string;
  /** A sentence that names what is there and what should be. */
  readonly text: string;
  /** What is there, without a language: places, codes, amounts. A page names them in its own. */
  readonly facts: readonly string[];
}

/** A finding with the severity of its code. */
export function finding(code: FindingCode, place: string, text: string, ...facts: string[]): Finding {
  return { code, severity: FINDINGS[code], place, text, facts };
}
