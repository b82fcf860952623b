/** Finds out whose key was presented (contract, "Authentication"; D2, D20, D21). */
import { isApiKey } from '../domain/partner/api-key.ts';
import type { Credential, Environment } from '../domain/partner/credential.ts';
import type { Credentials } from '../storage/credentials.ts';
import type { Vault } from '../storage/vault.ts';

export type Authenticate = (
  apiKey: string | undefined,
  environment: Environment,
) => Promise<Credential | null>;

/**
 * The credential of a live key that may be used on the environment; null for any other. `onRefused` hears of a known key
 * that is not live or not for the environment; the caller is not told what it was.
 */
export function authenticator(
  vault: Vault,
  credentials: Credentials,
  onRefused: (keyId: number) => void,
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
