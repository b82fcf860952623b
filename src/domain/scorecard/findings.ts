/**
 * What a lender's second pair of eyes would say about a policy's document (D51; docs/policy.md, "Findings"). An error
 * refuses the document: it could not decide every application, or not as it says. A warning may be meant, and is
 * accepted by its code. The document has the right form already (`check-document.ts`). Pure.
 */
import { DAY_MS, isCalendarDay } from '../../ground/base/clock.ts';
import { CURRENCIES, type Currency, RATES_AS_OF } from '../../ground/base/country-data.ts';
import { keysOf } from '../../ground/base/keys-of.ts';
import { baselineOf, type Card, cardOf } from './card.ts';
import { constantsOf, isAmount } from './constants.ts';
import { type Characteristic, type PolicyDocument, VALUES, type ValueCriterion } from './document.ts';
import { FINDINGS, type Finding, type FindingCode, finding } from './finding.ts';
import { reasonWords } from './reasons.ts';
import { CRITERIA, type Criterion, DECISIONS, MAX_POINTS } from './scorecard.ts';

export { FINDINGS, type Finding, type FindingCode };

/** What a document is compared with. */
export interface Circumstances {
  /** Today, as `YYYY-MM-DD` in UTC. */
  readonly today: string;
  /** The real monthly payment of one unit of debt, by currency, where terms of loans are set (D45). */
  readonly realFactors: Readonly<Partial<Record<Currency, number>>>;
}

/** All findings: errors first, each kind in the order of `FINDINGS`. Where there are errors, no cell is looked at. */
export function findingsOf(document: PolicyDocument, circumstances: Circumstances): Finding[] {
  const errors = [...shapeErrors(document), ...referenceErrors(document)];
  const found = errors.length > 0 ? errors : soundFindings(document, circumstances);
  return inOrder(found);
}

function soundFindings(document: PolicyDocument, circumstances: Circumstances): Finding[] {
  const card = cardOf(document, constantsOf(document));
  return [
    ...exampleErrors(card),
    ...attributeWarnings(document),
    ...decisionWarnings(card),
    ...ratesWarnings(document, circumstances),
    ...termsWarnings(document, circumstances),
  ];
}

function inOrder(findings: readonly Finding[]): Finding[] {
  const order = Object.keys(FINDINGS);
  return findings.toSorted((a, b) => order.indexOf(a.code) - order.indexOf(b.code));
}

/** Attributes that do not divide all applications among them, or that give more points than the contract has. */
function shapeErrors({ characteristics }: PolicyDocument): Finding[] {
  const found: Finding[] = intervalErrors(characteristics.payment_capacity);
  for (const criterion of keysOf(VALUES)) found.push(...valueErrors(criterion, characteristics[criterion]));
  for (const criterion of CRITERIA) {
    const place = `characteristics.${criterion}`;
    const most = MAX_POINTS[criterion];
    const { attributes, baseline } = characteristics[criterion];
    for (const [index, { points }] of attributes.entries())
      if (points > most)
        found.push(
          finding(
            'points_above_maximum',
            `${place}.attributes.${index}.points`,
            `${points} points are more than the ${most} that the contract has for ${criterion}`,
            `${points} > ${most}`,
          ),
        );
    if (baseline !== undefined && baseline > most)
      found.push(
        finding(
          'baseline_above_maximum',
          `${place}.baseline`,
          `${baseline} is more than ${most} points`,
          `${baseline} > ${most}`,
        ),
      );
  }
  return found;
}

type Capacity = PolicyDocument['characteristics']['payment_capacity'];

function intervalErrors({ attributes }: Capacity): Finding[] {
  const place = (index: number) => `characteristics.payment_capacity.attributes.${index}`;
  const found: Finding[] = [];
  let end: string | undefined = '0';
  for (const [index, { from, to }] of attributes.entries()) {
    if (end === undefined || Number(from) < Number(end))
      found.push(
        finding(
          'overlap',
          place(index),
          `ratios from ${from} on have an attribute already`,
          `payment_capacity from ${from}`,
        ),
      );
    else if (Number(from) > Number(end))
      found.push(
        finding(
          'gap',
          place(index),
          `no attribute has the ratios from ${end} to ${from}`,
          `payment_capacity ${end} to ${from}`,
        ),
      );
    if (to !== undefined && Number(to) <= Number(from))
      found.push(
        finding(
          'overlap',
          place(index),
          `the interval ends at ${to}, before it begins at ${from}`,
          `${to} < ${from}`,
        ),
      );
    end = to;
  }
  if (end !== undefined)
    found.push(
      finding(
        'gap',
        place(attributes.length - 1),
        `no attribute has the ratios from ${end} on`,
        `payment_capacity from ${end}`,
      ),
    );
  return found;
}

