/**
 * Reads and checks the layouts of statements: those of the program, and the operator's own in DOCUMENT_LAYOUTS
 * (docs/documents.md, "Layouts"). Reads JSON files.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import Value from 'typebox/value';
import { readAmount } from '../../../domain/document/amount.ts';
import { isMonth } from '../../../domain/document/month.ts';
import { MOST_DEBTS } from '../../../domain/loan/debt.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import type { DebtsLayout, EarningsLayout, Finding, Layout } from '../rules/layout.ts';
import { findStatement } from '../rules/statement.ts';

const strict = { additionalProperties: false };
const text = (maxLength = 200) => Type.String({ minLength: 1, maxLength });
const texts = (minItems: number) => Type.Array(text(), { minItems, maxItems: 20 });
const DECIMAL = Type.Union([Type.Literal(','), Type.Literal('.'), Type.Null()]);
const COMMON = {
  id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,59}$' }),
  platform: text(),
  recognise: texts(1),
  holder_name: texts(1),
  holder_id: texts(0),
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
};
const HOLDER = { holder_name: text(), holder_id: Type.String({ maxLength: 200 }) };

function examplesWith(finds: Parameters<typeof Type.Object>[0]) {
  const lines = Type.Array(Type.String({ maxLength: 500 }), { minItems: 1, maxItems: 500 });
  const example = Type.Object({ lines, finds: Type.Object({ ...HOLDER, ...finds }, strict) }, strict);
  return Type.Array(example, { minItems: 1, maxItems: 20 });
}

const EARNINGS = Type.Object(
  {
    ...COMMON,
    kind: Type.Optional(Type.Literal('earnings')),
    issued: texts(0),
    months: Type.Object(
      {
        from: Type.Optional(text()),
        until: Type.Optional(text()),
        amount: Type.Integer({ minimum: -9, maximum: 9 }),
        decimal: DECIMAL,
      },
      strict,
    ),
    examples: examplesWith({
      issued: Type.String({ maxLength: 7 }),
      months: Type.Record(Type.String(), Type.String()),
    }),
  },
  strict,
);

const COLUMN = Type.Integer({ minimum: 1, maximum: 20 });
const orNull = (maxLength: number) => Type.Union([text(maxLength), Type.Null()]);
const DEBTS = Type.Object(
  {
    ...COMMON,
    kind: Type.Literal('debts'),
    as_of: texts(1),
    debts: Type.Object(
      {
        from: text(),
        until: Type.Optional(text()),
        columns: COLUMN,
        creditor: Type.Union([COLUMN, text(80)]),
        reference: Type.Optional(COLUMN),
        balance: COLUMN,
        overdue_since: Type.Optional(COLUMN),
        decimal: DECIMAL,
        total: Type.Optional(texts(1)),
      },
      strict,
    ),
    examples: examplesWith({
      as_of: text(10),
      debts: Type.Array(
        Type.Object(
          { creditor: text(80), reference: orNull(64), balance: text(20), overdue_since: orNull(10) },
          strict,
        ),
        { minItems: 1, maxItems: MOST_DEBTS },
      ),
    }),
  },
  strict,
);

const BUILT_IN = join(import.meta.dirname, '../layouts');

/**
 * The layouts of the operator's folder (null: none), then those of the program. Throws `ToldError` that names the file,
 * the place in it and the rule. A layout is also refused if it does not find in its examples what they say, or if it
 * fits the example of another layout.
 */
export async function loadLayouts(folder: string | null): Promise<readonly Layout[]> {
  const own = folder === null ? [] : await readFolder(folder);
  const layouts = [...own, ...(await readFolder(BUILT_IN))];
  for (const { id } of layouts) {
    if (layouts.filter((one) => one.id === id).length > 1) {
      throw new ToldError(`two layouts of DOCUMENT_LAYOUTS have the id ${id}: give each an id of its own`);
    }
  }
  for (const layout of layouts) prove(layout, layouts);
  return layouts;
}

