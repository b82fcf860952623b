/** Changes of a policy's document by a field of the page. Pure. */
import type { Limit, PolicyDocument } from '../../../src/domain/scorecard/document.ts';
import type { Criterion } from '../../../src/domain/scorecard/scorecard.ts';

/** The points of an attribute, by its index. */
export function withPoints(
  document: PolicyDocument,
  criterion: Criterion,
  index: number,
  points: number,
): PolicyDocument {
  const { characteristics } = document;
  const before = characteristics[criterion];
  const attributes = before.attributes.map((one, at) => (at === index ? { ...one, points } : one));
  return {
    ...document,
    characteristics: { ...characteristics, [criterion]: { ...before, attributes } },
  };
}

/** The least score of a decision. */
export function withBand(
  document: PolicyDocument,
  band: keyof PolicyDocument['decision'],
  score: number,
): PolicyDocument {
  return { ...document, decision: { ...document.decision, [band]: score } };
}

/** The value of a limit, by its index. */
export function withLimit(document: PolicyDocument, index: number, value: string): PolicyDocument {
  const limits = document.limits.map((limit, at): Limit => {
    if (at !== index) return limit;
    return limit.usd === undefined ? { ...limit, installments_of_income: value } : { ...limit, usd: value };
  });
  return { ...document, limits };
}

/** The document as a draft of its own: its examples are of the version that it came from. */
export function asDraft({ examples: _, ...document }: PolicyDocument, version: string): PolicyDocument {
  return { ...document, version };
}

/** A name for a draft of a version: `default-2` makes `default-3`, a name that is taken the next one. */
export function nextName(version: string, taken: readonly string[]): string {
  const [, stem = version, number = '1'] = /^(.*?)-?(\d{1,6})$/.exec(version) ?? [];
  const clean =
    stem
      .toLowerCase()
      .replace(/[^a-z0-9.-]+/g, '-')
      .replace(/^[^a-z0-9]+/, '') || 'policy';
  for (let next = Number(number) + 1; ; next += 1) {
    const name = `${clean.slice(0, 50)}-${next}`;
    if (!taken.includes(name)) return name;
  }
}

/** Whether a name may be that of a version. */
export const VERSION = /^[a-z0-9][a-z0-9.-]{0,63}$/;