function valueErrors(
  criterion: ValueCriterion,
  { attributes }: Characteristic<{ readonly is: readonly string[] }>,
): Finding[] {
  const place = `characteristics.${criterion}`;
  const written = attributes.flatMap(({ is }) => is);
  return VALUES[criterion].flatMap((value) => {
    const times = written.filter((one) => one === value).length;
    if (times === 0)
      return [
        finding('value_missing', place, `no attribute has the value ${value}`, `${criterion} ${value}`),
      ];
    return times > 1
      ? [
          finding(
            'value_twice',
            place,
            `${times} attributes have the value ${value}`,
            `${criterion} ${value}`,
          ),
        ]
      : [];
  });
}

/** Parts of a document that do not fit together. */
function referenceErrors(document: PolicyDocument): Finding[] {
  const { decision, rates, limits, income } = document;
  const found: Finding[] = [];
  if (decision.approved < decision.in_review)
    found.push(
      finding(
        'bands_out_of_order',
        'decision',
        `approved begins at ${decision.approved}, below in_review at ${decision.in_review}`,
        `${decision.approved} < ${decision.in_review}`,
      ),
    );
  for (const currency of keysOf(CURRENCIES))
    if (rates[currency] === undefined)
      found.push(finding('currency_without_rate', `rates.${currency}`, `${currency} has no rate`, currency));
  for (const [place, day] of [
    ['rates.as_of', rates.as_of],
    ['valid_from', document.valid_from],
  ] as const)
    if (day !== undefined && day !== null && !isCalendarDay(day))
      found.push(finding('not_a_day', place, `${day} is no day of the calendar`, day));
  const ids = limits.map(({ id }) => id);
  for (const [index, id] of ids.entries())
    if (ids.indexOf(id) !== index)
      found.push(finding('limit_twice', `limits.${index}.id`, `another limit has the id ${id}`, id));
  if (income !== undefined && Number(income.rescore_ratio) > Number(income.confirm_ratio))
    found.push(
      finding(
        'income_out_of_order',
        'income',
        `rescore_ratio ${income.rescore_ratio} is above confirm_ratio ${income.confirm_ratio}`,
        `${income.rescore_ratio} > ${income.confirm_ratio}`,
      ),
    );
  return [...found, ...reasonErrors(document)];
}

/** Reasons that are not there, or that nobody could read. */
function reasonErrors(document: PolicyDocument): Finding[] {
  const found: Finding[] = [];
  const used: [string, string][] = document.limits.map(({ reason }, index) => [
    `limits.${index}.reason`,
    reason,
  ]);
  for (const criterion of CRITERIA) {
    const characteristic = document.characteristics[criterion];
    for (const [index, { points, reason }] of characteristic.attributes.entries()) {
      const place = `characteristics.${criterion}.attributes.${index}`;
      if (reason !== undefined) used.push([`${place}.reason`, reason]);
      // The channel is never a reason.
      else if (criterion !== 'channel' && points < baselineOf(characteristic))
        found.push(
          finding(
            'reason_missing',
            place,
            `${points} points are below the baseline of ${baselineOf(characteristic)}, and no reason says why`,
            `${points} < ${baselineOf(characteristic)}`,
          ),
        );
    }
  }
  for (const [place, code] of used)
    if (reasonWords(code, document.reasons) === null)
      found.push(finding('reason_without_text', place, `reasons has no text for ${code}`, code));
  return found;
}

function exampleErrors(card: Card): Finding[] {
  return (card.document.examples ?? []).flatMap(({ application, expect }, index) => {
    const actual = card.decide(application);
    const says = (it: { score: number; decision: string; reasons?: readonly string[] }) =>
      `${it.score} ${it.decision}${expect.reasons === undefined ? '' : ` (${it.reasons?.join(', ') || 'no reasons'})`}`;
    return says(expect) === says(actual)
      ? []
      : [
          finding(
            'example_differs',
            `examples.${index}`,
            `the example expects ${says(expect)}, the card gives ${says(actual)}`,
            `${index + 1}`,
          ),
        ];
  });
}

