/**
 * Reads the keys of an installation from their written form: base64, and `ID:KEY` pairs. Each key is 32 bytes. Pure.
 * `.env.example` shows the variables; docs/keys.md says what each key is for.
 */
import type { Secrets } from './vault.ts';

const KEY_BYTES = 32;

/** The rule of `readKey`. */
const KEY_RULE = `must hold keys of ${KEY_BYTES} random bytes in base64 (openssl rand -base64 32)`;
/** The rule of `readDataKeys`. */
const DATA_KEYS_RULE = 'must be ID:KEY pairs joined by commas, each ID once and from 1 to 255';

/** Reads a key from base64. Throws a RangeError with the rule, never with the text. */
export function readKey(text: unknown): Buffer {
  if (typeof text === 'string' && /^[A-Za-z0-9+/]{43}=$/.test(text)) {
    const key = Buffer.from(text, 'base64');
    if (key.length === KEY_BYTES) return key;
  }
  throw new RangeError(KEY_RULE);
}

const LIST_RULE = 'must hold different keys, the newest first';

/** Reads peppers, the newest first. Throws a RangeError with the rule. */
export function readPeppers(texts: readonly unknown[]): Pick<Secrets, 'apiKeyPepper' | 'olderPeppers'> {
  const [apiKeyPepper, ...olderPeppers] = readList(texts);
  return { apiKeyPepper, olderPeppers };
}

/** Reads index keys, the newest first. Throws a RangeError with the rule. */
export function readIndexKeys(texts: readonly unknown[]): Pick<Secrets, 'indexKey' | 'newerIndexKeys'> {
  const [indexKey, ...newerIndexKeys] = readList(texts).toReversed() as [Buffer, ...Buffer[]];
  return { indexKey, newerIndexKeys };
}

function readList(texts: readonly unknown[]): [Buffer, ...Buffer[]] {
  const keys = texts.map((text) => readKey(typeof text === 'string' ? text.trim() : text));
  const [first, ...others] = keys;
  if (first === undefined || new Set(keys.map((key) => key.toString('hex'))).size < keys.length)
    throw new RangeError(LIST_RULE);
  return [first, ...others];
}

/** Reads `ID:KEY` pairs in their order; the first key seals. Throws a RangeError with the rule. */
export function readDataKeys(pairs: readonly unknown[]): Map<number, Buffer> {
  const keys = new Map<number, Buffer>();
  for (const pair of pairs) {
    const [, digits = '', key] = /^\s*(\d{1,3}):(.+?)\s*$/.exec(typeof pair === 'string' ? pair : '') ?? [];
    const id = Number(digits);
    if (key === undefined || id < 1 || id > 255 || keys.has(id)) throw new RangeError(DATA_KEYS_RULE);
    keys.set(id, readKey(key));
  }
  if (keys.size === 0) throw new RangeError(DATA_KEYS_RULE);
  return keys;
}
