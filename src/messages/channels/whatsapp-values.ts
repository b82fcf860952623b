/** Reads the values that the webhooks of WhatsApp's API share. The signer is trusted, but not the form. */
import { isPhone, type Phone } from '../../applications/rules/phone.ts';

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

/**
 * The person of an item. What the item leaves out comes from the contact with the same phone or id, or from the only
 * contact where the item names nobody.
 */
export function personOf(phone: unknown, userId: unknown, contacts: unknown): Person {
  const known = arrayOf(contacts).filter(isObject);
  const own: Person = { from: phoneOf(phone), userId: textOf(userId, CHANNEL_ID) };
  const contact = isNobody(own)
    ? known.length === 1 && known[0]
    : known.find(
        ({ wa_id, user_id }) =>
          (own.from !== null && phoneOf(wa_id) === own.from) ||
          (own.userId !== null && user_id === own.userId),
      );
  if (!contact) return own;
  return {
    from: own.from ?? phoneOf(contact.wa_id),
    userId: own.userId ?? textOf(contact.user_id, CHANNEL_ID),
  };
}

/** Whether the channel named nobody. */
export function isNobody({ from, userId }: Person): boolean {
  return from === null && userId === null;
}

function phoneOf(value: unknown): Phone | null {
  const phone = `+${textOf(value, PHONE_DIGITS) ?? ''}`;
  return isPhone(phone) ? phone : null;
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
