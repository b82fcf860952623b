/**
 * Seals and opens files: each file has a random secret, which the file's row keeps sealed by the vault. So a new data
 * key changes rows and no file, and a file is unreadable as soon as its row is deleted, in copies of the store too
 * (docs/documents.md, "The store"). Pure.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/**
 * The layout: version (1 byte), nonce (12), tag (16), ciphertext of AES-256-GCM. The file's key in the store is bound
 * to it.
 */
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;
export const SECRET_BYTES = 32;

/** A random secret for one file. */
export function newFileSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** Seals bytes with a secret of `newFileSecret`. `identity` names the bytes: they open only under this name. */
export function sealWith(secret: Buffer, bytes: Buffer, identity: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', secret, nonce);
  cipher.setAAD(Buffer.from(identity));
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = VERSION;
  nonce.copy(head, 1);
  const content = cipher.update(bytes);
  cipher.final();
  cipher.getAuthTag().copy(head, 1 + NONCE_BYTES);
  return Buffer.concat([head, content]);
}

/**
 * The bytes that were sealed. Throws an `Error` if they are cut off, changed, or sealed with another secret or name.
 */
export function openWith(secret: Buffer, sealed: Buffer, identity: string): Buffer {
  if (sealed[0] !== VERSION || sealed.length < HEAD_BYTES) throw new Error('no sealed file');
  const decipher = createDecipheriv('aes-256-gcm', secret, sealed.subarray(1, 1 + NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(identity));
  decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()]);
}
