/**
 * What operators do with API keys: issue, list, revoke, rotate, give a cap (contract, "Authentication"; D18, D20, D21,
 * D24). Writes the store through `sql/api-keys.ts` and `sql/key-changes.ts`.
 */
import { randomBytes } from 'node:crypto';
import type { Environment, KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import { DAY_MS, HOUR_MS } from '../../../ground/base/clock.ts';
import { inTransaction } from '../../../ground/postgres/database.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { apiKeyHint, formatApiKey, SECRET_BYTES } from '../rules/api-key.ts';
import {
  type ApiKey,
  insertKey,
  type KeySettings,
  type KeyText,
  readKey,
  readKeys,
} from '../sql/api-keys.ts';
import { revokeStoredKey, rotateStoredKey, setKeyCap } from '../sql/key-changes.ts';
import { type KeyRefusals, readKeyRefusals } from '../sql/key-outcomes.ts';
import { holdOpenPartner } from '../sql/partners.ts';
import { requirePartner } from './partners.ts';

export type { ApiKey };

/** The largest cap that the store can hold. */
const MAX_CAP = 2_147_483_647;
const MAX_OVERLAP_MS = 30 * DAY_MS;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: HOUR_MS, d: DAY_MS };

/** A key that was just made. `apiKey` is its text, which is stored nowhere. */
export interface IssuedKey {
  readonly apiKey: string;
  readonly key: ApiKey;
}

/** A new key's text, and what the store keeps of it. */
export function makeKey(vault: Vault, environment: Environment | null): { apiKey: string; text: KeyText } {
  const apiKey = formatApiKey(environment, randomBytes(SECRET_BYTES));
  return { apiKey, text: textOf(vault, apiKey) };
}

/** What the store keeps of a key's text. */
export function textOf(vault: Vault, apiKey: string): KeyText {
  return { digest: vault.apiKeyDigest(apiKey), pepper: vault.pepperIds[0]!, hint: apiKeyHint(apiKey) };
}

/** Issues a key to a partner. Throws `OperatorError`. */
export async function issueKey(
  context: OperatorContext,
  partnerId: PartnerId,
  settings: KeySettings,
): Promise<IssuedKey> {
  checkCap(settings.dailyCap);
  const { apiKey, text } = makeKey(context.vault, settings.environment);
  const key = await insertKey(context.database, context.vault, partnerId, text, settings);
  if (key !== null) return { apiKey, key };
  await requirePartner(context, partnerId);
  throw new OperatorError(
    `partner ${partnerId} is closed: it gets no key (partner reopen ${partnerId})`,
    'closed',
  );
}

/** The most live keys of a partner that issues them by itself. */
const MOST_OWN_KEYS = 20;

/**
 * Issues a key that a partner makes for itself (D54): it has the cap, the language and the brand of a live key of the
 * partner, and its environment or one of its two. So it allows no more. Throws `OperatorError`.
 */
export async function issueKeyLike(
  context: OperatorContext,
  partnerId: PartnerId,
  { like, environment }: { readonly like: KeyId; readonly environment?: Environment | undefined },
): Promise<IssuedKey> {
  const { status, language, dailyCap, brand, ...key } = await requireKey(context, like, partnerId);
  if (status !== 'live') throw new OperatorError(`key ${like} is ${status}: name a live one`, 'key_ended');
  if (environment !== undefined && key.environment !== null && key.environment !== environment)
    throw new OperatorError(`key ${like} is for ${key.environment} alone`);
  // Two requests at the same moment count each other's key.
  await inTransaction(context.database, (session) => holdOpenPartner(session, partnerId));
  const keys = await readKeys(context.database, context.vault, partnerId);
  if (keys.filter((one) => one.status === 'live').length >= MOST_OWN_KEYS)
    throw new OperatorError(`there are ${MOST_OWN_KEYS} live keys, which is the most`, 'too_many');
  const settings = { environment: environment ?? key.environment, language, dailyCap, brand };
  return issueKey(context, partnerId, settings);
}

/** The keys of a partner, or of all partners, newest first; dead keys too. Throws `OperatorError`. */
export async function listKeys(context: OperatorContext, partnerId?: PartnerId): Promise<ApiKey[]> {
  if (partnerId !== undefined) await requirePartner(context, partnerId);
  return readKeys(context.database, context.vault, partnerId ?? null);
}

