/** The payload of a conversation's button: application, step, question and choice. Pure. */
import { type ApplicationId, toApplicationId } from '../../applications/rules/ids.ts';
import { CHOICES, type Choice } from './input.ts';
import { PLACES, type Place } from './places.ts';

export interface ButtonPayload {
  readonly applicationId: ApplicationId;
  readonly place: Place;
  readonly nonce: number;
  readonly choice: Choice;
}

/** At most 60 characters. */
export function formatPayload({ applicationId, place, nonce, choice }: ButtonPayload): string {
  return `c.${applicationId}.${place}.${nonce}.${choice}`;
}

/** The inverse of `formatPayload`; null for any other text. */
export function parsePayload(text: string): ButtonPayload | null {
  const [, id, place, nonce, choice] =
    /^c\.([1-9]\d{0,14})\.([a-z_]{1,20})\.(0|[1-9]\d{0,8})\.([a-z_]{1,20})$/.exec(text) ?? [];
  const found = PLACES.find((one) => one === place);
  const chosen = CHOICES.find((one) => one === choice);
  if (found === undefined || chosen === undefined) return null;
  return { applicationId: toApplicationId(id!), place: found, nonce: Number(nonce), choice: chosen };
}
