/**
 * Makes the random texts that operators and browsers carry: links, sessions and recovery codes. The store keeps only
 * their digests. Pure but for the random bytes.
 */
import { createHash } from 'node:crypto';
import { Secret } from 'otpauth';
import type { SessionKey } from '../../../domain/operator/session.ts';
import { randomBytes } from '../../../seal/vault.ts';

const TOKEN_BYTES = 32;
const SESSION_ID_BYTES = 16;
/** 80 bits: 16 letters and digits of base32. */
const RECOVERY_BYTES = 10;
const RECOVERY_CODES = 10;

/**
 * A token with 256 random bits, and the digest that the store keeps. A fast hash is enough, because nobody can guess
 * the token.
 */
export function newToken(): { token: string; digest: Buffer } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, digest: digestOf(token) };
}

/** What the store keeps of a text. */
export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A new session, and its cookie's value. */
export function newSession(): { cookie: string; key: SessionKey } {
  const id = randomBytes(SESSION_ID_BYTES);
  const { token, digest } = newToken();
  return { cookie: `${id.toString('base64url')}.${token}`, key: { id, secretDigest: digest } };
}

/** Reads a cookie's value; null if the service cannot have made it. */
export function readCookie(value: string): SessionKey | null {
  const [, id, token] = /^([\w-]{22})\.([\w-]{43})$/.exec(value) ?? [];
  if (id === undefined || token === undefined) return null;
  return { id: Buffer.from(id, 'base64url'), secretDigest: digestOf(token) };
}

/** Ten codes, each for one sign-in without the authenticator app: four groups of four letters and digits. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    new Secret({ size: RECOVERY_BYTES }).base32.toLowerCase().replace(/(.{4})(?=.)/g, '$1-'),
  );
}

/** The digest of a recovery code as somebody typed it; null if the text is no recovery code. */
export function recoveryDigest(text: string): Buffer | null {
  const code = text.toLowerCase().replaceAll(/[\s-]/g, '');
  return /^[a-z2-7]{16}$/.test(code) ? digestOf(code) : null;
}
