/** Reads the values that the webhooks of WhatsApp's API share. The signer is trusted, but not the form. */
import { knownPhone, type Phone } from '../../../domain/phone/phone.ts';

/** Anything that JSON calls an object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Goes into an index of the store. */
export const CHANNEL_ID = /^[\x21-\x7e]{1,256}$/;
const PHONE_DIGITS = /^[1-9]\d{6,14}$/;
/** Unix seconds until the year 2286. */
const TIMESTAMP = /^\d{1,10}$/;

/** Whom the channel names. */
export interface Person {
  readonly from: Phone | null;
  readonly userId: string | null;
}

/** The contacts of a webhook's part, found at once: a part may have thousands of messages. */
export interface Contacts {
  readonly byPhone: ReadonlyMap<Phone, Person>;
  readonly byUserId: ReadonlyMap<string, Person>;
  /** The only contact; null where there are none or several. */
  readonly only: Person | null;
}

/** Reads the contacts. Of two with the same phone or id the first one counts. */
export function contactsOf(contacts: unknown): Contacts {
  const byPhone = new Map<Phone, Person>();
  const byUserId = new Map<string, Person>();
  const known = arrayOf(contacts)
    .filter(isObject)
    .map(({ wa_id, user_id }) => ({ from: phoneOf(wa_id), userId: textOf(user_id, CHANNEL_ID) }));
  for (const person of known.toReversed()) {
    if (person.from !== null) byPhone.set(person.from, person);
    if (person.userId !== null) byUserId.set(person.userId, person);
  }
  return { byPhone, byUserId, only: known.length === 1 ? (known[0] ?? null) : null };
}

/**
 * The person of an item. What the item leaves out comes from the contact with the same phone or id, or from the only
 * contact where the item names nobody.
 */
export function personOf(phone: unknown, userId: unknown, { byPhone, byUserId, only }: Contacts): Person {
  const own: Person = { from: phoneOf(phone), userId: textOf(userId, CHANNEL_ID) };
  const contact = isNobody(own)
    ? only
    : ((own.from && byPhone.get(own.from)) ?? (own.userId && byUserId.get(own.userId)));
  if (!contact) return own;
  return { from: own.from ?? contact.from, userId: own.userId ?? contact.userId };
}

/** Whether the channel named nobody. */
export function isNobody({ from, userId }: Person): boolean {
  return from === null && userId === null;
}

function phoneOf(value: unknown): Phone | null {
  const digits = textOf(value, PHONE_DIGITS);
  return digits === null ? null : knownPhone(`+${digits}`);
}

/** Reads Unix seconds, as text (as the API sends them) or as a number. */
export function timeOf(value: unknown): Date | null {
  const text = textOf(typeof value === 'number' ? String(value) : value, TIMESTAMP);
  return text === null ? null : new Date(Number(text) * 1_000);
}

/** The text; null for anything that does not have the form. */
export function textOf(value: unknown, pattern: RegExp): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}

/** The values of an array; none for anything else. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Whether the value is an object and no array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
