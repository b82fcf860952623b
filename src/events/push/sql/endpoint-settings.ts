/** Seals and opens the URL and the signing secrets of an endpoint (D41). */
import { UnknownDataKeyError } from '../../../base/unknown-data-key.ts';
import type { PartnerId } from '../../../partners/rules/credential.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { Opening, SealedSearch } from '../../../seal/witness.ts';

/** The sealed part of an endpoint. */
export interface EndpointSettings {
  readonly url: string;
  readonly secret: string;
  /** The secret from before the last rotation; null if there was none. */
  readonly previousSecret: string | null;
}

/** What a push needs of its endpoint: the URL, and the secrets that sign now. */
export interface PushTarget {
  readonly url: URL;
  readonly secrets: readonly string[];
}

/** The target of a push. The present secret signs first. */
export function targetOf({ url, secret, previousSecret }: EndpointSettings, overlapMs: number): PushTarget {
  const isOverlapping = previousSecret !== null && overlapMs > 0;
  return { url: new URL(url), secrets: isOverlapping ? [secret, previousSecret] : [secret] };
}

/** The identity that an endpoint is sealed under. */
function endpointIdentity(partnerId: PartnerId): string {
  return `endpoint ${partnerId}`;
}

const SEALED = `
  SELECT partner_id, sealed FROM partner_endpoints WHERE substring(sealed FROM 1 FOR 1) = $1 LIMIT 3`;

/** Endpoints that a data key has sealed: evidence of the key. */
export async function* sealedEndpoints({
  keyByte,
  rows,
}: SealedSearch): AsyncGenerator<Opening, void, undefined> {
  for (const { partner_id, sealed } of await rows<{ partner_id: PartnerId; sealed: Buffer }>(SEALED, [
    keyByte,
  ])) {
    yield (vault) => vault.open(sealed, endpointIdentity(partner_id));
  }
}

/** Seals settings for the row of a partner. */
export function sealSettings(vault: Vault, partnerId: PartnerId, settings: EndpointSettings): Buffer {
  return vault.seal(JSON.stringify(settings), endpointIdentity(partnerId));
}

/**
 * Opens the settings in the row of a partner; null where they are damaged. Throws `UnknownDataKeyError` if this process
 * does not have their data key: the caller must not replace them, because the partner has the secret that they hold.
 */
export function openSettings(vault: Vault, partnerId: PartnerId, sealed: Buffer): EndpointSettings | null {
  try {
    return JSON.parse(vault.open(sealed, endpointIdentity(partnerId)).toString('utf8'));
  } catch (error) {
    if (error instanceof UnknownDataKeyError) throw error;
    return null;
  }
}
