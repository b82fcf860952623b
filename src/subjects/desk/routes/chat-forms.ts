/** The forms of the chat: what applicant and service said to each other. */
import { Type } from 'typebox';
import { HOLDERS, PLACES } from '../../../domain/conversation/places.ts';
import { MESSAGE_STATUSES, MESSAGE_TYPES } from '../../../domain/message/notify.ts';
import { form, oneOf, orNull, Time } from './form.ts';

/** A template that announces something to the applicant, and what became of it. */
const Message = form({
  id: Type.String(),
  type: oneOf(MESSAGE_TYPES),
  status: oneOf(MESSAGE_STATUSES),
  reason: orNull(Type.String()),
  created_at: Time,
  changed_at: Time,
});

/** Something that happened to the conversation. */
const Input = form({
  at: Time,
  source: Type.String(),
  turn: orNull(Type.Integer()),
  /** null: it cannot be read. */
  kind: orNull(Type.String()),
});

/** An answer of the service in the conversation. */
const Reply = form({
  turn: Type.Integer(),
  status: oneOf(MESSAGE_STATUSES),
  reason: orNull(Type.String()),
  created_at: Time,
  sent_at: orNull(Time),
  delivered_at: orNull(Time),
  read_at: orNull(Time),
});

/** What applicant and service said to each other, without its texts: `reveal` has them. */
export const Chat = form({
  messages: Type.Array(Message),
  /** A text of an operator can go to the applicant now: the conversation and the channel's window are open. */
  takes_text: Type.Boolean(),
  conversation: orNull(
    form({
      step: oneOf(PLACES),
      held_by: oneOf(HOLDERS),
      began_at: Time,
      ended_at: orNull(Time),
      /** The newest 500, oldest first. */
      inputs: Type.Array(Input),
      replies: Type.Array(Reply),
    }),
  ),
});

/** A line of the chat as `reveal` has it. */
export const ChatLine = form({
  at: Time,
  from: oneOf(['applicant', 'service']),
  /** The turn of the conversation that heard or said it; null: none has yet. */
  turn: orNull(Type.Integer()),
  /** What the applicant sent, such as `tap` or `file`; of the service `reply`. */
  kind: Type.String(),
  /** What was written; of a choice its title in the message that offered it. null: there is none. */
  text: orNull(Type.String()),
  /** The name of the file that went along; null: none did, or it has no name. */
  file: orNull(Type.String()),
  /** The titles of what the applicant could choose. */
  choices: Type.Array(Type.String()),
});

/** A message that announced something, rendered with the brand of the key as it is now. */
export const AnnouncedMessage = form({
  id: Type.String(),
  text: Type.String(),
  choices: Type.Array(Type.String()),
});
