/** Finds the partner's credential for an API key (contract, "Authentication"; D2, D20, D21). */

import type { Vault } from '../../seal/vault.ts';
import { isApiKey } from '../rules/api-key.ts';
import type { Credential, Environment, KeyId } from '../rules/credential.ts';
import type { Credentials } from '../sql/credentials.ts';

export type Authenticate = (
  apiKey: string | undefined,
  environment: Environment,
) => Promise<Credential | null>;

/**
 * Gives the credential of a live key that may be used on the environment; null for any other key. `onRefused` is
 * called with a known key that is dead or of the other environment; the client does not learn the difference.
 */
export function authenticator(
  vault: Vault,
  credentials: Credentials,
  onRefused: (keyId: KeyId) => void,
): Authenticate {
  return async (apiKey, environment) => {
    if (apiKey === undefined || !isApiKey(apiKey)) return null;
    const found = await credentials.find(vault.apiKeyDigest(apiKey));
    if (found === null) return null;
    const { credential, isLive } = found;
    if (isLive && (credential.environment ?? environment) === environment) return credential;
    onRefused(credential.keyId);
    return null;
  };
}
