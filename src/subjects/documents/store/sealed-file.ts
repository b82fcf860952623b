/**
 * Seals files: each with a random key of its own, which the file's row keeps sealed by the vault. So a replaced data
 * key touches rows and no file, and a file is unreadable as soon as its row is deleted, in copies of the store too.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Layout: version (1 byte), nonce (12), tag (16), ciphertext of AES-256-GCM. The key of the file is bound to it. */
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;
export const SECRET_BYTES = 32;

/** A random secret for one file. */
export function newFileSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** Seals bytes with a secret of `newFileSecret`. `identity` names what they are: they open under this name alone. */
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

/** The bytes that were sealed. Throws an `Error` where they are cut off, changed, or sealed with another secret. */
export function openWith(secret: Buffer, sealed: Buffer, identity: string): Buffer {
  if (sealed[0] !== VERSION || sealed.length < HEAD_BYTES) throw new Error('no sealed file');
  const decipher = createDecipheriv('aes-256-gcm', secret, sealed.subarray(1, 1 + NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(identity));
  decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()]);
}
