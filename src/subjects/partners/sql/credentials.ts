/**
 * Finds the credential of an API key: read at every request, never cached (D2, D21). Reads `api_keys` and `partners`;
 * writes a digest with a newer pepper. Why: docs/decisions/0002-the-key-is-looked-up-at-every-request.md.
 */
import { type Brand, templateNames } from '../../../domain/partner/brand.ts';
import type { Credential, KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import type { LanguageSetting } from '../../../ground/base/language.ts';
import { UnavailableError } from '../../../ground/base/registration-failure.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { Gathering } from '../../../ground/postgres/gathering.ts';
import { requireIndexKey } from '../../../seal/index-key.ts';
import type { Vault } from '../../../seal/vault.ts';
import { isOwnKey, KEY_FACTS, type KeyFacts, keyMac } from './key-macs.ts';

/**
 * One lane: with two, fewer look-ups share a statement, and a request costs PostgreSQL a fifth more (bench, 1 each).
 */
const LANES = 1;
const MAX_TOGETHER = 500;
const MAX_WAITING = 5_000;

/** Reads only the templates of the brand, because its texts are long. Finds dead keys too. */
const READ = `
  SELECT ${KEY_FACTS}, k.language, k.brand -> 'templates' AS templates, k.brand -> 'rejected_reasons' AS "rejectedReasons", p.name, p.country,
    k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AS "isLive"
  FROM api_keys k JOIN partners p ON p.id = k.partner_id`;
/** Served by the unique index on digest. The use of dead keys is counted. */
const FIND = `${READ} WHERE k.digest = ANY ($1)`;
/** Served by the primary key. */
const FIND_OWN = `${READ} WHERE k.id = $1 AND k.partner_id = $2`;

interface Row extends KeyFacts {
  mac: Buffer;
  language: LanguageSetting;
  templates: Brand['templates'] | null;
  rejectedReasons: boolean | null;
  name: string;
  country: Country;
  isLive: boolean;
}

/** A key at the time of reading. */
export interface FoundKey {
  readonly credential: Credential;
  /** False after the key is revoked or has expired. */
  readonly isLive: boolean;
  /** The row. */
  readonly facts: KeyFacts & { readonly mac: Buffer };
}

/** Does not overwrite what a command has changed meanwhile. */
const HASH_AGAIN = 'UPDATE api_keys SET digest = $3, pepper = $4, mac = $5 WHERE id = $1 AND mac = $2';

interface Lookup {
  readonly digest: Buffer;
  resolve(found: FoundKey | null): void;
  reject(error: Error): void;
}

export class Credentials {
  readonly #database: Database;
  readonly #vault: Vault;
  readonly #gathering: Gathering<Lookup>;
  readonly #hashing = new Set<KeyId>();

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
    this.#gathering = new Gathering<Lookup>({
      lanes: LANES,
      maxWaiting: MAX_WAITING,
      take: (waiting) => waiting.splice(0, MAX_TOGETHER),
      run: (lookups) => this.#run(lookups),
    });
  }

  /**
   * The key with this digest, read after the call; null if there is none that this service has written. Look-ups that
   * wait at the same moment share a statement. Throws `UnavailableError`.
   */
  find(digest: Buffer): Promise<FoundKey | null> {
    return new Promise((resolve, reject) => {
      if (!this.#gathering.add({ digest, resolve, reject })) {
        reject(new UnavailableError('too many requests are waiting'));
      }
    });
  }

  /**
   * Replaces the digest of a key by one with another pepper, once at a time for each key. Nobody waits for it: if it
   * fails, the next use of the key tries again.
   */
  hashAgain({ facts }: FoundKey, to: { readonly digest: Buffer; readonly pepper: string }): void {
    const { id, mac } = facts;
    if (this.#hashing.has(id)) return;
    this.#hashing.add(id);
    const newMac = keyMac(this.#vault, { ...facts, digest: to.digest });
    this.#database
      .query(HASH_AGAIN, [id, mac, to.digest, to.pepper, newMac])
      .catch(() => {})
      .finally(() => this.#hashing.delete(id));
  }

  async #run(lookups: Lookup[]): Promise<void> {
    try {
      const { rows } = await this.#database.query<Row>({
        name: 'find_credentials',
        text: FIND,
        values: [[...new Set(lookups.map(({ digest }) => digest))]],
      });
      const own = rows.filter((row) => isOwnKey(this.#vault, row));
      // A process that a `vault reindex` has passed by cannot check a MAC, so it must not call a key unknown.
      if (own.length < rows.length) await requireIndexKey(this.#database, this.#vault);
      const found = new Map(own.map((row) => [row.digest.toString('hex'), foundKeyOf(row)]));
      for (const { digest, resolve } of lookups) resolve(found.get(digest.toString('hex')) ?? null);
    } catch (error) {
      const reason = new UnavailableError('the key could not be looked up', { cause: error });
      for (const { reject } of lookups) reject(reason);
    }
  }
}

/**
 * The key of this partner with this id, at the time of reading; null if there is none that this service has written.
 */
export async function findOwnKey(
  database: Database,
  vault: Vault,
  { partnerId, keyId }: { readonly partnerId: PartnerId; readonly keyId: KeyId },
): Promise<FoundKey | null> {
  const { rows } = await database.query<Row>(FIND_OWN, [keyId, partnerId]);
  const [row] = rows;
  if (row === undefined) return null;
  if (isOwnKey(vault, row)) return foundKeyOf(row);
  await requireIndexKey(database, vault);
  return null;
}

function foundKeyOf(row: Row): FoundKey {
  const credential: Credential = {
    keyId: row.id,
    environment: row.environment,
    language: row.language,
    dailyCap: row.dailyCap,
    templates: templateNames(row.templates ?? undefined),
    ...(row.rejectedReasons !== null && { rejectedReasons: row.rejectedReasons }),
    partner: { id: row.partnerId, name: row.name, country: row.country },
  };
  return { credential, isLive: row.isLive, facts: row };
}
