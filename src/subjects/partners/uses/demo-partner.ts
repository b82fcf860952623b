/**
 * Makes a partner at the first start, so that the service can be tried at once (README.md, "Two commands"). Writes the
 * store through `sql/partners.ts`. Why not elsewhere: docs/decisions/0005-no-demo-partner-on-a-server-of-your-own.md.
 */
import type { Database } from '../../../ground/postgres/database.ts';
import type { Patience } from '../../../ground/postgres/patience.ts';
import type { Vault } from '../../../seal/vault.ts';
import { insertFirstPartner } from '../sql/partners.ts';
import { makeKey } from './keys.ts';

const DEMO = { name: 'Demo', country: 'CO' } as const;

/**
 * If the store has no partner: makes one named Demo with a key for both environments and no cap, and returns the
 * key's text, which is stored nowhere. Otherwise returns null. If several processes start at once, one of them makes
 * the partner.
 */
export async function ensureDemoPartner(
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  patience: Patience,
): Promise<{ apiKey: string } | null> {
  const { apiKey, text } = makeKey(vault, null);
  return (await patience.run(() => insertFirstPartner(database, vault, DEMO, text))) ? { apiKey } : null;
}
