/** How the pushes to a partner stand, as the partner sees it (D41, D54, docs/portal.md). Reads the store. */
import type { PartnerId } from '../../../../domain/partner/credential.ts';
import type { Database } from '../../../../ground/postgres/database.ts';
import { eventIdOf } from '../../../../seal/event-ids.ts';
import type { Vault } from '../../../../seal/vault.ts';
import { readEndpoint } from '../sql/endpoints.ts';
import { readFirstPushes } from '../sql/queue.ts';

const MOST_PUSHES = 50;

/** The endpoint without its path and secrets, and the first events that wait. */
export async function deliveriesOf(
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  partnerId: PartnerId,
) {
  const endpoint = await readEndpoint(database, vault, partnerId);
  const pushes = await readFirstPushes(database, partnerId, MOST_PUSHES);
  const settings = endpoint?.settings;
  const host = settings == null || settings === 'unknown_key' ? null : new URL(settings.url).host;
  return {
    endpoint: endpoint && { ...endpoint, host },
    pushes: pushes.map(({ number, ...push }) => ({ ...push, eventId: eventIdOf(vault, partnerId, number) })),
  };
}
