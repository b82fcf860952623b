/**
 * The written form of an erasure, as JSON without personal data: for a list outside of the store, and beside the
 * backups (docs/backup.md). Pure; this file is the home of the form.
 */
import { toApplicationId } from '../../../domain/application/ids.ts';
import { named } from '../../../ground/base/named.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import { fromBigint, toBigint } from '../../../seal/blind-indexes.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { Erasure } from '../sql/erasures.ts';

/** An erasure without personal data. Its phones are blind indexes by a key of INDEX_KEY, which a fingerprint names. */
export interface WrittenErasure extends Omit<Erasure, 'phones'> {
  readonly indexKeyId: string;
  /** Each has 16 hex digits. */
  readonly phones: readonly string[];
}

/** An erasure of the store as JSON. */
export function erasureJson({ indexKeyId: indexKey }: Vault, erasure: Erasure) {
  const phones = erasure.phones.map((phone) => fromBigint<'phone'>(phone));
  const names = ['id at', { applications: 'id seal_id' }, 'index_key phones'] as const;
  return named({ ...erasure, indexKey, phones }, names, (time) => time.toISOString());
}

/**
 * The phones as the store has them. Null if they were made with a newer key than the vault has, or with a key of
 * another list.
 */
export function phonesInStore(vault: Vault, { indexKeyId, phones }: WrittenErasure): string[] | null {
  const origin = vault.indexOrigins.get(indexKeyId);
  if (origin === undefined) return null;
  return phones.map((phone) =>
    toBigint(vault.indexAgain(phone, origin.key) as Parameters<typeof toBigint>[0]),
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const FINGERPRINT = /^[0-9a-f]{32}$/;
const INDEX = /^[0-9a-f]{16}$/;

/** Reads an erasure from its JSON. Throws `OperatorError` if the value is no erasure. */
export function readErasure(value: unknown): WrittenErasure {
  const { id, at, applications, index_key: key, phones } = Object(value) as Record<string, unknown>;
  const time = new Date(String(at));
  const isErasure = matches(id, UUID) && matches(key, FINGERPRINT) && !Number.isNaN(time.getTime());
  if (!isErasure || !Array.isArray(applications) || !Array.isArray(phones) || !phones.every(isIndex)) {
    throw new OperatorError(
      'the list holds something else than erasures: it must be what subject erasures printed',
    );
  }
  return {
    id,
    at: time,
    indexKeyId: key,
    phones,
    applications: applications.map((one) => readApplication(one, id)),
  };
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

function isIndex(value: unknown): value is string {
  return matches(value, INDEX);
}

function readApplication(value: unknown, erasure: string) {
  const { id, seal_id: sealId } = Object(value) as Record<string, unknown>;
  if (!Number.isSafeInteger(id) || !matches(sealId, UUID)) {
    throw new OperatorError(`erasure ${erasure} of the list has an application without id and seal_id`);
  }
  return { id: toApplicationId(id as number), sealId };
}
