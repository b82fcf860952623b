/**
 * Seals personal data (AES-256-GCM), makes blind indexes (a keyed, truncated SHA-256), hashes API keys and derives
 * keys. A sealed record opens only under the identity that it was sealed with, so it cannot be moved to another
 * application's row. Pure but for random bytes. ARCHITECTURE, "Personal data", has the rule.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import { UnknownDataKeyError } from '../ground/base/registration-failure.ts';
import { writeText } from '../ground/postgres/gathering.ts';

const POOL_BYTES = 4_096;
/** The pool of random bytes is filled by one call of the system, which costs as much as ten calls of `randomBytes`. */
let pool = Buffer.alloc(0);
let offset = 0;

/** Bytes that were never returned before, and that never change. */
export function randomBytes(length: number): Buffer {
  if (offset + length > pool.length) {
    // A new pool, because callers may keep parts of the old one.
    pool = randomFillSync(Buffer.allocUnsafeSlow(POOL_BYTES));
    offset = 0;
  }
  const bytes = pool.subarray(offset, offset + length);
  offset += length;
  return bytes;
}

/** The secrets of an installation. Each key is 32 bytes. */
export interface Secrets {
  /** The data keys by id (1 to 255). The first key seals; every key opens. */
  readonly dataKeys: ReadonlyMap<number, Buffer>;
  /** Makes the blind indexes, the ids of events, the digests of requests, the record of acts and the MACs of rows. */
  readonly indexKey: Buffer;
  /** Each of them makes the blind indexes again from those of the key before it; the oldest key first. */
  readonly newerIndexKeys?: readonly Buffer[];
  /** Hashes new API keys. */
  readonly apiKeyPepper: Buffer;
  /** Recognise API keys that were hashed with an earlier pepper. */
  readonly olderPeppers?: readonly Buffer[];
}

/** Layout of a sealed record: key id (1 byte), nonce (12), tag (16), ciphertext. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;
/** The first bytes of a sealed record, the key's id and the nonce: no two records have the same. */
export const SEAL_HEAD_BYTES = 1 + NONCE_BYTES;
/** Half of the hash: an attacker who wants to extend a known hash would need the other half. */
const INDEX_HEX_DIGITS = 32;

const BLIND_INDEX_KINDS = [
  'phone',
  'id_number',
  'idempotency_key',
  'channel_message_id',
  'channel_user',
  'event',
  'page',
  'trace',
] as const;
type BlindIndexKind = (typeof BLIND_INDEX_KINDS)[number];

/**
 * The most values that may be sealed with one key: beyond that, two random 96-bit nonces are equal with a chance of
 * more than 2^-32 (NIST SP 800-38D, section 8.3).
 */
export const MOST_SEALS = 2 ** 32;

/**
 * The form of the values that blind indexes are made of. 1: both as they were sent. 2: an ID number as D49 folds it,
 * and a phone as its plan reads it (D11). A change of `foldIdNumber` or `foldPhone` is a new form: `vault reindex`
 * makes the stored indexes of the previous form again.
 */
const INDEX_FORM = 2;

/** How the blind indexes of a store were made. */
export interface IndexOrigin {
  /** The number of the newest key, from 0 on, in the order in which the keys came. */
  readonly key: number;
  readonly form: number;
}

export class Vault {
  readonly #keys: ReadonlyMap<number, KeyObject>;
  readonly #sealingKeyId: number;
  readonly #sealingKey: KeyObject;
  readonly #indexKey: KeyObject;
  /** Hash functions by kind. */
  readonly #blindHashes: Readonly<Record<BlindIndexKind, (text: string) => string>>;
  /** The newest first. */
  readonly #peppers: readonly KeyObject[];
  /** How the indexes of a store may have been made with these keys, by fingerprint (`indexOriginsOf`). */
  readonly indexOrigins: ReadonlyMap<string, IndexOrigin>;
  /** The fingerprint of the newest index key and the present form: the store's indexes are made so. */
  readonly indexKeyId: string;
  readonly #again: readonly ((index: string) => string)[];
  /** The keys of INDEX_KEY, the oldest first. */
  readonly #indexKeys: readonly KeyObject[];
  /** By label, of which the program has a few. */
  readonly #derived = new Map<string, readonly KeyObject[]>();
  #seals = 0;

