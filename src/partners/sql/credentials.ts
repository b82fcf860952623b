/** Finds the credential of an API key: read at every request, never cached (D2, D21). */

import type { Country } from '../../base/country-data.ts';
import type { LanguageSetting } from '../../base/language.ts';
import { UnavailableError } from '../../base/registration-failure.ts';
import type { Database } from '../../postgres/database.ts';
import { Gathering } from '../../postgres/gathering.ts';
import { type Brand, templateNames } from '../rules/brand.ts';
import type { Credential, Environment, KeyId, PartnerId } from '../rules/credential.ts';

/**
 * One lane: with two, fewer look-ups share a statement, and a request costs PostgreSQL a fifth more (bench, 1 each).
 */
const LANES = 1;
const MAX_TOGETHER = 500;
const MAX_WAITING = 5_000;

/**
 * Served by the unique index on digest. Reads only the templates of the brand, because its texts are long. Finds dead
 * keys too, so that their use is counted.
 */
const FIND = `
  SELECT encode(k.digest, 'hex') AS digest, k.id, k.environment, k.language, k.daily_cap,
    k.brand -> 'templates' AS templates, p.id AS partner_id, p.name, p.country,
    k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now()) AS is_live
  FROM api_keys k JOIN partners p ON p.id = k.partner_id
  WHERE k.digest = ANY ($1)`;

interface Row {
  digest: string;
  id: KeyId;
  environment: Environment | null;
  language: LanguageSetting;
  daily_cap: number | null;
  templates: Brand['templates'] | null;
  partner_id: PartnerId;
  name: string;
  country: Country;
  is_live: boolean;
}

/** A key at the time of reading. */
export interface FoundKey {
  readonly credential: Credential;
  /** False after the key is revoked or has expired. */
  readonly isLive: boolean;
}

const HASH_AGAIN = 'UPDATE api_keys SET digest = $3, pepper = $4 WHERE id = $1 AND digest = $2';

interface Lookup {
  readonly digest: Buffer;
  resolve(found: FoundKey | null): void;
  reject(error: Error): void;
}

export class Credentials {
  readonly #database: Database;
  readonly #gathering: Gathering<Lookup>;
  readonly #hashing = new Set<KeyId>();

  constructor(database: Database) {
    this.#database = database;
    this.#gathering = new Gathering<Lookup>({
      lanes: LANES,
      maxWaiting: MAX_WAITING,
      take: (waiting) => waiting.splice(0, MAX_TOGETHER),
      run: (lookups) => this.#run(lookups),
    });
  }

  /**
   * The key with this digest, at a time after the call; null if there is none. Look-ups that wait at the same moment
   * share a statement. Throws `UnavailableError`.
   */
  find(digest: Buffer): Promise<FoundKey | null> {
    return new Promise((resolve, reject) => {
      if (!this.#gathering.add({ digest, resolve, reject })) {
        reject(new UnavailableError('too many requests are waiting'));
      }
    });
  }

  /**
   * Replaces the digest of a key by one with another pepper, once at a time for each key. Nobody waits for it: where it
   * fails, the next use of the key tries again.
   */
  hashAgain(keyId: KeyId, from: Buffer, to: { readonly digest: Buffer; readonly pepper: string }): void {
    if (this.#hashing.has(keyId)) return;
    this.#hashing.add(keyId);
    this.#database
      .query(HASH_AGAIN, [keyId, from, to.digest, to.pepper])
      .catch(() => {})
      .finally(() => this.#hashing.delete(keyId));
  }

  async #run(lookups: Lookup[]): Promise<void> {
    try {
      const { rows } = await this.#database.query<Row>({
        name: 'find_credentials',
        text: FIND,
        values: [[...new Set(lookups.map(({ digest }) => digest))]],
      });
      const found = new Map(rows.map((row) => [row.digest, foundKeyOf(row)]));
      for (const { digest, resolve } of lookups) resolve(found.get(digest.toString('hex')) ?? null);
    } catch (error) {
      const reason = new UnavailableError('the key could not be looked up', { cause: error });
      for (const { reject } of lookups) reject(reason);
    }
  }
}

function foundKeyOf(row: Row): FoundKey {
  const credential: Credential = {
    keyId: row.id,
    environment: row.environment,
    language: row.language,
    dailyCap: row.daily_cap,
    templates: templateNames(row.templates ?? undefined),
    partner: { id: row.partner_id, name: row.name, country: row.country },
  };
  return { credential, isLive: row.is_live };
}
