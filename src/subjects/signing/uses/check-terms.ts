/** Checks the operator's terms before their first use (D45; docs/signing.md, "Terms" has the form). Pure. */
import { Type } from 'typebox';
import Value from 'typebox/value';
import { LONGEST_VALUE } from '../../../domain/conversation/flow.ts';
import {
  CONTRACT_LANGUAGES,
  CONTRACT_PLACEHOLDERS,
  type ContractPlaceholder,
  type ContractTemplate,
  hasLooseBrace,
  placeholdersOf,
  untoldOf,
} from '../../../domain/loan/contract-template.ts';
import { rulesOf } from '../../../domain/loan/country-rules.ts';
import { lateFault } from '../../../domain/loan/late-interest.ts';
import { firstNotOffered, type NotOffered } from '../../../domain/loan/price-range.ts';
import type { CountryTerms, Terms } from '../../../domain/loan/terms.ts';
import { readDecimal } from '../../../domain/money/decimal.ts';
import { type Country, CURRENCIES, isCountry } from '../../../ground/base/country-data.ts';
import { keysOf } from '../../../ground/base/keys-of.ts';
import { isZone } from '../../../ground/base/local-time.ts';
import { hasHidden, isPlainText } from '../../../ground/base/plain-text.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import { DEFAULT_CONTRACTS } from '../rules/default-contracts.ts';

const strict = { additionalProperties: false };
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });
/** A decimal in text, because JSON's numbers are rounded. */
const amount = Type.String({ pattern: '^\\d{1,15}(\\.\\d{1,3})?$' });
const percent = Type.String({ pattern: '^\\d{1,4}(\\.\\d{1,4})?$' });
const either = <T extends readonly string[]>(words: T) => Type.Union(words.map((word) => Type.Literal(word)));

const MONTHS = Type.Integer({ minimum: 1, maximum: 120 });

const COUNTRY = Type.Object(
  {
    lender: Type.Object({ name: text(120), number: text(64), address: Type.Optional(text(200)) }, strict),
    currency: either(keysOf(CURRENCIES)),
    zone: text(64),
    monthly_rate: percent,
    months: MONTHS,
    term: Type.Optional(Type.Object({ minimum: MONTHS, maximum: MONTHS }, strict)),
    insurance: Type.Optional(Type.Object({ name: text(80), percent }, strict)),
    fees: Type.Array(
      Type.Object(
        {
          name: text(80),
          when: either(['deducted', 'financed', 'monthly']),
          amount: Type.Optional(amount),
          percent: Type.Optional(percent),
          kind: Type.Optional(Type.Literal('insurance')),
        },
        strict,
      ),
      { maxItems: 10 },
    ),
    minimum: amount,
    maximum: amount,
    legal_maximum: Type.Union([
      Type.Literal('none'),
      Type.Record(Type.String({ pattern: '^\\d{4}-(0[1-9]|1[0-2])$' }), percent, strict),
    ]),
    withdrawal: Type.Union([
      Type.Literal('none'),
      Type.Object(
        {
          days: Type.Integer({ minimum: 1, maximum: 60 }),
          kind: either(['business', 'calendar']),
        },
        strict,
      ),
    ]),
    offer_days: Type.Integer({ minimum: 1, maximum: 30 }),
    contract: text(64),
    payment: Type.Optional(text(500)),
    late_rate: Type.Optional(Type.Union([Type.Literal('none'), percent])),
    acceleration: Type.Optional(
      Type.Union([
        Type.Object({ days: Type.Integer({ minimum: 1, maximum: 365 }) }, strict),
        Type.Object({ installments: Type.Integer({ minimum: 1, maximum: 12 }) }, strict),
      ]),
    ),
    bureaus: Type.Optional(text(LONGEST_VALUE.bureaus)),
    complaints: Type.Optional(text(500)),
    supervisor: Type.Optional(text(200)),
    privacy_notice: Type.Optional(text(LONGEST_VALUE.privacy_notice)),
    data_rights: Type.Optional(text(LONGEST_VALUE.data_rights)),
  },
  strict,
);

const TEMPLATE = Type.Object(
  {
    version: text(64),
    language: either(CONTRACT_LANGUAGES),
    title: text(200),
    sections: Type.Array(
      Type.Object(
        {
          title: text(200),
          paragraphs: Type.Array(text(10_000), { maxItems: 100 }),
          schedule: Type.Optional(Type.Boolean()),
        },
        strict,
      ),
      { minItems: 1, maxItems: 100 },
    ),
  },
  strict,
);

const TERMS = Type.Object(
  {
    version: text(64),
    countries: Type.Record(Type.String(), COUNTRY),
    contracts: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z0-9-]{1,64}$' }), TEMPLATE, strict)),
  },
  strict,
);

/** Terms that name a loan which they cannot offer. */
export class NotOfferedError extends ToldError {
  readonly notOffered: NotOffered;

