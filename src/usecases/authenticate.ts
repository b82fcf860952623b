/** Finds out whose key was presented (contract, "Authentication"; D2, D20, D21). */
import { isApiKey } from '../domain/api-key.ts';
import type { Credential, Environment } from '../domain/credential.ts';
import type { Credentials } from '../storage/credentials.ts';
import type { Vault } from '../storage/vault.ts';

export type Authenticate = (
  apiKey: string | undefined,
  environment: Environment,
) => Promise<Credential | null>;

/** The credential of a live key that may be used on the environment; null for any other. */
export function authenticator(vault: Vault, credentials: Credentials): Authenticate {
  return async (apiKey, environment) => {
    if (apiKey === undefined || !isApiKey(apiKey)) return null;
    const credential = await credentials.find(vault.apiKeyDigest(apiKey));
    const matches = credential !== null && (credential.environment ?? environment) === environment;
    return matches ? credential : null;
  };
}
