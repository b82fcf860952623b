/** What is wrong with a body or a query, in words: the name of the field and the rule. */
import type { TSchema } from 'typebox';
import Value from 'typebox/value';

const LONGEST_NAME = 60;

/** null: the value has the form. The text repeats nothing of the value. */
export function faultOfForm(schema: TSchema, value: unknown, what: 'body' | 'query'): string | null {
  if (Value.Check(schema, value)) return null;
  const errors = Value.Errors(schema, value);
  // The library says of an unknown field only that no value fits it.
  const unknown = errors.find(({ keyword }) => keyword === 'boolean');
  if (unknown !== undefined) return `${what}: ${nameAt(unknown.instancePath)} is no field of it`;
  const [{ instancePath, message } = { instancePath: '', message: 'has another form' }] = errors;
  const name = nameAt(instancePath);
  return name === '' ? `the ${what} ${message}` : `${what}: ${name} ${message}`;
}

function nameAt(path: string): string {
  return path.replaceAll('/', '.').replace(/^\./, '').slice(0, LONGEST_NAME);
}
