/** The keys of an object whose type is exact: a table of constants, which has no keys but the declared ones. */
export function keysOf<K extends string>(table: Readonly<Record<K, unknown>>): K[] {
  return Object.keys(table) as K[];
}
