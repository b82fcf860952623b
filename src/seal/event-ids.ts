/**
 * Makes and reads the ids of partner events, which are also the cursors of the feed. Nobody else can make one (D41).
 * Pure.
 */
import type { EventId } from '../domain/event/event.ts';
import type { PartnerId } from '../domain/partner/credential.ts';
import { numberIn, type TokenScope, tokenOf } from './numbered-tokens.ts';
import type { Vault } from './vault.ts';

const scopeOf = (partnerId: PartnerId): TokenScope => ({
  kind: 'event',
  prefix: 'evt_',
  scope: `${partnerId}`,
});

/**
 * The id of a partner's event with this number. The id is also the cursor that continues after the event. The number 0
 * gives the cursor of the beginning.
 */
export function eventIdOf(vault: Vault, partnerId: PartnerId, number: number): EventId {
  return tokenOf(vault, scopeOf(partnerId), number) as EventId;
}

/** The number in an id that `eventIdOf` made for this partner; null for any other text. */
export function eventNumberOf(vault: Vault, partnerId: PartnerId, text: string): number | null {
  return numberIn(vault, scopeOf(partnerId), text);
}
