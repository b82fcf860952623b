/** The numbers of a query, which come as texts. */
import type { TSchema } from 'typebox';

const NUMBER = /^-?\d{1,15}(\.\d{1,9})?$/;

/**
 * The query with a number in the place of each decimal text whose field is one by the form. Any other text stays, and
 * has another form then: `faultOfForm` names it.
 */
export function withNumbers(form: TSchema, query: unknown): unknown {
  const { properties = {} } = form as { properties?: Readonly<Record<string, { type?: unknown }>> };
  const read = (name: string, value: unknown) => {
    const type = Object.hasOwn(properties, name) ? properties[name]!.type : null;
    const isNumber =
      (type === 'integer' || type === 'number') && typeof value === 'string' && NUMBER.test(value);
    return isNumber ? Number(value) : value;
  };
  return Object.fromEntries(
    Object.entries(query as Record<string, unknown>).map(([name, value]) => [name, read(name, value)]),
  );
}
