/**
 * Seals and opens the URL and the signing secrets of an endpoint, and says which secrets sign now (D41; docs/events.md,
 * "Push"). Pure.
 */
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import { UnknownDataKeyError } from '../../../../ground/base/registration-failure.ts';
import type { Vault } from '../../../../seal/vault.ts';

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
export function endpointIdentity(partnerId: PartnerId | string): string {
  return `endpoint ${partnerId}`;
}

/** Seals settings for the row of a partner. */
export function sealSettings(vault: Vault, partnerId: PartnerId, settings: EndpointSettings): Buffer {
  return vault.seal(JSON.stringify(settings), endpointIdentity(partnerId));
}

/**
 * Opens the settings in the row of a partner; null if they are damaged. Throws `UnknownDataKeyError` if this process
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
