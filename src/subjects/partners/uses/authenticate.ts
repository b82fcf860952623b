/**
 * Finds the partner's credential for an API key, and refuses a key of the other environment (contract,
 * "Authentication"; D2, D20, D21). `sql/credentials.ts` reads the store.
 */
import type { Credential, Environment, KeyId, PartnerId } from '../../../domain/partner/credential.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { isApiKey } from '../rules/api-key.ts';
import { type Credentials, type FoundKey, findOwnKey } from '../sql/credentials.ts';

/** The key is live, but for the other environment (D20). */
export class OtherEnvironmentError extends Error {
  /** The environment that the key is for. */
  readonly environment: Environment;
  constructor(environment: Environment) {
    super(`the key is for ${environment}`);
    this.environment = environment;
  }
}

export type Authenticate = (
  apiKey: string | undefined,
  environment: Environment,
) => Promise<Credential | null>;

/**
 * Gives the credential of a live key that may be used on the environment. Throws `OtherEnvironmentError` for a key of
 * the other environment; null for any other key. `onRefused` is called with a known key that is refused.
 */
export function authenticator(
  vault: Vault,
  credentials: Credentials,
  onRefused: (keyId: KeyId) => void,
): Authenticate {
  return async (apiKey, environment) => {
    if (apiKey === undefined || !isApiKey(apiKey)) return null;
    const found = await findKey(vault, credentials, apiKey);
    if (found === null) return null;
    const { credential, isLive } = found;
    const isFor = credential.environment ?? environment;
    if (isLive && isFor === environment) return credential;
    onRefused(credential.keyId);
    if (isLive) throw new OtherEnvironmentError(isFor);
    return null;
  };
}

/**
 * The credential of a partner's own key, which somebody signed in for that partner names by its id instead of its text.
 * Throws `OperatorError`: `not_found`, `key_ended`, or `other_environment` for a key of the other environment.
 */
export async function chosenKey(
  { database, vault }: Pick<OperatorContext, 'database' | 'vault'>,
  key: { readonly partnerId: PartnerId; readonly keyId: KeyId },
  environment: Environment,
): Promise<Credential> {
  const found = await findOwnKey(database, vault, key);
  if (found === null) throw new OperatorError(`there is no key ${key.keyId}`, 'not_found');
  const { credential, isLive } = found;
  if (!isLive) throw endedKey(key.keyId);
  if (credential.environment === null || credential.environment === environment) return credential;
  throw new OperatorError(`key ${key.keyId} is for ${credential.environment} alone`, 'other_environment');
}

/** The refusal of a key that is revoked or expired. */
export function endedKey(keyId: KeyId): OperatorError {
  return new OperatorError(`key ${keyId} is revoked or expired: choose a live one`, 'key_ended');
}

/** A key that was hashed with an older pepper is hashed again, so that the older pepper can be removed some day. */
async function findKey(vault: Vault, credentials: Credentials, apiKey: string): Promise<FoundKey | null> {
  const digest = vault.apiKeyDigest(apiKey);
  const found = await credentials.find(digest);
  if (found !== null) return found;
  for (const older of vault.olderApiKeyDigests(apiKey)) {
    const known = await credentials.find(older);
    if (known === null) continue;
    credentials.hashAgain(known, { digest, pepper: vault.pepperIds[0]! });
    return known;
  }
  return null;
}
