/**
 * The payload of a conversation's button: application, step, question, choice, and what the button stands under. Pure.
 * It is the home of this format.
 */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import { CHOICES, type Choice, UNDER, type Under } from '../../../domain/conversation/input.ts';
import { type ConversationPlace, PLACES } from '../../../domain/conversation/places.ts';

export interface ButtonPayload {
  readonly applicationId: ApplicationId;
  readonly place: ConversationPlace;
  readonly nonce: number;
  readonly choice: Choice;
  readonly under: Under;
}

/** The payload as a text of at most 70 characters. */
export function formatPayload({ applicationId, place, nonce, choice, under }: ButtonPayload): string {
  const button = `c.${applicationId}.${place}.${nonce}.${choice}`;
  return under === 'question' ? button : `${button}.${under}`;
}

/** The inverse of `formatPayload`; null for any other text. */
export function parsePayload(text: string): ButtonPayload | null {
  const [, id, place, nonce, choice, below = 'question'] =
    /^c\.([1-9]\d{0,14})\.([a-z_]{1,20})\.(0|[1-9]\d{0,8})\.([a-z_]{1,20})(?:\.(short|help))?$/.exec(text) ??
    [];
  const found = PLACES.find((one) => one === place);
  const chosen = CHOICES.find((one) => one === choice);
  const under = UNDER.find((one) => one === below);
  if (found === undefined || chosen === undefined || under === undefined) return null;
  return { applicationId: toApplicationId(id!), place: found, nonce: Number(nonce), choice: chosen, under };
}
