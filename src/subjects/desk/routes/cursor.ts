/** The cursor of a page of the queue: where the page before ended. Opaque to browsers. */
import { createHash } from 'node:crypto';
import type { QueueOrder, QueuePlace } from '../rules/queue.ts';

const CHECK_BYTES = 9;

/** The text of a place in an order. */
export function cursorOf(order: QueueOrder, { key, id }: QueuePlace): string {
  const content = Buffer.from(JSON.stringify([order, key, id]));
  return Buffer.concat([checkOf(content), content]).toString('base64url');
}

/**
 * The place that a cursor of this order tells; null where it was changed, or is one of another order. Who makes a
 * cursor of their own sees no more than the queue.
 */
export function placeOf(order: QueueOrder, cursor: string): QueuePlace | null {
  const bytes = Buffer.from(cursor, 'base64url');
  const [check, content] = [bytes.subarray(0, CHECK_BYTES), bytes.subarray(CHECK_BYTES)];
  if (bytes.toString('base64url') !== cursor || !checkOf(content).equals(check)) return null;
  const [ofOrder, key, id] = readList(content.toString());
  const isPlace = Number.isSafeInteger(id) && (key === null ? order === 'due' : isKey(order, key));
  return ofOrder === order && isPlace ? { id: id as number, key: key as number | null } : null;
}

function checkOf(content: Buffer): Buffer {
  return createHash('sha256').update(content).digest().subarray(0, CHECK_BYTES);
}

function readList(text: string): unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

/** Scores and amounts may have a fraction; the other keys are whole, and the store's times reach no further. */
function isKey(order: QueueOrder, key: unknown): boolean {
  return order === 'score' || order === 'amount' ? Number.isFinite(key) : Number.isSafeInteger(key);
}
