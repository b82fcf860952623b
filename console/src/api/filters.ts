/** The filters of the queue, as the address has them. They name no person. */
import type { QUEUE_ORDERS, QueueFilterQuery } from '../../../src/subjects/desk/routes/queue-forms.ts';

type Order = (typeof QUEUE_ORDERS)[number];
export type Filters = QueueFilterQuery & { order?: Order };

export const ORDERS = ['due', 'oldest', 'score', 'amount'] as const satisfies readonly Order[];
export const STATES = ['waiting', 'proposed', 'pended'] as const;
export const CLAIMS = ['mine', 'free'] as const;
/** The scores that a band holds, both ends included. From 30 to 69 an application comes to review by its score. */
export const BANDS = [
  [0, 29],
  [30, 39],
  [40, 49],
  [50, 59],
  [60, 69],
  [70, 100],
] as const;
/** Hours. */
export const AGES = [4, 24, 72, 168, 720] as const;
/** Hours; 0: overdue. */
export const DUES = [0, 1, 4, 24, 72] as const;

const NUMBERS = {
  partner: 2 ** 53,
  score_from: 100,
  score_to: 100,
  amount_from: 2 ** 53,
  amount_to: 2 ** 53,
  age_from: 87_600,
  due_within: 87_600,
} as const;
type NumberName = keyof typeof NUMBERS;

function within<T extends string>(words: readonly T[], word: string | null): T | undefined {
  return words.find((known) => known === word);
}

/** Reads the query of an address. What is no filter, or no value of one, is left out. */
export function filtersOf(search: string): Filters {
  const query = new URLSearchParams(search);
  const filters: Filters = {};
  for (const [name, most] of Object.entries(NUMBERS) as [NumberName, number][]) {
    const text = query.get(name);
    const isWhole = !name.startsWith('amount');
    if (text === null || !(isWhole ? /^\d{1,15}$/ : /^\d{1,15}(\.\d{1,2})?$/).test(text)) continue;
    const value = Number(text);
    if (value <= most && !(name === 'partner' && value === 0)) filters[name] = value;
  }
  const state = within(STATES, query.get('state'));
  const claim = within(CLAIMS, query.get('claim'));
  const order = within(ORDERS, query.get('order'));
  return { ...filters, ...(state && { state }), ...(claim && { claim }), ...(order && { order }) };
}

/** The query of an address, without `?`; the empty text where nothing is filtered. */
export function searchOf(filters: Filters): string {
  const parts = Object.entries(filters).map(([name, value]) => [name, String(value)] as [string, string]);
  return new URLSearchParams(parts.sort(([a], [b]) => (a < b ? -1 : 1))).toString();
}

/** The filters with one of them set or, where it is undefined, taken away. */
export function withFilter(
  filters: Filters,
  change: { [K in keyof Filters]?: Filters[K] | undefined },
): Filters {
  const changed = { ...filters, ...change };
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined)) as Filters;
}

/** How many filters are set: the two ends of a band are one. The order is none. */
export function countFilters({ order: _, score_from, score_to, ...others }: Filters): number {
  const isBand = score_from !== undefined || score_to !== undefined;
  return Object.keys(others).length + Number(isBand);
}

/** The band of a score. */
export function bandOf(score: number): readonly [number, number] {
  return BANDS.find(([, to]) => score <= to) ?? BANDS.at(-1)!;
}
