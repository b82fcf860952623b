/**
 * Contract templates: texts with placeholders, as data of the operator, and how they are filled (D45). Pure.
 * docs/signing.md ("The contract") has the rule.
 */

/** The languages of contracts. */
export const CONTRACT_LANGUAGES = ['es', 'pt', 'en'] as const;
export type ContractLanguage = (typeof CONTRACT_LANGUAGES)[number];

/** Every value that a template may name. */
export const CONTRACT_PLACEHOLDERS = [
  ...['lender', 'lender_number', 'lender_address', 'partner', 'name', 'id_number', 'city'],
  ...['contract', 'date', 'expires'],
  ...[
    'amount',
    'currency',
    'net',
    'installment',
    'months',
    'total',
    'monthly_rate',
    'interest_rate',
    'interest_rate_name',
    'annual_rate',
    'rate_name',
  ],
  ...['disbursement', 'first_due', 'last_due', 'payment', 'fees', 'tax', 'withdrawal'],
  ...['creditors', 'to_applicant'],
  ...['late_rate', 'late_consequences', 'complaints', 'supervisor'],
] as const;
export type ContractPlaceholder = (typeof CONTRACT_PLACEHOLDERS)[number];

/** What the applicant has to read before the acceptance (D45): a template without one of these is refused. */
export const REQUIRED_PLACEHOLDERS = [
  ...['lender', 'lender_number', 'lender_address', 'name', 'id_number', 'contract', 'date', 'expires'],
  ...['amount', 'net', 'creditors', 'to_applicant', 'installment', 'months', 'total'],
  ...['interest_rate', 'interest_rate_name', 'annual_rate', 'rate_name', 'fees'],
  ...['disbursement', 'first_due', 'payment', 'withdrawal'],
  ...['late_rate', 'late_consequences', 'complaints', 'supervisor'],
] as const satisfies readonly ContractPlaceholder[];

export interface ContractSection {
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** True: the table of all installments follows. */
  readonly schedule?: boolean;
}

export interface ContractTemplate {
  readonly version: string;
  readonly language: ContractLanguage;
  readonly title: string;
  readonly sections: readonly ContractSection[];
}

/** A piece of a contract on its way to the page. */
export type Block =
  | { readonly kind: 'title' | 'heading' | 'text'; readonly text: string }
  | {
      readonly kind: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
    };

export type ContractValues = Readonly<Record<ContractPlaceholder, string>>;

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** The words in braces of a template, each once. */
export function placeholdersOf({ title, sections }: ContractTemplate): Set<string> {
  const texts = [title, ...sections.flatMap((section) => [section.title, ...section.paragraphs])];
  return new Set(texts.flatMap((text) => Array.from(text.matchAll(PLACEHOLDER), ([, word = '']) => word)));
}

/**
 * What a template does not tell, of what every contract tells and of these placeholders of its country: each in braces,
 * and the table of installments.
 */
export function untoldOf(template: ContractTemplate, ofCountry: readonly ContractPlaceholder[]): string[] {
  const found = placeholdersOf(template);
  const needed = new Set<ContractPlaceholder>([...REQUIRED_PLACEHOLDERS, ...ofCountry]);
  return [
    ...[...needed].filter((word) => !found.has(word)).map((word) => `{${word}}`),
    ...(template.sections.some(({ schedule }) => schedule === true)
      ? []
      : ['a section with "schedule": true (the table of installments)']),
  ];
}

/** Whether a text has a brace that belongs to no placeholder. */
export function hasLooseBrace(text: string): boolean {
  return /[{}]/.test(text.replace(PLACEHOLDER, ''));
}

/**
 * The filled contract, with the table of installments if a section asks for it. A value is never read as a placeholder.
 */
export function blocksOf(
  { title, sections }: ContractTemplate,
  values: ContractValues,
  schedule: Extract<Block, { kind: 'table' }>,
): Block[] {
  const fill = (text: string) =>
    text.replace(PLACEHOLDER, (whole, word: string) => values[word as ContractPlaceholder] ?? whole);
  return [
    { kind: 'title', text: fill(title) },
    ...sections.flatMap((section): Block[] => [
      { kind: 'heading', text: fill(section.title) },
      ...section.paragraphs.map((text) => ({ kind: 'text' as const, text: fill(text) })),
      ...(section.schedule === true ? [schedule] : []),
    ]),
  ];
}
