/** Writes replies of the operator API: the form of a reply names what comes out. Pure. */
import type { Static, TSchema } from 'typebox';
import { type CamelCase, type Names, named } from '../../ground/base/named.ts';

/** The members of a reply as the program has them: in camelCase, and a time as a `Date`. */
type Filling<T> = T extends string
  ? string extends T
    ? T | Date
    : T
  : T extends readonly (infer Element)[]
    ? readonly Filling<Element>[]
    : T extends Readonly<Record<string, unknown>>
      ? string extends keyof T
        ? T
        : { readonly [K in keyof T as K extends string ? CamelCase<K> : never]: Filling<T[K]> }
      : T;

/** The value as the form has it. A member that the form does not name never comes out. */
export function inForm<F extends TSchema>(form: F, value: Filling<Static<F>>): Static<F> {
  return named<unknown, Names>(value, namesOf(form) as never) as Static<F>;
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  /** Of a record, whose names are data. */
  readonly patternProperties?: object;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** The names of an object, of the objects of a list, or of one that may be null; null: no object. */
function namesOf({ properties, patternProperties, items, anyOf = [] }: Schema): Names | null {
  if (patternProperties !== undefined) return '*';
  if (items !== undefined) return namesOf(items);
  if (properties === undefined) return anyOf.map(namesOf).find((names) => names !== null) ?? null;
  return Object.entries(properties).map(([name, schema]) => {
    const names = namesOf(schema);
    return names === null ? name : { [name]: names };
  });
}
