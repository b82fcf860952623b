declare const KEY: unique symbol;

/** The id of an API key: a small number, as the id of a partner is, so the type keeps the two apart. */
export type KeyId = number & { readonly [KEY]: true };

/** Makes an id from a checked number. */
export function toKeyId(value: number): KeyId {
  return value as KeyId;
}
