/**
 * Checks that a parsed file has the form of a policy: `policy/2`, or the first form, which is read for ever (D27-D29,
 * D44, D51; docs/policy.md, "The document"). Whether a policy of the right form makes sense is the matter of
 * `domain/scorecard/findings.ts`. Pure.
 */
import { Type } from 'typebox';
import Value from 'typebox/value';
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../../../domain/application/fields.ts';
import type { PolicyContent } from '../../../domain/scorecard/content.ts';
import { MOST, type PolicyDocument, VALUES } from '../../../domain/scorecard/document.ts';
import type { Form1 } from '../../../domain/scorecard/form-1.ts';
import { REASON_CODE } from '../../../domain/scorecard/reasons.ts';
import { type Criterion, DECISIONS, MAX_POINTS } from '../../../domain/scorecard/scorecard.ts';
import { CURRENCIES } from '../../../ground/base/country-data.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { keysOf } from '../../../ground/base/keys-of.ts';
import { parseOperatorJson } from '../../../ground/base/operator-json.ts';
import { readableText } from '../../../ground/base/plain-text.ts';
import { ToldError } from '../../../ground/base/told-error.ts';

// The first form.

const strict = { additionalProperties: false };
const points = (criterion: Criterion) => Type.Integer({ minimum: 0, maximum: MAX_POINTS[criterion] });
const each = <T extends readonly string[]>(names: T, criterion: Criterion) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, points(criterion)])), strict);
const score = Type.Integer({ minimum: 0, maximum: 100 });

/** The longest name of a version, which operators and applicants read. */
const MOST_VERSION = 100;
const FORM_1 = Type.Object(
  {
    version: Type.String({ minLength: 1, maxLength: MOST_VERSION }),
    reference_installment: Type.Object(
      {
        months: Type.Integer({ minimum: 1, maximum: 600 }),
        monthly_rate: Type.Number({ minimum: 0, maximum: 1 }),
      },
      strict,
    ),
    payment_capacity: Type.Array(
      Type.Object(
        { min_ratio: Type.Number({ exclusiveMinimum: 0 }), points: points('payment_capacity') },
        strict,
      ),
    ),
    channel: Type.Object({ gig: points('channel') }, strict),
    debt_age: each(DEBT_AGES, 'debt_age'),
    num_debts: each(NUM_DEBTS, 'num_debts'),
    prior_history: each(PRIOR_HISTORIES, 'prior_history'),
    decision: Type.Object({ approved: score, in_review: score }, strict),
    amount_limit: Type.Object(
      {
        usd: Type.Number({ exclusiveMinimum: 0 }),
        max_installment_share: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
        rates_as_of: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
        rates: Type.Object(
          Object.fromEntries(keysOf(CURRENCIES).map((code) => [code, Type.Number({ exclusiveMinimum: 0 })])),
          strict,
        ),
      },
      strict,
    ),
    income: Type.Optional(
      Type.Object(
        {
          months: Type.Integer({ minimum: 1, maximum: 12 }),
          newest_within_months: Type.Integer({ minimum: 1, maximum: 12 }),
          confirm_ratio: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
          rescore_ratio: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
        },
        strict,
      ),
    ),
  },
  strict,
);

// The form `policy/2`.

const DECIMAL = '\\d{1,15}(\\.\\d{1,15})?';
const decimal = Type.String({ pattern: `^${DECIMAL}$` });
const aboveZero = Type.String({ pattern: `^(?=.*[1-9])${DECIMAL}$` });
const upToOne = Type.String({ pattern: '^(0(\\.\\d{1,15})?|1(\\.0{1,15})?)$' });
const day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });
const reason = Type.String({ pattern: REASON_CODE.source });
const currencies = <T extends Type.TSchema>(of: T) =>
  Object.fromEntries(keysOf(CURRENCIES).map((code) => [code, Type.Optional(of)]));
/** The contract's maximum is a finding, which says more. */
const anyPoints = Type.Integer({ minimum: 0, maximum: 100 });
const terms = {
  months: Type.Integer({ minimum: 1, maximum: 600 }),
  monthly_rate: upToOne,
};
const characteristic = (attribute: Record<string, Type.TSchema>) =>
  Type.Object(
    {
      direction: Type.Optional(Type.Enum(['increasing', 'none'])),
      baseline: Type.Optional(anyPoints),
      attributes: Type.Array(
        Type.Object({ ...attribute, points: anyPoints, reason: Type.Optional(reason) }, strict),
        { minItems: 1, maxItems: MOST.attributes },
      ),
    },
    strict,
  );
const values = (criterion: keyof typeof VALUES) => {
  const names: readonly string[] = VALUES[criterion];
  return characteristic({ is: Type.Array(Type.Enum([...names]), { minItems: 1, maxItems: 4 }) });
};
const amount = Type.Number({ exclusiveMinimum: 0 });
const MOST_TEXT = 200;
const MOST_REASON_TEXTS = 64;
const MOST_EXAMPLES = 100;

