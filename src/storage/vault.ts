/**
 * Seals personal data (AES-256-GCM) and makes blind indexes (HMAC-SHA256). A sealed record opens only under
 * the identity that it was sealed with, so it cannot be moved to another application's row.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import type { Secrets } from '../domain/secrets.ts';

/** Layout of a sealed record: key id (1 byte), nonce (12), tag (16), ciphertext. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;
const HMAC_BLOCK_BYTES = 64;

export class Vault {
  readonly #keys: ReadonlyMap<number, KeyObject>;
  readonly #sealingKeyId: number;
  readonly #sealingKey: KeyObject;
  readonly #nonces = Buffer.alloc(NONCE_BYTES * 256);
  #nonceOffset = this.#nonces.length;
  readonly #indexKey: Buffer;
  readonly #blindHash: (text: string) => string;
  readonly #pepperHash: (text: string) => string;

  constructor(secrets: Secrets) {
    // A KeyObject, not the bytes: with them each record costs five times as much.
    this.#keys = new Map([...secrets.dataKeys].map(([id, key]) => [id, createSecretKey(key)]));
    const [first] = this.#keys;
    if (first === undefined) throw new Error('no data key');
    [this.#sealingKeyId, this.#sealingKey] = first;
    this.#indexKey = secrets.indexKey;
    this.#blindHash = hmacSha256(secrets.indexKey);
    this.#pepperHash = hmacSha256(secrets.apiKeyPepper);
  }

  /** Seals a text under an identity; the random 96-bit nonces are good for 2^32 records a key. */
  seal(text: string, identity: string): Buffer {
    const nonce = this.#nextNonce();
    const cipher = createCipheriv('aes-256-gcm', this.#sealingKey, nonce);
    cipher.setAAD(Buffer.from(identity, 'latin1'));
    const ciphertext = cipher.update(text, 'utf8');
    cipher.final();
    const sealed = Buffer.allocUnsafe(HEADER_BYTES + ciphertext.length);
    sealed[0] = this.#sealingKeyId;
    nonce.copy(sealed, 1);
    cipher.getAuthTag().copy(sealed, 1 + NONCE_BYTES);
    ciphertext.copy(sealed, HEADER_BYTES);
    return sealed;
  }

  /** The text that was sealed; throws where key, identity or bytes are not those of the sealing. */
  open(sealed: Buffer, identity: string): string {
    const key = this.#keys.get(sealed[0] as number);
    if (key === undefined) throw new Error(`no data key with id ${sealed[0]}`);
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(identity, 'latin1'));
    decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEADER_BYTES));
    return decipher.update(sealed.subarray(HEADER_BYTES), undefined, 'utf8') + decipher.final('utf8');
  }

  /** 128 bits in hex, equal for equal values of one kind. The kind keeps a phone and an ID number apart. */
  blindIndex(kind: 'phone' | 'id_number' | 'idempotency_key', value: string): string {
    return this.#blindHash(`${kind}:${value}`).slice(0, 32);
  }

  /** 128 bits in hex, equal for equal bodies and telling nothing of them. */
  bodyDigest(body: Buffer): string {
    return createHmac('sha256', this.#indexKey).update('body:').update(body).digest('hex').slice(0, 32);
  }

  /** What is stored of an API key: 32 bytes. Enough for a key of 128 random bits; no slow hash is needed. */
  apiKeyDigest(apiKey: string): Buffer {
    return Buffer.from(this.#pepperHash(apiKey), 'hex');
  }

  #nextNonce(): Buffer {
    if (this.#nonceOffset === this.#nonces.length) {
      randomFillSync(this.#nonces);
      this.#nonceOffset = 0;
    }
    const nonce = this.#nonces.subarray(this.#nonceOffset, this.#nonceOffset + NONCE_BYTES);
    this.#nonceOffset += NONCE_BYTES;
    return nonce;
  }
}

/**
 * HMAC-SHA256 (RFC 2104) in hex, by two one-shot hashes: half the time of a Hmac object, which counts at two
 * an application. A test holds it against `createHmac`.
 */
export function hmacSha256(key: Buffer): (text: string) => string {
  if (key.length > HMAC_BLOCK_BYTES) throw new RangeError('an HMAC key is at most 64 bytes here');
  const inner = Buffer.alloc(HMAC_BLOCK_BYTES + 1024, 0x36);
  const outer = Buffer.alloc(HMAC_BLOCK_BYTES + 32, 0x5c);
  for (const [index, byte] of key.entries()) {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  const prefix = Buffer.from(inner.subarray(0, HMAC_BLOCK_BYTES));
  return (text) => {
    // UTF-8 takes at most three bytes a UTF-16 unit.
    const fits = text.length * 3 <= inner.length - HMAC_BLOCK_BYTES;
    const message = fits
      ? inner.subarray(0, HMAC_BLOCK_BYTES + inner.write(text, HMAC_BLOCK_BYTES, 'utf8'))
      : Buffer.concat([prefix, Buffer.from(text, 'utf8')]);
    outer.write(hash('sha256', message, 'binary'), HMAC_BLOCK_BYTES, 'latin1');
    return hash('sha256', outer, 'hex');
  };
}
