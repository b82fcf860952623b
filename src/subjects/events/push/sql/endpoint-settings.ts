/** Seals and opens the URL and the signing secrets of an endpoint (D41). */

import type { PartnerId } from '../../../../domain/partner/credential.ts';
import { UnknownDataKeyError } from '../../../../ground/base/unknown-data-key.ts';
import type { Database } from '../../../../ground/postgres/database.ts';
import type { Vault } from '../../../../seal/vault.ts';
import type { Opening, ResealStep, SealedKind, SealedRows, SealedSearch } from '../../../../seal/witness.ts';

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
async function* sealedEndpoints({ keyByte, rows }: SealedSearch): AsyncGenerator<Opening, void, undefined> {
  for (const { partner_id, sealed } of await rows<{ partner_id: PartnerId; sealed: Buffer }>(SEALED, [
    keyByte,
  ])) {
    yield (vault) => vault.open(sealed, endpointIdentity(partner_id));
  }
}

interface SealedEndpoint {
  readonly partner_id: PartnerId;
  readonly sealed: Buffer;
}

/** One row a partner that asked for pushes. */
const ALL = 'SELECT partner_id, sealed FROM partner_endpoints WHERE substring(sealed FROM 1 FOR 1) = $1';

async function endpointsOf(database: Database, vault: Vault, keyId: number): Promise<SealedRows> {
  const { rows } = await database.query<SealedEndpoint>(ALL, [Buffer.of(keyId)]);
  const damaged = vault.hasDataKey(keyId) ? rows.filter((row) => resealed(vault, row) === null).length : 0;
  return { needing: rows.length - damaged, damaged };
}

const OTHERS = `
  SELECT partner_id, sealed FROM partner_endpoints
  WHERE partner_id > $1 AND substring(sealed FROM 1 FOR 1) <> $2 ORDER BY partner_id LIMIT 100`;
const RESEAL =
  'UPDATE partner_endpoints SET sealed = $2 WHERE partner_id = $1 AND sealed = $3 AND may_seal($4)';

async function resealEndpoints(database: Database, vault: Vault, from: string): Promise<ResealStep> {
  const { id } = vault.sealingKey;
  const { rows } = await database.query<SealedEndpoint>(OTHERS, [Number(from), Buffer.of(id)]);
  let [done, unopened] = [0, 0];
  for (const row of rows) {
    const again = resealed(vault, row);
    if (again === null) unopened += 1;
    else done += (await database.query(RESEAL, [row.partner_id, again, row.sealed, id])).rowCount ?? 0;
  }
  return { next: rows.at(-1)?.partner_id.toString() ?? null, resealed: done, unopened, applications: done };
}

function resealed(vault: Vault, { partner_id, sealed }: SealedEndpoint): Buffer | null {
  try {
    return vault.reseal(sealed, endpointIdentity(partner_id));
  } catch {
    return null;
  }
}

/** The settings of endpoints. */
export const ENDPOINTS: SealedKind = {
  name: 'endpoints',
  find: sealedEndpoints,
  rowsOf: endpointsOf,
  reseal: resealEndpoints,
};

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
