/** How the page names parts of a policy in its language. */
import type {
  PolicyDocument,
  RatioAttribute,
  ValueAttribute,
} from '../../../src/domain/scorecard/document.ts';
import type { Criterion } from '../../../src/domain/scorecard/scorecard.ts';
import type { CardReply, FindingReply, WhoReply } from '../../../src/subjects/policies/routes/forms.ts';
import type { Format } from '../format/formats.ts';
import type { Language, Texts } from '../texts/texts.ts';
import type { PolicyTexts } from './policy-texts.ts';

/** What the names need. */
export interface Naming {
  readonly policies: PolicyTexts;
  readonly texts: Texts;
  readonly format: Format;
}

/** An attribute of a criterion. */
export function attributeName(
  criterion: Criterion,
  attribute: RatioAttribute | ValueAttribute,
  naming: Naming,
): string {
  if ('is' in attribute) return attribute.is.map((value) => valueName(criterion, value, naming)).join(', ');
  const { policies, format } = naming;
  const number = (text: string) => format.number(Number(text));
  const { from, to } = attribute;
  return to === undefined ? policies.ratioFrom(number(from)) : policies.ratioTo(number(from), number(to));
}

function valueName(criterion: Criterion, value: string, { policies, texts }: Naming): string {
  switch (criterion) {
    case 'debt_age':
      return texts.codes.debtAges[value as keyof Texts['codes']['debtAges']] ?? value;
    case 'num_debts':
      return policies.debts(Number(value));
    case 'prior_history':
      return value === 'yes' ? policies.history_yes : policies.history_no;
    default:
      return policies.gig;
  }
}

/** A limit with its value. */
export function limitName(limit: PolicyDocument['limits'][number], { policies }: Naming): string {
  return limit.usd === undefined ? policies.shareLimit : policies.usdLimit;
}

/** The value of a limit. */
export function limitValue(
  { usd, installments_of_income: share }: PolicyDocument['limits'][number],
  format: Format,
) {
  return usd === undefined ? format.number(Number(share)) : format.number(Number(usd));
}

const RATIO = /^payment_capacity (?:from ([\d.]+)|([\d.]+) to ([\d.]+))$/;
const CRITERION = /^(payment_capacity|channel|debt_age|num_debts|prior_history) (.+)$/;

/** The place of a difference, which the service names in English. */
export function placeName(place: string, naming: Naming): string {
  const { policies, texts } = naming;
  const ratio = RATIO.exec(place);
  if (ratio !== null) {
    const [, from, low, high] = ratio;
    const attribute = from === undefined ? { from: low!, to: high!, points: 0 } : { from, points: 0 };
    return `${texts.codes.criteria.payment_capacity}: ${attributeName('payment_capacity', attribute, naming)}`;
  }
  const [, criterion, rest = ''] = CRITERION.exec(place) ?? [];
  if (criterion !== undefined) {
    const name = rest === 'baseline' ? policies.baseline : valueName(criterion as Criterion, rest, naming);
    return `${texts.codes.criteria[criterion as Criterion]}: ${name}`;
  }
  const [first = '', ...others] = place.split(' ');
  const last = others.join(' ');
  if (place === 'approved from') return policies.approvedFrom;
  if (place === 'in_review from') return policies.reviewFrom;
  if (place === 'rates as of') return policies.ratesAsOf;
  if (place === 'valid from') return policies.validFrom;
  if (first === 'rate') return `${policies.rate} ${last}`;
  if (first === 'limit') return `${policies.limit}: ${last}`;
  if (first === 'income') return `${policies.incomeRule}: ${last}`;
  if (first === 'reason') return `${policies.why}: ${last}`;
  if (place.startsWith('reference installment'))
    return place.replace('reference installment', policies.terms);
  return place;
}

/** What a policy says at a place, which the service says in English. */
export function sayingText(
  text: string | null,
  reasons: CardReply['reasons'],
  language: Language,
  naming: Naming,
): string {
  const { policies, format } = naming;
  if (text === null) return policies.none;
  const words = (code: string | undefined) =>
    code === undefined ? '' : `: ${reasons.find((one) => one.code === code)?.[language] ?? code}`;
  const points = /^(\d+) points(?:, (\w+))?$/.exec(text);
  if (points !== null) return `${policies.pointsText(Number(points[1]))}${words(points[2])}`;
  const usd = /^up to ([\d.]+) USD, (\w+)$/.exec(text);
  if (usd !== null) return `${policies.usdLimit} ${format.number(Number(usd[1]))}${words(usd[2])}`;
  const share = /^installment up to ([\d.]+) of the income, (\w+)$/.exec(text);
  if (share !== null) return `${policies.shareLimit} ${format.number(Number(share[1]))}${words(share[2])}`;
  const terms = /^(\d+) months at ([\d.]+) a month$/.exec(text);
  if (terms !== null) return policies.termsOf(terms[1]!, format.percent(Number(terms[2])));
  return text;
}

/** Who did something. */
export function whoName({ way, login }: WhoReply, policies: PolicyTexts): string {
  if (way === 'operator') return login;
  return way === 'service' ? policies.byService : policies.byCommandLine(login);
}

/** Warnings in words, from their codes. */
export function warningNames(codes: readonly string[], policies: PolicyTexts): string {
  return codes.map((code) => policies.codes[code as keyof PolicyTexts['codes']] ?? code).join('; ');
}

/** What a finding says, in the page's language. */
export function findingText({ code, facts }: Pick<FindingReply, 'code' | 'facts'>, naming: Naming): string {
  const { policies, texts } = naming;
  const { criteria } = texts.codes;
  const named = facts.map(
    (fact) =>
      policies.decisions[fact as keyof PolicyTexts['decisions']] ??
      criteria[fact as keyof typeof criteria] ??
      placeName(fact, naming),
  );
  const title = policies.codes[code as keyof PolicyTexts['codes']] ?? code;
  return named.length === 0 ? title : `${title}: ${named.join('; ')}`;
}
