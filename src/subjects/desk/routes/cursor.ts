/**
 * The cursor of a page, which tells where the page before ended. Browsers need not understand it. Pure. Somebody who
 * makes one by hand sees nothing but the list.
 */
import { createHash } from 'node:crypto';
import type { QueuePlace } from '../rules/queue.ts';
import { Refusal } from '../uses/refusal.ts';

const CHECK_BYTES = 9;

/** The cursor of a place in a list, by the list's name. */
export function cursorOf(list: string, { key, id }: QueuePlace): string {
  const content = Buffer.from(JSON.stringify([list, key, id]));
  return Buffer.concat([checkOf(content), content]).toString('base64url');
}

/** The place that a cursor of this list tells; null if it was changed, or is of another list. */
export function placeOf(list: string, cursor: string, isKey: (key: unknown) => boolean): QueuePlace | null {
  const bytes = Buffer.from(cursor, 'base64url');
  const [check, content] = [bytes.subarray(0, CHECK_BYTES), bytes.subarray(CHECK_BYTES)];
  if (bytes.toString('base64url') !== cursor || !checkOf(content).equals(check)) return null;
  const [ofList, key, id] = readList(content.toString());
  const isPlace = ofList === list && Number.isSafeInteger(id) && isKey(key);
  return isPlace ? { id: id as number, key: key as number | null } : null;
}

/** The refusal of a cursor without a place. */
export function wrongCursor(): Refusal {
  return new Refusal(400, 'query: cursor must be the next of a page in the same order');
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
