/** Makes the first start usable: a partner to try things with. */
import { insertFirstPartner } from '../storage/partners.ts';
import { makeKey } from './keys.ts';
import type { OperatorContext } from './operator-context.ts';

const DEMO = { name: 'Demo', country: 'CO' } as const;

/**
 * Where the store has no partner at all: makes one named Demo with a key for both environments and without
 * cap, and gives that key, which cannot be had again. null otherwise. Of several processes at once one makes
 * it.
 */
export async function ensureDemoPartner(context: OperatorContext): Promise<{ apiKey: string } | null> {
  const { apiKey, text } = makeKey(context.vault, null);
  return (await insertFirstPartner(context.database, DEMO, text)) ? { apiKey } : null;
}