const FORM_2 = Type.Object(
  {
    version: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{0,63}$' }),
    title: Type.Optional(Type.String({ maxLength: MOST_TEXT })),
    valid_from: Type.Optional(Type.Union([day, Type.Null()])),
    reference_installment: Type.Object(
      { ...terms, by_currency: Type.Optional(Type.Object(currencies(Type.Object(terms, strict)), strict)) },
      strict,
    ),
    characteristics: Type.Object(
      {
        payment_capacity: characteristic({ from: decimal, to: Type.Optional(decimal) }),
        channel: values('channel'),
        debt_age: values('debt_age'),
        num_debts: values('num_debts'),
        prior_history: values('prior_history'),
      },
      strict,
    ),
    limits: Type.Array(
      Type.Object(
        {
          id: Type.String({ pattern: REASON_CODE.source }),
          usd: Type.Optional(aboveZero),
          installments_of_income: Type.Optional(aboveZero),
          reason,
        },
        strict,
      ),
      { maxItems: MOST.limits },
    ),
    rates: Type.Object({ as_of: day, ...currencies(aboveZero) }, strict),
    decision: Type.Object({ approved: score, in_review: score }, strict),
    income: Type.Optional(
      Type.Object(
        {
          months: Type.Integer({ minimum: 1, maximum: 12 }),
          newest_within_months: Type.Integer({ minimum: 1, maximum: 12 }),
          confirm_ratio: upToOne,
          rescore_ratio: upToOne,
        },
        strict,
      ),
    ),
    reasons: Type.Optional(
      Type.Record(
        Type.String({ pattern: REASON_CODE.source }),
        Type.Object({ en: Type.String(), es: Type.String(), pt: Type.String() }, strict),
        { maxProperties: MOST_REASON_TEXTS },
      ),
    ),
    examples: Type.Optional(
      Type.Array(
        Type.Object(
          {
            application: Type.Object(
              {
                income: amount,
                debt_amount: amount,
                currency: Type.Enum(keysOf(CURRENCIES)),
                num_debts: Type.Enum([...NUM_DEBTS]),
                debt_age: Type.Enum([...DEBT_AGES]),
                prior_history: Type.Enum([...PRIOR_HISTORIES]),
              },
              strict,
            ),
            expect: Type.Object(
              {
                score,
                decision: Type.Enum([...DECISIONS]),
                reasons: Type.Optional(Type.Array(reason, { maxItems: 4 })),
              },
              strict,
            ),
          },
          strict,
        ),
        { maxItems: MOST_EXAMPLES },
      ),
    ),
  },
  strict,
);

/**
 * The policy in the text of a file; `source` names it in errors. Throws `ToldError` with the place in the file and the
 * rule.
 */
export function parsePolicy(text: string, source: string): PolicyContent {
  if (Buffer.byteLength(text) > MOST.bytes)
    throw new ToldError(`${source} is larger than a policy may be: ${MOST.bytes} bytes`);
  let content: unknown;
  try {
    content = parseOperatorJson(text);
  } catch (error) {
    throw new ToldError(`${source} cannot be read as JSON: ${describeError(error)}`);
  }
  return checkPolicy(content, source);
}

/** Checks a parsed policy; `source` names it in the error. Throws `ToldError` with the place and the rule. */
export function checkPolicy(content: unknown, source: string): PolicyContent {
  const isForm1 =
    typeof content === 'object' &&
    content !== null &&
    !('characteristics' in content) &&
    ('payment_capacity' in content || 'amount_limit' in content);
  const form = isForm1 ? FORM_1 : FORM_2;
  if (!Value.Check(form, content)) {
    const [first] = Value.Errors(form, content);
    const path =
      first?.instancePath === '' ? 'the policy' : first?.instancePath.slice(1).replaceAll('/', '.');
    throw new ToldError(`${source}: ${path} ${first?.message}`);
  }
  const fault = isForm1
    ? faultOfForm1(content as unknown as Form1)
    : faultOfDocument(content as unknown as PolicyDocument);
  if (fault !== null) throw new ToldError(`${source}: ${fault}`);
  return content as unknown as PolicyContent;
}

function faultOfForm1(policy: Form1): string | null {
  if (readableText(policy.version, MOST_VERSION) !== policy.version)
    return 'version must be one line without invisible characters or spaces around it';
  const ratios = policy.payment_capacity.map((band) => band.min_ratio);
  if (ratios.some((ratio, index) => index > 0 && ratio >= ratios[index - 1]!))
    return 'payment_capacity must go from the highest min_ratio down';
  if (policy.decision.approved < policy.decision.in_review)
    return 'decision.approved must not be below decision.in_review';
  if (policy.income !== undefined && policy.income.rescore_ratio > policy.income.confirm_ratio)
    return 'income.rescore_ratio must not be above income.confirm_ratio';
  return null;
}

function faultOfDocument({ title, limits, reasons = {} }: PolicyDocument): string | null {
  const texts = Object.entries(reasons).flatMap(([code, words]) =>
    Object.entries(words).map(
      ([language, text]) => [`reasons.${code}.${language}`, text] as [string, string],
    ),
  );
  if (title !== undefined) texts.push(['title', title]);
  for (const [place, text] of texts)
    if (readableText(text, MOST_TEXT) !== text)
      return `${place} must be one line of 1 to ${MOST_TEXT} characters without invisible ones or spaces around it`;
  const wrong = limits.findIndex(
    ({ usd, installments_of_income: share }) => (usd === undefined) === (share === undefined),
  );
  return wrong === -1 ? null : `limits.${wrong} must have either usd or installments_of_income`;
}
