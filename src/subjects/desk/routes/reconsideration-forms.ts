/** Schemas of the queue of reconsiderations and requests for data (D50; docs/reconsiderations.md). Pure. */
import { type Static, Type } from 'typebox';
import { CASE_KINDS, CASE_OUTCOMES } from '../../../domain/application/cases.ts';
import { MESSAGE_STATUSES } from '../../../domain/message/notify.ts';
import { form, oneOf, orNull, PartnerName, Time } from '../../../wire/operator/form.ts';

/** The most rows of a page. */
export const MOST_CASES = 100;

export const ReconsiderationQuery = form({
  /** Without it: the open ones. */
  state: Type.Optional(oneOf(['open', 'answered'])),
  kind: Type.Optional(oneOf(CASE_KINDS)),
  /** The `next` of the page before, which programs pass on as it is. */
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_CASES })),
});

/** A case has no personal data: what the person wrote comes with the reveal of the application. */
export const Reconsideration = form({
  id: Type.Integer(),
  /** `reconsideration`: a review of the refusal; `data`: what is stored about the person. */
  kind: oneOf(CASE_KINDS),
  application: Type.Integer(),
  partner: PartnerName,
  asked_at: Time,
  /** The end of its term. */
  due_at: Time,
  state: oneOf(['open', 'answered']),
  /** Why the application was refused, as the applicant is told, the most important reason first. */
  reasons: Type.Array(
    form({ code: Type.String(), words: form({ en: Type.String(), es: Type.String(), pt: Type.String() }) }),
  ),
  /** The chat would tell an answer now; otherwise it does when the person writes again. */
  chat_is_open: Type.Boolean(),
  /** null, as the next three: it is open. */
  outcome: orNull(oneOf(CASE_OUTCOMES)),
  answered_at: orNull(Time),
  answered_by: orNull(Type.String()),
  answer: orNull(Type.String()),
  /** What became of the reply that tells the answer; null: there is none yet. */
  told: orNull(oneOf(MESSAGE_STATUSES)),
});

export const Reconsiderations = form({
  reconsiderations: Type.Array(Reconsideration),
  /** The cursor of the next page; null: this is the last one. */
  next: orNull(Type.String()),
});

export const NewAnswer = form({
  outcome: oneOf(CASE_OUTCOMES),
  /** The applicant reads it. */
  text: Type.String({ minLength: 1, maxLength: 4_000 }),
});

export const AnsweredCase = form({
  reconsideration: Reconsideration,
  /** Why the chat cannot tell the answer now; null: it does. */
  unreached: orNull(oneOf(['window_closed', 'suppressed', 'wrong_person', 'unreadable'])),
});

export type ReconsiderationReply = Static<typeof Reconsideration>;
export type ReconsiderationsReply = Static<typeof Reconsiderations>;
export type AnsweredCaseReply = Static<typeof AnsweredCase>;
