/** Makes a partner at the first start, so that the service can be tried at once. */
import { insertFirstPartner } from '../storage/partners.ts';
import { makeKey } from './keys.ts';
import type { OperatorContext } from './operator-context.ts';

const DEMO = { name: 'Demo', country: 'CO' } as const;

/**
 * If the store has no partner: makes one named Demo with a key for both environments and no cap, and returns the
 * key's text, which is stored nowhere. Otherwise returns null. If several processes start at once, one of them makes
 * the partner.
 */
export async function ensureDemoPartner(context: OperatorContext): Promise<{ apiKey: string } | null> {
  const { apiKey, text } = makeKey(context.vault, null);
  return (await insertFirstPartner(context.database, DEMO, text)) ? { apiKey } : null;
}
