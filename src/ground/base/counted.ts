/** Counts with their words. */

/** `1 row`, `2 rows`. `text` writes the count; `many` is where an `s` at the end does not make the plural. */
export function counted(count: number, one: string, many = `${one}s`, text = `${count}`): string {
  return `${text} ${count === 1 ? one : many}`;
}