async function readFolder(folder: string): Promise<Layout[]> {
  let names: string[];
  try {
    names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  } catch (error) {
    throw new ToldError(`DOCUMENT_LAYOUTS ${folder} cannot be read: ${describeError(error)}`);
  }
  return Promise.all(names.map((name) => readLayout(join(folder, name))));
}

async function readLayout(path: string): Promise<Layout> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new ToldError(`the layout ${path} cannot be read as JSON: ${describeError(error)}`);
  }
  return checkLayout(content, path);
}

/** Checks a parsed layout; `source` names it in the error. Throws `ToldError`. */
export function checkLayout(content: unknown, source: string): Layout {
  const form = (content as { kind?: unknown } | null)?.kind === 'debts' ? DEBTS : EARNINGS;
  if (!Value.Check(form, content)) {
    const [first] = Value.Errors(form, content);
    const path =
      first?.instancePath === '' ? 'the layout' : first?.instancePath.slice(1).replaceAll('/', '.');
    const rule = first?.message === 'schema is false' ? 'is no part of a layout' : first?.message;
    throw new ToldError(`the layout ${source}: ${path} ${rule}`);
  }
  const layout = content as unknown as Layout;
  const fault = layout.kind === 'debts' ? columnFault(layout) : monthFault(layout);
  if (fault !== null) throw new ToldError(`the layout ${source}: ${fault}`);
  return layout;
}

function monthFault({ months, examples }: EarningsLayout): string | null {
  if (months.amount === 0) return 'months.amount must not be 0: 1 is the first amount, -1 the last';
  const named = examples.flatMap(({ finds }) => Object.entries(finds.months));
  const isRight = named.every(([month, amount]) => isMonth(month) && readAmount(amount) !== null);
  return isRight ? null : 'examples must name months as "2026-05": "1234.50"';
}

function columnFault({ debts }: DebtsLayout): string | null {
  const { columns, creditor, reference, balance, overdue_since: overdue } = debts;
  const named = [creditor, reference, balance, overdue].filter((one) => typeof one === 'number');
  if (named.some((one) => one > columns)) return 'debts.columns must be the last column at least';
  return new Set(named).size === named.length ? null : 'debts must not name a column twice';
}

function prove(layout: Layout, layouts: readonly Layout[]): void {
  for (const [index, { lines, finds }] of layout.examples.entries()) {
    const found = findStatement(lines, layouts);
    const faults = [
      found.layout === layout.id ? '' : `is of the layout ${found.layout ?? 'that nobody knows'}`,
      (found.holderName ?? '') === finds.holder_name ? '' : 'has another holder_name',
      (found.holderId ?? '') === finds.holder_id ? '' : 'has another holder_id',
      ...('months' in finds ? monthsOtherThan(finds, found) : debtsOtherThan(finds, found)),
    ].filter((fault) => fault !== '');
    if (faults.length > 0) {
      throw new ToldError(
        `the layout ${layout.id}: by the layouts its example ${index + 1} ${faults.join(', ')}`,
      );
    }
  }
}

function monthsOtherThan(
  { issued, months }: EarningsLayout['examples'][number]['finds'],
  found: Finding,
): string[] {
  const wanted = Object.entries(months).map(([month, amount]) => ({ month, amount: readAmount(amount) }));
  return [
    (found.issued ?? '') === issued ? '' : 'has another issued',
    JSON.stringify(found.months) === JSON.stringify(wanted) ? '' : 'has other months',
  ];
}

function debtsOtherThan({ as_of: asOf, debts }: DebtsLayout['examples'][number]['finds'], found: Finding) {
  const wanted = debts.map(({ overdue_since: overdueSince, ...debt }) => ({ ...debt, overdueSince, asOf }));
  const isSame = found.debtsFault === undefined && isDeepStrictEqual(found.debts, wanted);
  return isSame ? [] : ['has other debts'];
}