/**
 * The hours of the last 30 days in which applications or requests of a key were refused, newest first: of all keys,
 * of a partner's keys or of one key. Throws `OperatorError`.
 */
export async function listRefusals(
  context: OperatorContext,
  { partnerId, keyId }: { readonly partnerId?: PartnerId | undefined; readonly keyId?: KeyId | undefined },
): Promise<AsyncGenerator<KeyRefusals, void, undefined>> {
  if (partnerId !== undefined) await requirePartner(context, partnerId);
  if (keyId !== undefined) await requireKey(context, keyId);
  return readKeyRefusals(context.database, { partnerId, keyId });
}

/** Revokes a key from the next request on. Throws `OperatorError`, also if the key is revoked already. */
export async function revokeKey(context: OperatorContext, id: KeyId): Promise<ApiKey> {
  const revoked = await revokeStoredKey(context.database, context.vault, id);
  if (revoked !== null) return revoked;
  await requireKey(context, id);
  throw new OperatorError(`key ${id} was revoked before`, 'key_revoked');
}

/** `replaced` stays valid together with the new key until `expiresAt`. */
interface RotatedKey extends IssuedKey {
  readonly replaced: { readonly id: KeyId; readonly expiresAt: Date };
}

/**
 * Issues a successor with the same partner, environment, language, cap and brand. The old key stays valid for
 * `overlapMs` milliseconds, but no longer than an earlier rotation allowed. Throws `OperatorError`, also if the key
 * is revoked or expired.
 */
export async function rotateKey(context: OperatorContext, id: KeyId, overlapMs: number): Promise<RotatedKey> {
  const { environment } = await requireKey(context, id);
  const { apiKey, text } = makeKey(context.vault, environment);
  const rotated = await rotateStoredKey(context.database, context.vault, id, text, overlapMs);
  if (rotated !== null) {
    return { apiKey, key: rotated.key, replaced: { id, expiresAt: rotated.oldExpiresAt } };
  }
  const { status } = await requireKey(context, id);
  throw new OperatorError(`key ${id} is ${status}: it cannot be rotated, issue a new one`, 'key_ended');
}

/** Gives a key another daily cap, or none (null), from the next request on. Throws `OperatorError`. */
export async function setDailyCap(
  context: OperatorContext,
  id: KeyId,
  dailyCap: number | null,
): Promise<ApiKey> {
  checkCap(dailyCap);
  const key = await setKeyCap(context.database, context.vault, id, dailyCap);
  if (key === null) throw noKey(id);
  if (key !== 'forged') return key;
  throw new OperatorError(
    `key ${id} was changed in the database by somebody without the keys of this service, and nobody gets in with it: revoke it, and issue another one`,
    'key_forged',
  );
}

/**
 * How long an old key stays valid, in milliseconds: reads `30m`, `24h`, `7d` or `0` (not at all), at most 30 days.
 * Throws `OperatorError`.
 */
export function readOverlap(text: string): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text.trim()) ?? [];
  const ms = text.trim() === '0' ? 0 : Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
  if (!(ms <= MAX_OVERLAP_MS)) {
    throw new OperatorError('the overlap must be a time such as 30m, 24h or 7d, at most 30d, or 0 for none');
  }
  return ms;
}

/** A daily cap from an operator's text. Throws `OperatorError`. */
export function readDailyCap(text: string): number {
  const cap = /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  checkCap(cap);
  return cap;
}

function checkCap(dailyCap: number | null): void {
  if (dailyCap !== null && !(Number.isInteger(dailyCap) && dailyCap >= 0 && dailyCap <= MAX_CAP)) {
    throw new OperatorError(`the daily cap must be a whole number from 0 to ${MAX_CAP}`);
  }
}

/**
 * The key with this id, or with this id of this partner. Throws `OperatorError` if there is none.
 */
export async function requireKey(
  { database, vault }: Pick<OperatorContext, 'database' | 'vault'>,
  id: KeyId,
  partnerId?: PartnerId,
): Promise<ApiKey> {
  const key = await readKey(database, vault, id);
  if (key === null || (partnerId !== undefined && key.partner.id !== partnerId)) throw noKey(id);
  return key;
}

function noKey(id: KeyId): OperatorError {
  return new OperatorError(`there is no key ${id}`, 'not_found');
}
