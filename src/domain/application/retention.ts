/**
 * How long applications of a final status are kept, read from JSON (docs/operations.md, "How long applications are
 * kept"). Pure.
 */

/** Days by status; null: for ever. Open applications are always kept. */
export interface Retention {
  readonly rejected: number | null;
  readonly disbursed: number | null;
}

const FINAL = ['rejected', 'disbursed'] as const;
const OPEN = ['in_review', 'pending_signature'];
const MAX_DAYS = 36_500;

/**
 * A retention from the JSON of a policy file, such as `{"rejected": {"days": 90}}`: a status that is left out is kept
 * for ever. Throws a `RangeError` that names the status and the rule.
 */
export function readRetention(value: unknown): Retention {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RangeError(
      'must hold an object such as {"rejected": {"days": 90}, "disbursed": {"days": 1825}}',
    );
  }
  const rules = value as Record<string, unknown>;
  for (const name of Object.keys(rules)) {
    if (OPEN.includes(name)) {
      throw new RangeError(
        `must not name ${name}: an open application is never deleted; reject or disburse it first`,
      );
    }
    if (!FINAL.some((status) => status === name)) {
      throw new RangeError(
        `names the unknown status ${JSON.stringify(name.slice(0, 40))}: ${FINAL.join(' and ')} are known`,
      );
    }
  }
  if (Object.keys(rules).length === 0) throw new RangeError(`must name ${FINAL.join(' or ')}`);
  return { rejected: daysOf(rules, 'rejected'), disbursed: daysOf(rules, 'disbursed') };
}

function daysOf(rules: Record<string, unknown>, status: string): number | null {
  const rule = rules[status];
  if (rule === undefined) return null;
  const { days, ...others } = Object(rule) as { days?: unknown };
  const isDays = typeof days === 'number' && Number.isInteger(days) && days >= 1 && days <= MAX_DAYS;
  if (!isDays || Object.keys(others).length > 0) {
    throw new RangeError(`must give ${status} as {"days": N}, N a whole number from 1 to ${MAX_DAYS}`);
  }
  return days;
}