/** The points of a characteristic, from the applicants that are the worst for a lender to the best. */
function pointsUp(criterion: Criterion, { characteristics }: PolicyDocument): number[] {
  if (criterion === 'payment_capacity')
    return characteristics.payment_capacity.attributes.map(({ points }) => points);
  const { attributes } = characteristics[criterion];
  return VALUES[criterion]
    .toReversed()
    .map((value) => attributes.find(({ is }) => is.includes(value))!.points);
}

function attributeWarnings(document: PolicyDocument): Finding[] {
  const found: Finding[] = [];
  for (const criterion of CRITERIA) {
    const place = `characteristics.${criterion}`;
    const { direction = 'increasing' } = document.characteristics[criterion];
    const points = pointsUp(criterion, document);
    const falls = points.findIndex((value, index) => index > 0 && value < points[index - 1]!);
    if (falls !== -1) {
      const text = `a better applicant gets ${points[falls]} points where a worse one gets ${points[falls - 1]}`;
      const code = direction === 'none' ? 'no_direction' : 'against_direction';
      found.push(finding(code, place, text, criterion, `${points[falls]} < ${points[falls - 1]}`));
    }
    if (criterion !== 'channel' && points.every((value) => value === points[0]))
      found.push(
        finding(
          'constant_characteristic',
          place,
          `everybody gets ${points[0]} points for ${criterion}`,
          criterion,
          `${points[0]}`,
        ),
      );
  }
  return [...found, ...unreachable(document)];
}

/** Attributes of the payment capacity whose applications a limit rejects in any case. */
function unreachable({ characteristics, limits }: PolicyDocument): Finding[] {
  const shares = limits.flatMap((limit) => (isAmount(limit) ? [] : [Number(limit.installments_of_income)]));
  const least = Math.min(...shares);
  return characteristics.payment_capacity.attributes.flatMap(({ from, to }, index) =>
    to !== undefined && Number(to) * least <= 1
      ? [
          finding(
            'unreachable_attribute',
            `characteristics.payment_capacity.attributes.${index}`,
            `a limit rejects everybody with a ratio from ${from} to ${to}, so the points never count`,
            `payment_capacity ${from} to ${to}`,
          ),
        ]
      : [],
  );
}

/** The contract's bands (contract, "Outcome at creation"). */
const CONTRACT_BANDS = { approved: 70, in_review: 30 };
/** D29's amount limit, and how many times of it a lender hardly means. */
const CONTRACT_AMOUNT_USD = 25_000;
const HIGH_TIMES = 10;

function decisionWarnings(card: Card): Finding[] {
  const { document, cells } = card;
  const { decision, limits } = document;
  const found: Finding[] = [];
  for (const outcome of DECISIONS) {
    const reached = cells.filter(({ byScore }) => byScore.decision === outcome);
    const [first] = reached;
    if (first === undefined)
      found.push(finding('decision_unreachable', 'decision', `no score leads to ${outcome}`, outcome));
    else if (reached.length === 1)
      found.push(
        finding(
          'single_cell_decision',
          'decision',
          `of ${cells.length} kinds of applications one alone is ${outcome} by its score: ${cellFacts(document, first).join(', ')}`,
          outcome,
          ...cellFacts(document, first),
        ),
      );
  }
  const mute = cells.find(({ byScore }) => byScore.decision !== 'approved' && byScore.reasons.length === 0);
  if (mute !== undefined)
    found.push(
      finding(
        'decision_without_reason',
        'characteristics',
        `${cellFacts(document, mute).join(', ')} is ${mute.byScore.decision}, and no reason can be told`,
        mute.byScore.decision,
        ...cellFacts(document, mute),
      ),
    );
  if (decision.approved !== CONTRACT_BANDS.approved || decision.in_review !== CONTRACT_BANDS.in_review)
    found.push(
      finding(
        'contract_bands',
        'decision',
        `the bands are ${decision.approved} and ${decision.in_review}, the contract's 70 and 30`,
        `${decision.approved}, ${decision.in_review} (70, 30)`,
      ),
    );
  const amounts = limits.filter(isAmount).map(({ usd }) => Number(usd));
  if (!amounts.some((usd) => usd <= CONTRACT_AMOUNT_USD * HIGH_TIMES))
    found.push(
      finding(
        'amount_limit_high',
        'limits',
        amounts.length === 0
          ? 'no limit of the amount'
          : `the amount limit is ${Math.min(...amounts)} USD, the contract's 25,000`,
        ...(amounts.length === 0 ? [] : [`USD ${Math.min(...amounts)} (${CONTRACT_AMOUNT_USD})`]),
      ),
    );
  return [...found, ...withoutCapacity(card)];
}

