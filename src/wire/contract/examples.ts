/**
 * The documentation's example requests and answers. The code of real answers renders the example answers. Pure.
 * README.md has the rule.
 */
import { type NamedField, NOTED_FIELDS } from '../../domain/application/fields.ts';
import { type ApplicationId, applicationIdAt, toBatchId } from '../../domain/application/ids.ts';
import type { Outcome } from '../../domain/application/read-application.ts';
import { readApplication } from '../../domain/application/read-application.ts';
import { type ForcedOutcome, SANDBOX_SCENARIOS } from '../../domain/application/sandbox.ts';
import { DEFAULT_TEMPLATES, messageType } from '../../domain/message/notify.ts';
import type { Environment } from '../../domain/partner/credential.ts';
import type { Language } from '../../ground/base/language.ts';
import { nameIn } from './describe.ts';
import { renderBatch, renderQuota } from './response.ts';
import { faultTexts } from './texts.ts';

/** The example partner's country and cap. An example begins with nothing of the cap used. */
const EXAMPLE_COUNTRY = 'CO';
export const EXAMPLE_DAILY_CAP = 3;
const FIRST_BATCH = toBatchId(1);

/** An example batch of the documentation. */
export interface Example {
  readonly name: string;
  readonly summary: string;
  /** True if every element can be registered. */
  readonly isFlawless: boolean;
  readonly request: object;
  /** The answer for a key of the example partner, with the ids of a store's first batch. */
  readonly answer: object;
}

type Changes = Readonly<Record<string, unknown>>;

/** An element of an example (changes to the example values of the field table) and its outcome. */
type Line = readonly [
  changes: Changes | null,
  becomes: Exclude<ForcedOutcome, { kind: 'unavailable' }> | 'refused',
];

const FIRST: readonly Line[] = [[{}, { kind: 'registered', decision: 'approved', score: 100 }]];

/** One of each outcome. After the third registration every valid application is over the quota, even a duplicate. */
const MIXED: readonly Line[] = [
  ...FIRST,
  [
    {
      name: 'Beto Ruiz',
      id_number: '1020304051',
      phone: '+57 300 555 0102',
      income: 400_000,
      debt_amount: 9_000_000,
      num_debts: '3',
      debt_age: '1a2',
    },
    { kind: 'registered', decision: 'in_review', score: 47 },
  ],
  [{ name: 'Ana Gómez', id_number: '1020304052' }, { kind: 'duplicate' }],
  [
    {
      name: 'Dani Paz',
      id_number: '1020304053',
      phone: '+57 300 555 0103',
      income: 100_000,
      debt_amount: 9_000_000,
      num_debts: '3',
      debt_age: 'gt2',
      prior_history: 'no',
    },
    { kind: 'registered', decision: 'rejected', score: 26 },
  ],
  [{ name: 'Eva Sol', id_number: '1020304054', income: -1, debt_age: 'lt12' }, 'refused'],
  [null, 'refused'],
  [{ name: 'Fran Gil', id_number: '1020304055', phone: '+57 300 555 0104' }, { kind: 'over_quota' }],
];

/** Each reserved phone, except the phone that fails the whole request. */
const SANDBOX: readonly Line[] = SANDBOX_SCENARIOS.flatMap(({ phone, outcome }, index) =>
  outcome.kind === 'unavailable' ? [] : [[{ id_number: String(1_020_304_060 + index), phone }, outcome]],
);

type NamedBatch = readonly [name: string, summary: string, lines: readonly Line[]];

const BATCHES: Readonly<Record<Environment, readonly [NamedBatch, ...NamedBatch[]]>> = {
  PRO: [
    ['first', 'One application', FIRST],
    ['mixed', `One of each outcome, with a key whose cap is ${EXAMPLE_DAILY_CAP}`, MIXED],
  ],
  DEV: [
    ['first', 'One application', FIRST],
    ['sandbox', 'The reserved phones', SANDBOX],
  ],
};

