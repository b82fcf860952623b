/** Schemas of the inbox (docs/operators.md, "The inbox"). Pure. A row has nothing that was written. */
import { type Static, Type } from 'typebox';
import { LANGUAGES } from '../../../domain/conversation/flow.ts';
import { HAND_OVER_REASONS, HOLDERS, PLACES, STEPS } from '../../../domain/conversation/places.ts';
import { MESSAGE_STATUSES } from '../../../domain/message/notify.ts';
import { form, oneOf, orNull, PartnerName, Time } from '../../../wire/operator/form.ts';
import { UNSAYABLE } from '../../conversation/uses/may-say.ts';
import { INBOX_STATES, MOST_WAITING } from '../rules/inbox.ts';
import { Claim } from './queue-forms.ts';

/** The most rows of a page. */
export const MOST_CONVERSATIONS = 100;

export const InboxQuery = form({
  /** Without it: those that wait. */
  state: Type.Optional(oneOf(INBOX_STATES)),
  /** The `next` of the page before, which programs pass on as it is. */
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_CONVERSATIONS })),
});

const ROW = {
  application_id: Type.Integer(),
  partner: PartnerName,
  step: oneOf(PLACES),
  held_by: oneOf(HOLDERS),
  /** Why an operator holds it; null: the service does, or the state cannot be read. */
  why: orNull(oneOf(HAND_OVER_REASONS)),
  /** In which language the service speaks with the person; null: it has not spoken yet. */
  language: orNull(oneOf(LANGUAGES)),
  /** Since when the person waits for an operator; null: the person does not. */
  waits_since: orNull(Time),
  /** The person's last message; null: there is none. */
  heard_at: orNull(Time),
  /** When the channel's window closes or closed, after which it takes no text; null: the person has never written. */
  window_until: orNull(Time),
  /** null: it is open. */
  ended_at: orNull(Time),
  /** Why no text can go to the person now; null: one can. */
  unsayable: orNull(oneOf(UNSAYABLE)),
  claim: orNull(Claim),
};

export const InboxRow = form(ROW);

export const Inbox = form({
  conversations: Type.Array(InboxRow),
  /** The cursor of the next page; null: this is the last one. */
  next: orNull(Type.String()),
  /** How many wait for an operator. 1,000 stands for 1,000 and more. */
  waiting: Type.Integer({ maximum: MOST_WAITING }),
});

/** One conversation, whoever holds it. */
export const InboxConversation = form({
  ...ROW,
  /** The steps to which it can be given back, the present one last. */
  steps: Type.Array(oneOf(STEPS)),
  /** The reminder that went out, or waits, since the person's last message; null: there is none. */
  reminder: orNull(form({ status: oneOf(MESSAGE_STATUSES), changed_at: Time })),
});

/** The claimed conversation; null: nobody waits. */
export const ClaimedConversation = form({ application_id: orNull(Type.Integer()), claim: orNull(Claim) });

/** The applicant reads the text. */
export const NewReply = form({ text: Type.String({ minLength: 1, maxLength: 4_000 }) });

/** The largest request with a file of 10 MB: in base64 it is a third longer. */
export const MOST_FILE_REQUEST_BYTES = 13_400_000;

/** The applicant gets the file, under its name as far as that is safe to show, and reads the text. */
export const NewFile = form({
  filename: Type.String({ minLength: 1, maxLength: 255 }),
  /** Base64. */
  content: Type.String({ minLength: 1, maxLength: 13_333_336 }),
  text: Type.Optional(Type.String({ maxLength: 4_000 })),
});

/** Without a step: the one where it stands. */
export const GiveBack = form({ step: Type.Optional(oneOf(STEPS)) });

/** The reason is in the record of acts, and names nobody. */
export const Close = form({ reason: Type.String({ minLength: 1, maxLength: 1_000 }) });

export type InboxReply = Static<typeof Inbox>;
export type InboxRowReply = Static<typeof InboxRow>;
export type InboxConversationReply = Static<typeof InboxConversation>;
export type ClaimedConversationReply = Static<typeof ClaimedConversation>;
