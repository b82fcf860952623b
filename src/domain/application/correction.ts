/**
 * Which fields of an application can be corrected, what a corrected value may be, and what to do instead where a field
 * cannot be (docs/subject.md, "Correct"). Pure.
 */
import { FIELDS, type FieldName, type Rule } from './fields.ts';
import { type Problem, readFieldValue } from './read-application.ts';

/** The sealed fields that can be corrected: from then on the service reads the corrected value alone. */
const PERSONAL_FIELDS = ['name', 'id_number', 'city'] as const satisfies readonly FieldName[];
type PersonalField = (typeof PERSONAL_FIELDS)[number];

/**
 * The facts of the score. A correction stands beside them: the stored ones stay as those that the decision was made
 * with, so that it can be explained and computed again.
 */
const DECIDED_FIELDS = [
  ...(['income', 'debt_amount', 'num_debts', 'debt_age', 'prior_history'] as const),
] as const satisfies readonly FieldName[];

export const CORRECTABLE_FIELDS = [...PERSONAL_FIELDS, ...DECIDED_FIELDS] as const;
export type CorrectableField = (typeof CORRECTABLE_FIELDS)[number];

/** A value before or after a correction. */
export type CorrectedValue = string | number | null;

/** Whether the field is sealed personal data, and no fact of the score. */
export function isPersonalField(field: CorrectableField): field is PersonalField {
  return (PERSONAL_FIELDS as readonly string[]).includes(field);
}

const SEND_AGAIN = 'reject the application, and let the partner send it again';
const PARTNERS_OWN = 'it is what the partner told about its own consent, and stays as evidence';

/** Why the other fields stay, and what to do instead. */
const NOT_CORRECTED: Readonly<Record<Exclude<FieldName, CorrectableField>, string>> = {
  phone: `messages go there, and it keeps duplicates away: ${SEND_AGAIN} with the right phone`,
  platform: `the partner tells it: ${SEND_AGAIN}`,
  currency: `both amounts are in it: ${SEND_AGAIN}`,
  messaging_optin: 'a consent is no fact to correct: "suppression add" stops messages to the phone',
  consent_at: PARTNERS_OWN,
  consent_text: PARTNERS_OWN,
  consent_channel: PARTNERS_OWN,
};

/** The field with this name, or why it cannot be corrected. */
export function correctableField(
  name: string,
): { readonly field: CorrectableField } | { readonly rule: string } {
  const field = CORRECTABLE_FIELDS.find((one) => one === name);
  if (field !== undefined) return { field };
  if (Object.hasOwn(NOT_CORRECTED, name))
    return { rule: `cannot be corrected: ${NOT_CORRECTED[name as keyof typeof NOT_CORRECTED]}` };
  return { rule: `must be one of ${CORRECTABLE_FIELDS.join(', ')}` };
}

/** The corrected value in its normal form, by the rules of a registration (D5 to D12), or the rule that it breaks. */
export function readCorrection(
  field: CorrectableField,
  text: string,
): { readonly value: string | number } | { readonly rule: string } {
  const read = readFieldValue(field, text);
  return 'value' in read ? read : { rule: ruleText(read.problem, ruleOf(field)) };
}

function ruleOf(field: CorrectableField): Rule {
  return FIELDS.find(({ name }) => name === field)!.rule;
}

function ruleText(problem: Problem, rule: Rule): string {
  if (problem === 'required') return 'must not be blank';
  if (rule.kind === 'choice') return `must be one of ${rule.values.join(', ')}`;
  if (rule.kind === 'text') return `must have at most ${rule.max} characters, without control characters`;
  return 'must be a number greater than 0, such as 3200000';
}
