/**
 * Makes and reads texts that carry a number and that nobody else can make: ids of events, cursors of pages. Pure.
 * Layout, in base64url: the number (8 bytes, big-endian), authentication (12).
 */
import { timingSafeEqual } from 'node:crypto';
import type { Vault } from './vault.ts';

const NUMBER_BYTES = 8;
const TAG_HEX_DIGITS = 24;
const TOKEN = /^[A-Za-z0-9_-]{27}$/;

/** What a token is for: its prefix, and what only a token of the same scope has. */
export interface TokenScope {
  readonly kind: 'event' | 'page';
  readonly prefix: string;
  readonly scope: string;
}

/** The token of a number in a scope. */
export function tokenOf(vault: Vault, { kind, prefix, scope }: TokenScope, number: number): string {
  const bytes = Buffer.alloc(NUMBER_BYTES + TAG_HEX_DIGITS / 2);
  bytes.writeBigUInt64BE(BigInt(number));
  bytes.write(vault.blindIndex(kind, `${scope}:${number}`), NUMBER_BYTES, 'hex');
  return prefix + bytes.toString('base64url');
}

/** The number in a token that `tokenOf` made for this scope; null for any other text. */
export function numberIn(vault: Vault, scope: TokenScope, text: string): number | null {
  const { prefix } = scope;
  if (!text.startsWith(prefix) || !TOKEN.test(text.slice(prefix.length))) return null;
  const number = Number(Buffer.from(text.slice(prefix.length), 'base64url').readBigUInt64BE());
  if (!Number.isSafeInteger(number)) return null;
  // In constant time, because the time of another comparison would help to forge a token byte by byte.
  return timingSafeEqual(Buffer.from(text), Buffer.from(tokenOf(vault, scope, number))) ? number : null;
}
