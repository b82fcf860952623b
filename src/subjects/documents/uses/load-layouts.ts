/**
 * Reads and checks the layouts of statements: those of the program, and the operator's own in DOCUMENT_LAYOUTS
 * (docs/documents.md, "Layouts"). Reads JSON files.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import Value from 'typebox/value';
import { readAmount } from '../../../domain/document/amount.ts';
import { isMonth } from '../../../domain/document/month.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import type { Layout } from '../rules/layout.ts';
import { findStatement } from '../rules/statement.ts';

const strict = { additionalProperties: false };
const text = (maxLength = 200) => Type.String({ minLength: 1, maxLength });
const texts = (minItems: number) => Type.Array(text(), { minItems, maxItems: 20 });
const LAYOUT = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,59}$' }),
    platform: text(),
    recognise: texts(1),
    holder_name: texts(1),
    holder_id: texts(0),
    issued: texts(0),
    currency: Type.String({ pattern: '^[A-Z]{3}$' }),
    months: Type.Object(
      {
        from: Type.Optional(text()),
        until: Type.Optional(text()),
        amount: Type.Integer({ minimum: -9, maximum: 9 }),
        decimal: Type.Union([Type.Literal(','), Type.Literal('.'), Type.Null()]),
      },
      strict,
    ),
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
    examples: Type.Array(
      Type.Object(
        {
          lines: Type.Array(Type.String({ maxLength: 500 }), { minItems: 1, maxItems: 500 }),
          finds: Type.Object(
            {
              holder_name: text(),
              holder_id: Type.String({ maxLength: 200 }),
              issued: Type.String({ maxLength: 7 }),
              months: Type.Record(Type.String(), Type.String()),
            },
            strict,
          ),
        },
        strict,
      ),
      { minItems: 1, maxItems: 20 },
    ),
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
  if (!Value.Check(LAYOUT, content)) {
    const [first] = Value.Errors(LAYOUT, content);
    const path =
      first?.instancePath === '' ? 'the layout' : first?.instancePath.slice(1).replaceAll('/', '.');
    const rule = first?.message === 'schema is false' ? 'is no part of a layout' : first?.message;
    throw new ToldError(`the layout ${source}: ${path} ${rule}`);
  }
  const layout = content as unknown as Layout;
  if (layout.months.amount === 0) {
    throw new ToldError(
      `the layout ${source}: months.amount must not be 0: 1 is the first amount, -1 the last`,
    );
  }
  for (const { finds } of layout.examples) {
    for (const [month, amount] of Object.entries(finds.months)) {
      if (!isMonth(month) || readAmount(amount) === null) {
        throw new ToldError(`the layout ${source}: examples must name months as "2026-05": "1234.50"`);
      }
    }
  }
  return layout;
}

function prove(layout: Layout, layouts: readonly Layout[]): void {
  for (const [index, { lines, finds }] of layout.examples.entries()) {
    const found = findStatement(lines, layouts);
    const months = Object.entries(finds.months).map(([month, amount]) => ({
      month,
      amount: readAmount(amount),
    }));
    const faults = [
      found.layout === layout.id ? '' : `is of the layout ${found.layout ?? 'that nobody knows'}`,
      (found.holderName ?? '') === finds.holder_name ? '' : 'has another holder_name',
      (found.holderId ?? '') === finds.holder_id ? '' : 'has another holder_id',
      (found.issued ?? '') === finds.issued ? '' : 'has another issued',
      JSON.stringify(found.months) === JSON.stringify(months) ? '' : 'has other months',
    ].filter((fault) => fault !== '');
    if (faults.length > 0) {
      throw new ToldError(
        `the layout ${layout.id}: by the layouts its example ${index + 1} ${faults.join(', ')}`,
      );
    }
  }
}