  constructor(secrets: Secrets) {
    // Key objects instead of bytes: with bytes each use costs five times as much.
    this.#keys = new Map([...secrets.dataKeys].map(([id, key]) => [id, createSecretKey(key)]));
    const [first] = this.#keys;
    if (first === undefined) throw new Error('no data key');
    [this.#sealingKeyId, this.#sealingKey] = first;
    this.#indexKey = createSecretKey(secrets.indexKey);
    this.#blindHashes = Object.fromEntries(
      BLIND_INDEX_KINDS.map((kind) => [kind, keyedHash(secrets.indexKey, `${kind}:`)]),
    ) as Record<BlindIndexKind, (text: string) => string>;
    this.indexOrigins = indexOriginsOf(secrets);
    this.indexKeyId = [...this.indexOrigins.keys()].at(-1)!;
    this.#again = (secrets.newerIndexKeys ?? []).map((key) => keyedHash(key, 'again:'));
    this.#indexKeys = [secrets.indexKey, ...(secrets.newerIndexKeys ?? [])].map((key) =>
      createSecretKey(key),
    );
    this.#peppers = [secrets.apiKeyPepper, ...(secrets.olderPeppers ?? [])].map((pepper) =>
      createSecretKey(pepper),
    );
  }

  /** Seals bytes or a text under an identity. The random 96-bit nonces are good for `MOST_SEALS` records a key. */
  seal(content: string | Buffer, identity: string): Buffer {
    this.#seals += 1;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#sealingKey, nonce);
    cipher.setAAD(Buffer.from(identity, 'latin1'));
    const ciphertext = typeof content === 'string' ? cipher.update(content, 'utf8') : cipher.update(content);
    cipher.final();
    const sealed = Buffer.allocUnsafe(HEADER_BYTES + ciphertext.length);
    sealed[0] = this.#sealingKeyId;
    nonce.copy(sealed, 1);
    cipher.getAuthTag().copy(sealed, 1 + NONCE_BYTES);
    ciphertext.copy(sealed, HEADER_BYTES);
    return sealed;
  }

  /** The data key that this process seals with: its id, and a fingerprint from which nobody can find out the key. */
  get sealingKey(): { readonly id: number; readonly fingerprint: string } {
    return { id: this.#sealingKeyId, fingerprint: fingerprintOf(this.#sealingKey) };
  }

  /** How many values this process has sealed. */
  get seals(): number {
    return this.#seals;
  }

  /** The ids of the data keys that this process has. */
  get dataKeyIds(): number[] {
    return [...this.#keys.keys()];
  }

  /** Whether this process has the data key with this id. */
  hasDataKey(id: number): boolean {
    return this.#keys.has(id);
  }

  /**
   * The bytes that were sealed. Throws `UnknownDataKeyError` if this process does not have the key, and another error
   * if the key, the identity or the bytes are not those of the sealing.
   */
  open(sealed: Buffer, identity: string): Buffer {
    const keyId = sealed[0] ?? 0;
    const key = this.#keys.get(keyId);
    // No key has the id 0: the bytes are damaged.
    if (key === undefined) throw keyId === 0 ? new Error('not sealed') : new UnknownDataKeyError();
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(identity, 'latin1'));
    decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEADER_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(HEADER_BYTES)), decipher.final()]);
  }

  /** Opens a sealed record and seals its content with the first data key. Throws like `open`. */
  reseal(sealed: Buffer, identity: string): Buffer {
    return this.seal(this.open(sealed, identity), identity);
  }

  /**
   * Makes a blind index (16 hex digits) again with the newer index keys, from the newer key with this number on: 0
   * stands for an index of the oldest key. So a stored index is made again without the value that it stands for.
   */
  indexAgain(index: string, from = 0): string {
    let made = index;
    for (const again of this.#again.slice(from)) made = again(made).slice(0, index.length);
    return made;
  }

  /** A key of 32 bytes from each key of INDEX_KEY, the oldest first, by HKDF-SHA-256 (RFC 5869) with a label. */
  derivedKeys(label: string): readonly KeyObject[] {
    const known = this.#derived.get(label);
    if (known !== undefined) return known;
    const made = this.#indexKeys.map((key) =>
      createSecretKey(Buffer.from(hkdfSync('sha256', key, '', label, 32))),
    );
    this.#derived.set(label, made);
    return made;
  }

  /** The key of `derivedKeys` that comes from the newest INDEX_KEY. */
  derivedKey(label: string): KeyObject {
    return this.derivedKeys(label).at(-1)!;
  }

  /** 128 bits in hex, equal for equal values of one kind. The kind keeps a phone and an ID number apart. */
  blindIndex(kind: BlindIndexKind, value: string): string {
    return this.#blindHashes[kind](value);
  }

  /** 128 bits in hex, equal for equal bodies; the body cannot be read from them. */
  bodyDigest(body: Buffer): string {
    const hmac = createHmac('sha256', this.#indexKey).update('body:').update(body);
    return hmac.digest('hex').slice(0, INDEX_HEX_DIGITS);
  }

  /** The 32 bytes that the store keeps of an API key. A key has 160 random bits, so no slow hash is needed. */
  apiKeyDigest(apiKey: string): Buffer {
    return this.#digests(apiKey, this.#peppers.slice(0, 1))[0]!;
  }

  /** The same under the older peppers, the newest of them first. */
  olderApiKeyDigests(apiKey: string): Buffer[] {
    return this.#digests(apiKey, this.#peppers.slice(1));
  }

  #digests(apiKey: string, peppers: readonly KeyObject[]): Buffer[] {
    return peppers.map((pepper) => createHmac('sha256', pepper).update(apiKey).digest());
  }

  /** Fingerprints of the peppers, the newest first. */
  get pepperIds(): string[] {
    return this.#peppers.map(fingerprintOf);
  }
}