/** Approvals of whom the reference installment takes more than the whole income. */
function withoutCapacity({ cells, document }: Card): Finding[] {
  const isLimited = document.limits.some(
    (limit) => !isAmount(limit) && Number(limit.installments_of_income) <= 1,
  );
  const { attributes } = document.characteristics.payment_capacity;
  const approved = cells.find(
    ({ capacity, byScore }) => byScore.decision === 'approved' && Number(attributes[capacity]!.from) < 1,
  );
  if (isLimited || approved === undefined) return [];
  return [
    finding(
      'approves_without_capacity',
      'limits',
      `${cellFacts(document, approved).join(', ')} is approved also where the installment is above the whole income`,
      ...cellFacts(document, approved),
    ),
  ];
}

/** A kind of applications: an attribute of each criterion that tells applicants apart. */
function cellFacts({ characteristics }: PolicyDocument, cell: Card['cells'][number]): string[] {
  const { from, to } = characteristics.payment_capacity.attributes[cell.capacity]!;
  const ratio = to === undefined ? `from ${from}` : `${from} to ${to}`;
  return [
    ...[`payment_capacity ${ratio}`, `debt_age ${cell.debtAge}`, `num_debts ${cell.numDebts}`],
    `prior_history ${cell.priorHistory}`,
  ];
}

const OLD_AFTER_DAYS = 90;
const OFF_TIMES = 3;

function ratesWarnings({ rates }: PolicyDocument, { today }: Circumstances): Finding[] {
  const days = (Date.parse(today) - Date.parse(rates.as_of)) / DAY_MS;
  const found: Finding[] =
    days > OLD_AFTER_DAYS
      ? [
          finding(
            'rates_old',
            'rates.as_of',
            `the rates are ${days} days old, of ${rates.as_of}`,
            rates.as_of,
          ),
        ]
      : [];
  const off = keysOf(CURRENCIES).filter((currency) => {
    const [rate, known] = [Number(rates[currency]), CURRENCIES[currency]];
    return rate > known * OFF_TIMES || rate < known / OFF_TIMES;
  });
  const [first] = off;
  if (first === undefined) return found;
  const named = off.map((currency) => `${currency} ${rates[currency]} (${CURRENCIES[currency]})`);
  const shown = named.slice(0, MOST_NAMED);
  const others = named.length > shown.length ? ` and ${named.length - shown.length} more` : '';
  found.push(
    finding(
      'rates_off',
      `rates.${first}`,
      `more than three times off the rates of ${RATES_AS_OF}: ${shown.join(', ')}${others}`,
      ...shown,
    ),
  );
  return found;
}

/** Installments are rounded to the minor unit: a thousandth more is no other price. */
const ROUNDING = 1.001;
/** The currencies that a finding names. */
const MOST_NAMED = 5;

/** Currencies in which the real loan costs more a month than the reference installment says: the dearest ones first. */
function termsWarnings(document: PolicyDocument, { realFactors }: Circumstances): Finding[] {
  const { factor, factors } = constantsOf(document);
  const dearer = keysOf(CURRENCIES)
    .map((currency) => {
      const reference = Number(factors[currency] ?? factor);
      return { currency, reference, real: realFactors[currency] ?? 0 };
    })
    .filter(({ reference, real }) => real > reference * ROUNDING)
    .toSorted((a, b) => b.real / b.reference - a.real / a.reference);
  const [worst] = dearer;
  if (worst === undefined) return [];
  const named = dearer.slice(0, MOST_NAMED).map(({ currency }) => currency);
  const others = dearer.length > named.length ? ` and ${dearer.length - named.length} more` : '';
  return [
    finding(
      'installment_below_terms',
      'reference_installment',
      `the terms of loans take more of the debt a month than the reference installment in ${named.join(', ')}${others}: in ${worst.currency} ${percent(worst.real)}, and not ${percent(worst.reference)}`,
      ...dearer
        .slice(0, MOST_NAMED)
        .map(({ currency, real, reference }) => `${currency} ${percent(real)} (${percent(reference)})`),
    ),
  ];
}

/** Such as `3.92 %`. */
function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(2)} %`;
}
