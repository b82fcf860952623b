/**
 * The form of an API key: `vtn_`, the environment, `_`, the secret in hex and eight hex digits of checksum (D20). Pure.
 * People and secret scanners recognise the prefix. The checksum refuses a mistyped or cut key without a look-up in the
 * database.
 */
import { crc32 } from 'node:zlib';
import type { Environment } from '../../../domain/partner/credential.ts';

/** 160 random bits. */
export const SECRET_BYTES = 20;
const FORM = /^vtn_(?:pro|dev|all)_[0-9a-f]{48}$/;
const CHECKSUM_LENGTH = 8;
/** `vtn_pro_` and six digits: enough to tell keys apart, and no help to guess a key. */
const HINT_LENGTH = 14;

/** Makes a key for an environment (null: both) from `SECRET_BYTES` random bytes. */
export function formatApiKey(environment: Environment | null, secret: Buffer): string {
  const body = `vtn_${environment?.toLowerCase() ?? 'all'}_${secret.toString('hex')}`;
  return body + checksum(body);
}

/** True if form and checksum are right. The key need not exist. */
export function isApiKey(text: string): boolean {
  return FORM.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** The part of a key that lists may show. */
export function apiKeyHint(apiKey: string): string {
  return apiKey.slice(0, HINT_LENGTH);
}

function checksum(body: string): string {
  return crc32(body).toString(16).padStart(CHECKSUM_LENGTH, '0');
}