/**
 * An application with the field table's example values, in the names and words of a language. What a partner may tell
 * beside it is left out (D53).
 */
export function exampleApplication(
  fields: readonly NamedField[],
  language: Language,
  changes: Changes = {},
): Record<string, unknown> {
  const shown = fields.filter(({ name }) => name in changes || !NOTED_FIELDS.includes(name));
  return Object.fromEntries(
    shown.map((field) => {
      const value = changes[field.name] ?? field.example;
      return [nameIn(field, language), wordIn(field, value, language)];
    }),
  );
}

/** A value of a field as the documentation writes it in a language: some choices have a Spanish word. */
export function wordIn({ rule }: NamedField, value: unknown, language: Language): unknown {
  if (language === 'en') return value;
  const words = rule.kind === 'choice' ? Object.entries(rule.spanish ?? {}) : [];
  return words.find(([, meant]) => meant === value)?.[0] ?? value;
}

/** Example batches of an environment in a language, with their answers. */
export function batchExamples(
  fields: readonly NamedField[],
  environment: Environment,
  language: Language,
): readonly [Example, ...Example[]] {
  const [first, ...others] = BATCHES[environment];
  const render = (batch: NamedBatch) => batchExample(fields, environment, language, batch);
  return [render(first), ...others.map(render)];
}

function batchExample(
  fields: readonly NamedField[],
  environment: Environment,
  language: Language,
  [name, summary, lines]: NamedBatch,
): Example {
  const elements = lines.map(([changes]) =>
    changes === null ? null : exampleApplication(fields, language, changes),
  );
  const outcomes = lines.map((line, index) =>
    outcomeOf(fields, environment, elements[index], line, applicationIdAt(FIRST_BATCH, index)),
  );
  const text = renderBatch(outcomes, language, environment, faultTexts(fields));
  const root = language === 'en' ? 'applications' : 'aplicaciones';
  const isFlawless = lines.every(([, becomes]) => becomes !== 'refused');
  return { name, summary, isFlawless, request: { [root]: elements }, answer: JSON.parse(text) };
}

function outcomeOf(
  fields: readonly NamedField[],
  environment: Environment,
  element: unknown,
  [, becomes]: Line,
  id: ApplicationId,
): Outcome {
  const reading = readApplication(element, fields, EXAMPLE_COUNTRY, environment);
  if (reading.kind !== 'valid') return reading;
  const { id_number: idNumber, name, phone } = reading.application;
  if (becomes === 'refused') throw new Error('the example application must be refused, but it is valid');
  if (becomes.kind === 'duplicate') return { kind: 'duplicate', idNumber };
  if (becomes.kind === 'over_quota')
    return { kind: 'over_quota', idNumber, remaining: 0, dailyCap: EXAMPLE_DAILY_CAP };
  const { decision, score } = becomes;
  if (environment === 'PRO') return { kind: 'registered', idNumber, name, id, score, decision };
  const type = messageType(reading.application, decision);
  const notify =
    type === null || phone === null
      ? {}
      : { wouldNotify: { type, destination: phone, template: DEFAULT_TEMPLATES[type] } };
  return { kind: 'registered', idNumber, name, id: null, score, decision, ...notify };
}

/** Example answers to GET, with a cap and without one. */
export function quotaExamples(
  environment: Environment,
  language: Language,
): Readonly<Record<string, object>> {
  const common = {
    partnerName: 'Rutas SA',
    partnerCountry: EXAMPLE_COUNTRY,
    used24h: 120,
    fetchedAt: new Date('2026-11-21T07:29:00Z'),
  };
  const capped = renderQuota({ ...common, dailyCap: 500, remaining: 380 }, language, environment);
  const free = renderQuota({ ...common, dailyCap: null, remaining: null }, language, environment);
  return { capped: JSON.parse(capped), no_cap: JSON.parse(free) };
}
