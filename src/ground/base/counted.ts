/** Writes a count with its word, such as `2 rows`. Pure. */

/** `1 row`, `2 rows`. `text` writes the count; `many` is for a word whose plural is not made with an `s`. */
export function counted(count: number, one: string, many = `${one}s`, text = `${count}`): string {
  return `${text} ${count === 1 ? one : many}`;
}
