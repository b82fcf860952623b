/** Reads an operator's scoring policy from its file and checks it before its first use (D27-D29, D44). */
import { readFile } from 'node:fs/promises';
import { Type } from 'typebox';
import Value from 'typebox/value';
import { DEBT_AGES, NUM_DEBTS, PRIOR_HISTORIES } from '../../../domain/application/fields.ts';
import { type Criterion, MAX_POINTS, type Policy } from '../../../domain/scorecard/scorecard.ts';
import { CURRENCIES } from '../../../ground/base/country-data.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { keysOf } from '../../../ground/base/keys-of.ts';
import { parseOperatorJson } from '../../../ground/base/operator-json.ts';
import { readableText } from '../../../ground/base/plain-text.ts';
import { ToldError } from '../../../ground/base/told-error.ts';

const strict = { additionalProperties: false };
const points = (criterion: Criterion) => Type.Integer({ minimum: 0, maximum: MAX_POINTS[criterion] });
const each = <T extends readonly string[]>(names: T, criterion: Criterion) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, points(criterion)])), strict);
const score = Type.Integer({ minimum: 0, maximum: 100 });

/** The longest name of a version, which operators and applicants read. */
const MOST_VERSION = 100;
const POLICY = Type.Object(
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

/** The policy of a file. Throws `ToldError` that names the file, the path in it and the rule. */
export async function loadPolicy(path: string): Promise<Policy> {
  let content: unknown;
  try {
    content = parseOperatorJson(await readFile(path, 'utf8'));
  } catch (error) {
    throw new ToldError(`POLICY_FILE ${path} cannot be read as JSON: ${describeError(error)}`);
  }
  return checkPolicy(content, path);
}

/** Checks a parsed policy; `source` names it in the error. Throws `ToldError`. */
export function checkPolicy(content: unknown, source: string): Policy {
  if (!Value.Check(POLICY, content)) {
    const [first] = Value.Errors(POLICY, content);
    const path =
      first?.instancePath === '' ? 'the policy' : first?.instancePath.slice(1).replaceAll('/', '.');
    throw new ToldError(`POLICY_FILE ${source}: ${path} ${first?.message}`);
  }
  const policy = content as unknown as Policy;
  if (readableText(policy.version, MOST_VERSION) !== policy.version)
    throw new ToldError(
      `POLICY_FILE ${source}: version must be one line without invisible characters or spaces around it`,
    );
  const ratios = policy.payment_capacity.map((band) => band.min_ratio);
  if (ratios.some((ratio, index) => index > 0 && ratio >= ratios[index - 1]!)) {
    throw new ToldError(`POLICY_FILE ${source}: payment_capacity must go from the highest min_ratio down`);
  }
  if (policy.decision.approved < policy.decision.in_review) {
    throw new ToldError(`POLICY_FILE ${source}: decision.approved must not be below decision.in_review`);
  }
  if (policy.income !== undefined && policy.income.rescore_ratio > policy.income.confirm_ratio) {
    throw new ToldError(`POLICY_FILE ${source}: income.rescore_ratio must not be above income.confirm_ratio`);
  }
  return policy;
}
