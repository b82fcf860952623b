/** The keys of a table of constants, which has only the keys that its type declares. Pure. */
export function keysOf<K extends string>(table: Readonly<Record<K, unknown>>): K[] {
  return Object.keys(table) as K[];
}