/**
 * Fingerprints of the ways in which stored blind indexes may have been made: in each form with the index key, and with
 * each newer one together with all keys before it. The present way is the last one.
 */
export function indexOriginsOf({ indexKey, newerIndexKeys = [] }: Secrets): Map<string, IndexOrigin> {
  const ids = [fingerprintOf(indexKey)];
  for (const key of newerIndexKeys)
    ids.push(fingerprintOf(Buffer.from(`${ids.at(-1)}${fingerprintOf(key)}`)));
  const former = ids.map((id, key): [string, IndexOrigin] => [id, { key, form: 1 }]);
  const present = ids.map((id, key): [string, IndexOrigin] => [
    fingerprintOf(Buffer.from(`${id} form ${INDEX_FORM}`)),
    { key, form: INDEX_FORM },
  ]);
  return new Map([...former, ...present]);
}

/** 32 hex digits that tell two keys apart and from which no key can be found out. */
export function fingerprintOf(key: Buffer | KeyObject): string {
  return createHmac('sha256', key).update('fingerprint').digest('hex').slice(0, INDEX_HEX_DIGITS);
}

/**
 * The first 128 bits of SHA-256(key ‖ prefix ‖ text) in hex. A truncated hash with a secret prefix of fixed length is
 * a pseudorandom function (Coron et al., "Merkle-Damgård revisited", CRYPTO 2005, "chop"). It takes one call of the
 * runtime instead of HMAC's two, which matters at two hashes an application.
 */
export function keyedHash(key: Buffer, prefix = ''): (text: string) => string {
  // The key and the prefix are written once.
  const start = Buffer.concat([key, Buffer.from(prefix)]);
  const buffer = Buffer.concat([start, Buffer.alloc(1024)]);
  return (text) => {
    // UTF-8 takes at most three bytes a UTF-16 unit.
    const fits = text.length * 3 <= buffer.length - start.length;
    const message = fits
      ? buffer.subarray(0, writeText(buffer, start.length, text))
      : Buffer.concat([start, Buffer.from(text, 'utf8')]);
    return hash('sha256', message, 'hex').slice(0, INDEX_HEX_DIGITS);
  };
}
