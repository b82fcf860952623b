/**
 * Makes and reads the ids of partner events, which are also the cursors of the feed. Nobody else can make one (D41).
 * Pure.
 */
import { timingSafeEqual } from 'node:crypto';
import type { EventId } from '../domain/event/event.ts';
import type { PartnerId } from '../domain/partner/credential.ts';
import type { Vault } from './vault.ts';

/** Layout of an event's id after its prefix, in base64url: the number (8 bytes, big-endian), authentication (12). */
const EVENT_ID = /^evt_[A-Za-z0-9_-]{27}$/;
const EVENT_NUMBER_BYTES = 8;
const EVENT_TAG_HEX_DIGITS = 24;

/**
 * The id of a partner's event with this number. The id is also the cursor that continues after the event. The number 0
 * gives the cursor of the beginning.
 */
export function eventIdOf(vault: Vault, partnerId: PartnerId, number: number): EventId {
  const bytes = Buffer.alloc(EVENT_NUMBER_BYTES + EVENT_TAG_HEX_DIGITS / 2);
  bytes.writeBigUInt64BE(BigInt(number));
  bytes.write(vault.blindIndex('event', `${partnerId}:${number}`), EVENT_NUMBER_BYTES, 'hex');
  return `evt_${bytes.toString('base64url')}` as EventId;
}

/** The number in an id that `eventIdOf` made for this partner; null for any other text. */
export function eventNumberOf(vault: Vault, partnerId: PartnerId, text: string): number | null {
  if (!EVENT_ID.test(text)) return null;
  const number = Number(Buffer.from(text.slice(4), 'base64url').readBigUInt64BE());
  if (!Number.isSafeInteger(number)) return null;
  // In constant time, because the time of another comparison would help to forge an id byte by byte.
  return timingSafeEqual(Buffer.from(text), Buffer.from(eventIdOf(vault, partnerId, number))) ? number : null;
}