  constructor(source: string, notOffered: NotOffered, { currency }: CountryTerms) {
    const { country, amount, months, reason, least } = notOffered;
    const instead =
      least === null
        ? 'no amount can be'
        : `over ${months} months ${least} ${currency} is the least that can be`;
    super(
      `TERMS_FILE ${source}: countries.${country} cannot offer ${amount} ${currency} over ${months} months (${reason}); ${instead}`,
    );
    this.notOffered = notOffered;
  }
}

/** The terms of a parsed file with the built-in templates; `source` names the file. Throws `ToldError`. */
export function checkTerms(content: unknown, source: string): Terms {
  const fail = (place: string, rule: string): never => {
    throw new ToldError(`TERMS_FILE ${source}: ${place} ${rule}`);
  };
  if (!Value.Check(TERMS, content)) {
    const [first] = Value.Errors(TERMS, content);
    const place = first?.instancePath.slice(1).replaceAll('/', '.') ?? '';
    const rule = first?.message ?? 'has another form';
    return fail(place === '' ? 'the file' : place, rule === 'schema is false' ? 'is unknown here' : rule);
  }
  const { version, countries, contracts } = content as unknown as Terms;
  const terms: Terms = {
    version,
    countries,
    contracts: { ...DEFAULT_CONTRACTS, ...contracts },
    demonstration: false,
  };
  for (const [name, template] of Object.entries(contracts ?? {})) {
    const users = Object.entries(countries).filter(([, { contract }]) => contract === name);
    const fault = templateFault(
      template,
      users.flatMap(([country]) => (isCountry(country) ? rulesOf(country).tells : [])),
    );
    if (fault !== null) fail(`contracts.${name}`, fault);
  }
  for (const [country, ofCountry] of Object.entries(countries)) {
    if (!isCountry(country)) return fail(`countries.${country}`, 'is no country code (ISO 3166)');
    for (const [place, rule] of countryFaults(country, ofCountry, terms))
      fail(`countries.${country}.${place}`, rule);
    const missing = firstNotOffered(country, ofCountry);
    if (missing !== null) throw new NotOfferedError(source, missing, ofCountry);
  }
  return terms;
}

function templateFault(
  template: ContractTemplate,
  ofCountries: readonly ContractPlaceholder[],
): string | null {
  const found = placeholdersOf(template);
  const known: readonly string[] = CONTRACT_PLACEHOLDERS;
  const unknown = [...found].find((word) => !known.includes(word));
  if (unknown !== undefined)
    return `has the unknown placeholder {${unknown}}; there are: ${known.join(', ')}`;
  const untold = untoldOf(template, ofCountries);
  if (untold.length > 0) return `lacks ${untold.join(', ')}, which every contract tells`;
  const texts = [
    template.title,
    ...template.sections.flatMap(({ title, paragraphs }) => [title, ...paragraphs]),
  ];
  if (texts.some((one) => hasLooseBrace(one))) return 'has a brace without its pair';
  if (texts.some((one) => !isPlainText(one) || hasHidden(one))) return 'has control or invisible characters';
  return null;
}

type Fault = readonly [place: string, rule: string];

/** What people read as the operator wrote it. */
const TOLD = [
  ...(['payment', 'bureaus', 'complaints', 'supervisor', 'privacy_notice', 'data_rights'] as const),
];

function* countryFaults(country: Country, terms: CountryTerms, { contracts }: Terms): Generator<Fault, void> {
  const { lender, fees, term, months, insurance } = terms;
  for (const [place, value] of [
    ...Object.entries(lender).map(([member, value]) => [`lender.${member}`, value] as const),
    ...TOLD.map((member) => [member, terms[member] ?? ''] as const),
    ...fees.map(({ name }, index) => [`fees.${index}.name`, name] as const),
    ...(insurance === undefined ? [] : [['insurance.name', insurance.name] as const]),
  ] as const) {
    if (!isPlainText(value) || hasHidden(value)) yield [place, 'has control or invisible characters'];
  }
  if (term !== undefined && !(term.minimum <= months && months <= term.maximum))
    yield ['months', 'must be within term'];
  if (!isZone(terms.zone)) yield ['zone', 'is no time zone such as America/Bogota'];
  if (!Object.hasOwn(contracts, terms.contract)) {
    yield ['contract', `names no template; there are: ${Object.keys(contracts).join(', ')}`];
  }
  const late = lateFault(country, terms);
  if (late !== null) yield ['late_rate', late];
  const [least, most] = [readDecimal(terms.minimum), readDecimal(terms.maximum)];
  if (least.units * 10n ** BigInt(most.scale) > most.units * 10n ** BigInt(least.scale)) {
    yield ['minimum', 'must not be above maximum'];
  }
  for (const [index, fee] of fees.entries()) {
    if ((fee.amount === undefined) === (fee.percent === undefined)) {
      yield [`fees.${index}`, 'must have either amount or percent'];
    }
  }
}
